#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: archive_binary
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Install one program out of a downloaded archive
description:
  - Downloads a tar archive, compares its checksum and puts one program of it in its place.
  - What was installed is noted in C(/usr/local/lib/gshare), together with the checksum of the program, so that the next
    run downloads nothing, and notices a program that was replaced or cut off. A program that somebody else put there is
    kept as a backup.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  url:
    description: The address of the archive.
    type: str
    required: true
  checksum:
    description: Its SHA-256.
    type: str
    required: true
  member:
    description: The name of the program in the archive.
    type: str
    required: true
  dest:
    description: Where the program goes.
    type: path
    required: true
  timeout:
    description: Seconds without an answer after which a download ends.
    type: int
    default: 60
"""

EXAMPLES = r"""
- name: Install helm
  gshare.cluster.archive_binary:
    url: https://get.helm.sh/helm-v3.22.0-linux-amd64.tar.gz
    checksum: 1e4ab49e429626cf6c6958d914248b78c9730803c2751b87627e171dc800e7bb
    member: linux-amd64/helm
    dest: /usr/local/bin/helm
"""

RETURN = r"""
backup_file:
  description: Where the former program went.
  type: str
  returned: when somebody else had put it there
"""

import json
import os
import shutil
import tarfile
import tempfile
import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import fetch_file

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import file_hash

NOTES = "/usr/local/lib/gshare"


def note_path(dest: str) -> str:
    return os.path.join(NOTES, os.path.basename(dest) + ".json")


def read_note(dest: str) -> dict[str, t.Any]:
    try:
        with open(note_path(dest), encoding="utf-8") as handle:
            return dict(json.load(handle))
    except (OSError, ValueError):
        return {}


def put(module: AnsibleModule, source: str, target: str, mode: int) -> None:
    module.atomic_move(source, target)
    os.chmod(target, mode)


def extract(module: AnsibleModule, archive: str, folder: str) -> str:
    member, target = module.params["member"], os.path.join(folder, "program")
    try:
        with tarfile.open(archive) as tar:
            source = tar.extractfile(member)
            if source is None:
                raise KeyError(member)
            with source, open(target, "wb") as temporary:
                shutil.copyfileobj(source, temporary)
    except (KeyError, tarfile.TarError) as exc:
        module.fail_json(msg=f"The archive {module.params['url']} holds no file {member} ({exc}).")
    return target


def install(module: AnsibleModule, note: dict[str, t.Any], present: str) -> dict[str, t.Any]:
    params, result = module.params, {"changed": True}
    archive = fetch_file(module, params["url"], timeout=params["timeout"])
    found = file_hash(archive)
    if found != params["checksum"].lower().split(":")[-1]:
        module.fail_json(
            msg=f"{params['url']} has the SHA-256 {found}, not {params['checksum']}: the address gives another file "
            "than the one that was asked for, so nothing was installed."
        )
    folder = tempfile.mkdtemp(dir=module.tmpdir)
    program = extract(module, archive, folder)
    digest = file_hash(program)
    if present and present not in (note.get("program"), digest):
        result["backup_file"] = module.backup_local(params["dest"])
    os.makedirs(os.path.dirname(params["dest"]), mode=0o755, exist_ok=True)
    put(module, program, params["dest"], 0o755)
    os.makedirs(NOTES, mode=0o755, exist_ok=True)
    temporary = os.path.join(folder, "note")
    with open(temporary, "w", encoding="utf-8") as handle:  # a temporary file
        json.dump({"archive": found, "program": digest}, handle)
    put(module, temporary, note_path(params["dest"]), 0o644)
    return result


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "checksum": {"type": "str", "required": True},
            "member": {"type": "str", "required": True},
            "dest": {"type": "path", "required": True},
            "timeout": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    dest = module.params["dest"]
    present = file_hash(dest) if os.path.isfile(dest) else ""
    note = read_note(dest)
    wanted = module.params["checksum"].lower().split(":")[-1]
    same = bool(present) and note == {"archive": wanted, "program": present}
    if same or module.check_mode:
        module.exit_json(changed=not same)
    module.exit_json(**install(module, note, present))


if __name__ == "__main__":
    main()
