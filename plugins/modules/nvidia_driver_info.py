#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nvidia_driver_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Tell which packages to install for a machine's NVIDIA driver
description:
  - On Ubuntu it takes the newest driver of the server branch that C(ubuntu-drivers list --gpgpu) offers, with signed
    modules for the running kernel and the package that brings those of later ones, or with DKMS where there are none.
    The tool nvidia-smi is part of it.
  - On Debian it takes the part for computing from NVIDIA's own repository, with the open or closed modules that the
    cards need.
  - Of a driver that is there and only lacks a part, the version stays.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  wish:
    description: V(auto), the name of a package, or V(skip), with which there is no choice.
    type: str
    default: auto
  version:
    description: A version like V(580.95.05), or the beginning of one like V(580), instead of the newest.
    type: str
    default: ""
  gpu:
    description: What M(gshare.cluster.gpu_info) returned.
    type: dict
    required: true
seealso:
  - module: gshare.cluster.gpu_info
"""

EXAMPLES = r"""
- name: Look at cards and driver
  gshare.cluster.gpu_info:
  register: gpu

- name: Choose a driver
  gshare.cluster.nvidia_driver_info:
    gpu: "{{ gpu }}"
  register: choice
"""

RETURN = r"""
distribution:
  description: The system's id, as os-release has it.
  returned: always
  type: str
  sample: debian
name:
  description: The choice in a few words.
  returned: always
  type: str
  sample: nvidia-driver-580-server-open (signed modules)
packages:
  description: What to ask apt for.
  returned: always
  type: list
  elements: str
pin:
  description: The version, or its beginning, that apt has to be held to; empty for the newest.
  returned: always
  type: str
signed:
  description: Whether the modules are signed with a key that Secure Boot knows.
  returned: always
  type: bool
problem:
  description: Why there is no choice, and what to do; empty if there is one.
  returned: always
  type: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_choice as choice
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_package import parse_os_release, parse_policy
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_verdict import SECURE_BOOT
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_ENGLISH = {"LC_ALL": "C"}


class Offered:
    """The packages that apt could install, asked one by one and only if need be."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module

    def __contains__(self, name: object) -> bool:
        command = ["apt-cache", "policy", str(name)]
        _rc, out, _err = self.module.run_command(command, environ_update=_ENGLISH)
        return bool(parse_policy(out).get(str(name), (None, None))[1])


def listing(module: AnsibleModule, distribution: str) -> str:
    """What Ubuntu's own tool offers; it may be absent in check mode on a fresh machine."""
    program = module.get_bin_path("ubuntu-drivers") if distribution == "ubuntu" else None
    if not program:
        return ""
    out: str = module.run_command([program, "list", "--gpgpu"], environ_update=_ENGLISH)[1]
    return out


def run(module: AnsibleModule, root: str) -> dict[str, t.Any]:
    gpu: dict[str, t.Any] = module.params["gpu"]
    host = Host(root)
    distribution = parse_os_release(host.text("/etc/os-release"))[0]
    if module.params["wish"] == "skip":
        return {"distribution": distribution, **choice.skipped(gpu["problems"])._asdict()}
    if distribution == "ubuntu" and not module.get_bin_path("ubuntu-drivers"):
        return {"distribution": distribution, **choice.UNKNOWN._asdict()}
    running = gpu["kernel"]["running"]
    there = [one["version"] for one in gpu["modules"] if one["kernel"] == running]
    machine = choice.Machine(
        distribution,
        running,
        gpu["needs"],
        bool(gpu["nvswitches"]),
        [one["name"] for one in gpu["packages"]],
        running in gpu["headers"],
        any("_Packages" in name for name in host.names("/var/lib/apt/lists")),
        (there or [gpu["loaded"]["nvidia"]])[0] or gpu["library"],
    )
    found = choice.choose(
        machine, module.params["wish"], module.params["version"], listing(module, distribution), Offered(module)
    )
    if not found.problem and gpu["secure_boot"] == "enabled" and not found.signed:
        text = f"Secure Boot is on, and the modules of {found.name} would not be signed. {SECURE_BOOT}"
        found = found._replace(problem=text)
    return {"distribution": distribution, **found._asdict()}


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={
            "wish": {"type": "str", "default": "auto"},
            "version": {"type": "str", "default": ""},
            "gpu": {"type": "dict", "required": True},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **run(module, root))


if __name__ == "__main__":
    main()
