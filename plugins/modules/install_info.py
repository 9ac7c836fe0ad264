#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: install_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Tell what an installation lacks
description:
  - Compares packages, their holds, files and services with what is wanted, all in one round trip, without opening apt's
    cache. Where nothing is lacking, the tasks that install can be left out.
  - Where a dpkg was cut off, its end counts as lacking, since apt would refuse to work.
  - A name that dpkg does not know, as that of a virtual package, counts as lacking; apt is to decide.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  packages:
    description: Names, or V(name=version) as apt takes it, the version with V(*) for what may differ.
    type: list
    elements: str
    default: []
  held:
    description: Whether the packages have to be on hold.
    type: bool
    default: false
  files:
    description: Files that have to be there, with something in them.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: The file.
        type: path
        required: true
      content:
        description: The text that it must have; without it any will do.
        type: str
      checksum:
        description: Its checksum, as M(ansible.builtin.get_url) takes it; empty for any.
        type: str
        default: ""
  services:
    description: Units that have to start at boot.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: See what is lacking
  gshare.cluster.install_info:
    packages: [kubelet=1.36.5-*, kubeadm=1.36.5-*]
    held: true
    services: [kubelet]
  register: installation

- name: Install it
  ansible.builtin.include_tasks: packages.yml
  when: not installation.complete
"""

RETURN = r"""
complete:
  description: Whether nothing is lacking.
  returned: always
  type: bool
lacking:
  description: What is lacking, a few words each.
  returned: always
  type: list
  elements: str
  sample: [package kubelet=1.36.5-*, hold of kubeadm]
packages:
  description: Those of O(packages) that are not there as wished, so that apt has to be asked for them.
  returned: always
  type: list
  elements: str
  sample: [kubelet=1.36.5-*]
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _dpkg as dpkg
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.module_utils._install import lacking_file, lacking_packages, met

_ENGLISH = {"LC_ALL": "C"}


def lacking_services(module: AnsibleModule, names: list[str]) -> list[str]:
    # One call each: a unit that does not exist leaves no line.
    answers = [
        module.run_command(["systemctl", "is-enabled", name], environ_update=_ENGLISH)[1].strip() for name in names
    ]
    return [f"start of {name} at boot" for name, answer in zip(names, answers) if answer not in ("enabled", "static")]


def run(module: AnsibleModule) -> dict[str, t.Any]:
    params: dict[str, t.Any] = module.params
    wanted, host = params["packages"], Host()
    names = [wish.partition("=")[0] for wish in wanted]
    installed = dpkg.parse(module.run_command(dpkg.query(names), environ_update=_ENGLISH)[1]) if names else {}
    lacking = lacking_packages(wanted, installed, held=params["held"])
    for file in params["files"]:
        lacking.append(lacking_file(file["path"], host.data(file["path"]), file["content"], file["checksum"]))
    if dpkg.interrupted(host.names(dpkg.JOURNAL)):
        lacking.append("end of what dpkg was cut off in")
    lacking = [entry for entry in lacking if entry] + lacking_services(module, params["services"])
    packages = [wish for wish in wanted if not met(wish, installed)]
    return {"complete": not lacking, "lacking": lacking, "packages": packages}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "default": []},
            "held": {"type": "bool", "default": False},
            "files": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "path": {"type": "path", "required": True},
                    "content": {"type": "str"},
                    "checksum": {"type": "str", "default": ""},
                },
            },
            "services": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **run(module))


if __name__ == "__main__":
    main()
