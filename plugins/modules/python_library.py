#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: python_library
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Put Python packages of the controller into a folder of a machine
description:
  - Takes packages and all that they need from the environment in which Ansible runs, and puts them into a folder of
    the machine, to be used with E(PYTHONPATH). The machine needs no package index for it.
  - Only Python and data files are taken. Compiled parts are left out; packages that are only quicker with them work,
    others do not.
  - The content of the folder decides whether there is anything to do, so a copy that was cut off or altered is
    replaced. Only a list of public CAs (C(cacert.pem)) may be altered.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  name:
    description: The packages.
    type: list
    elements: str
    required: true
  dest:
    description: The folder. It belongs to this module alone.
    type: path
    required: true
  tree:
    description: Set by the action plugin.
    type: str
  src:
    description: Set by the action plugin.
    type: path
  minimum_python:
    description: Set by the action plugin.
    type: str
  needs_newest:
    description: Set by the action plugin.
    type: str
"""

EXAMPLES = r"""
- name: Put the Kubernetes client on the machine
  gshare.cluster.python_library:
    name: [kubernetes]
    dest: /usr/local/lib/gshare/python
"""

RETURN = r"""
versions:
  description: The packages with their versions.
  type: dict
  returned: success
"""

import os
import shutil
import sys
import tarfile
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import folder_files, tree_hash


def check_python(module: AnsibleModule) -> None:
    wanted = tuple(int(part) for part in module.params["minimum_python"].split("."))
    if sys.version_info[:2] < wanted:
        module.fail_json(
            msg=f"The Python of this machine is {sys.version_info[0]}.{sys.version_info[1]}, and "
            f"{module.params['needs_newest']} of the controller needs {module.params['minimum_python']}: install an "
            f"older {module.params['needs_newest']} beside ansible-core on the controller."
        )


def unpack(module: AnsibleModule, target: str) -> None:
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target, mode=0o755)
    with tarfile.open(module.params["src"]) as tar:
        for member in tar.getmembers():
            if not member.isfile() or member.name.startswith("/") or ".." in member.name.split("/"):
                module.fail_json(msg=f"The packed library holds {member.name}, which has no place in it.")
        # Older releases of Python know no filters; the members have just been looked at.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        tar.extractall(target)
    os.chmod(target, 0o755)
    if tree_hash(folder_files(target)) != module.params["tree"]:
        module.fail_json(msg="The packed library arrived damaged: run again.")


def check_import(module: AnsibleModule, folder: str) -> None:
    """The first package must load here, before the folder takes the place of the old one."""
    name = module.params["name"][0].replace("-", "_")
    rc, _unused, err = module.run_command(
        [sys.executable, "-c", f"import {name}"], environ_update={"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    )
    if rc:
        last = err.strip().splitlines()[-1] if err.strip() else "no output"
        module.fail_json(msg=f"The Python package {name} does not load on this machine: {last}.", stderr=err)


def replace(dest: str, new: str) -> None:
    old = dest + ".old"
    shutil.rmtree(old, ignore_errors=True)
    if os.path.isdir(dest):
        os.rename(dest, old)
    os.rename(new, dest)
    shutil.rmtree(old, ignore_errors=True)


def argument_spec() -> dict[str, t.Any]:
    return {
        "name": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "path", "required": True},
        "tree": {"type": "str"},
        "src": {"type": "path"},
        "minimum_python": {"type": "str"},
        "needs_newest": {"type": "str"},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=argument_spec(), supports_check_mode=True)
    dest = module.params["dest"]
    same = os.path.isdir(dest) and tree_hash(folder_files(dest)) == module.params["tree"]
    if same or module.check_mode or not module.params["src"]:
        module.exit_json(changed=not same)
    check_python(module)
    new = dest + ".new"
    unpack(module, new)
    check_import(module, new)
    replace(dest, new)
    module.exit_json(changed=True)


if __name__ == "__main__":
    main()
