# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""The directory in which containerd looks for registries: a folder each, with files and nothing deeper."""

from __future__ import annotations

import hashlib
import os
import stat
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._files import replace

FILE = "hosts.toml"


def read(directory: str) -> dict[str, t.Any]:
    """All folders, and of each file its digest and mode; a text of hosts.toml alone, since others may be keys."""
    found: dict[str, t.Any] = {"folders": [], "files": {}}
    for folder in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        home = os.path.join(directory, folder)
        if not os.path.isdir(home):
            continue
        found["folders"].append(folder)
        for name in sorted(os.listdir(home)):
            path = os.path.join(home, name)
            if os.path.isfile(path):
                found["files"][f"{folder}/{name}"] = _entry(path)
    return found


def _entry(path: str) -> dict[str, t.Any]:
    with open(path, "rb") as stream:
        content = stream.read()
    mode = f"{stat.S_IMODE(os.stat(path).st_mode):04o}"
    text = content.decode("utf-8", "replace") if os.path.basename(path) == FILE else None
    return {"digest": hashlib.sha256(content).hexdigest(), "mode": mode, "text": text}


def apply(
    module: AnsibleModule, directory: str, files: list[dict[str, str]], remove: list[str], keep: list[str]
) -> list[str]:
    """Write, then remove; the answer are the copies of what was kept."""
    copies = []
    for path in keep:
        copies.append(module.backup_local(os.path.join(directory, path)))
    for file in files:
        replace(module, os.path.join(directory, file["path"]), file["text"].encode("utf-8"), int(file["mode"], 8))
    for path in remove:
        os.unlink(os.path.join(directory, path))
    for folder in sorted({os.path.dirname(path) for path in remove}):
        home = os.path.join(directory, folder)
        if not os.listdir(home) and not os.path.islink(home):
            os.rmdir(home)
    return copies
