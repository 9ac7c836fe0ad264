#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Tell what is wrong with a machine's NVIDIA cards and driver, and what would repair it
description:
  - Looks at the PCI bus, the kernel's modules, the installed packages, Secure Boot and C(nvidia-smi), in one call that
    changes nothing, and comes to one verdict, RV(repair).
  - A driver that works is left alone, whatever its version.
  - C(nvidia-smi) loads the driver's module where it can be loaded; that is the driver's own way.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  smi_timeout:
    description: Seconds for one call of C(nvidia-smi). With many cards and no persistence daemon it takes long.
    type: int
    default: 120
  driver:
    description:
      - The driver that is wished for, V(auto), V(skip) or the name of a package. It only changes RV(remedy).
    type: str
    default: auto
"""

EXAMPLES = r"""
- name: Look at cards and driver
  gshare.cluster.gpu_info:
  become: true
  register: gpu

- name: Say what is wrong
  ansible.builtin.debug:
    msg: "{{ gpu.problems }} {{ gpu.remedy }}"
  when: gpu.repair != 'nothing'
"""

RETURN = r"""
cards:
  description: NVIDIA's graphics and computing functions on the PCI bus; C(bound) is the driver that has it, or empty.
  returned: always
  type: list
  elements: dict
  sample: [{"address": "0000:07:00.0", "device": "20b0", "class": "0302", "bound": "nvidia"}]
nvswitches:
  description: PCI addresses of NVSwitches.
  returned: always
  type: list
  elements: str
needs:
  description: The kernel modules that suit all cards, V(open), V(closed) or V(either); empty if none do.
  returned: always
  type: str
kernel:
  description: The kernel that is C(running), and the C(newest) one, which the next boot takes.
  returned: always
  type: dict
  sample: {"running": "6.8.0-88-generic", "newest": "6.8.0-90-generic"}
modules:
  description:
    - NVIDIA's module on disk for these kernels, with C(kernel), C(version), C(open) and C(signer), which is empty for
      one that is not signed.
  returned: always
  type: list
  elements: dict
headers:
  description: Kernels whose headers are installed.
  returned: always
  type: list
  elements: str
loaded:
  description: The version of the loaded C(nvidia) or an empty text; whether C(nouveau) and C(nova_core) are loaded.
  returned: always
  type: dict
  sample: {"nvidia": "580.95.05", "nouveau": false, "nova_core": false}
library:
  description: The version of the user-space library, empty if there is none.
  returned: always
  type: str
  sample: 580.95.05
packages:
  description: Installed packages of a driver, with C(name), C(version) and C(held).
  returned: always
  type: list
  elements: dict
smi:
  description:
    - What C(nvidia-smi) answered, with C(present), C(status) (null without an end), C(timed_out), C(seconds), C(kind),
      C(gpus) and C(message).
    - C(kind) is V(works), V(absent), V(hangs), V(no_devices), V(not_loaded), V(no_library), V(off_bus), V(mismatch) or
      V(broken).
    - Each of C(gpus) has C(index), C(uuid), C(name), C(memory_mib), C(driver) and C(mig).
  returned: always
  type: dict
secure_boot:
  description: V(enabled), V(disabled) or V(unsupported).
  returned: always
  type: str
fabric_manager:
  description: Whether it is C(needed), its C(version) and whether it is C(active).
  returned: always
  type: dict
persistence:
  description: State of the unit C(nvidia-persistenced), empty if it is not installed.
  returned: always
  type: str
  sample: active
system:
  description: System and processor as NVIDIA names them in its repositories.
  returned: always
  type: str
  sample: debian12/x86_64
blacklist:
  description:
    - Whether the C(file) that keeps nouveau and NovaCore from loading is there and C(complete), which means in the
      initramfs too, and since when (C(time)).
  returned: always
  type: dict
processes:
  description: Processes that compute on a card, with C(pid), C(name), C(gpu) and C(memory_mib).
  returned: always
  type: list
  elements: dict
pods:
  description: Running pods that were given a GPU, with C(namespace), C(name) and C(uid).
  returned: always
  type: list
  elements: dict
in_use:
  description: Processes and pods as sentences; empty if a reboot would disturb nobody.
  returned: always
  type: list
  elements: str
  sample: [pod team/train-1 uses a GPU]
repair:
  description:
    - What would repair it. V(nothing), V(install) for packages or the blacklist, V(reboot), V(load) for loading the
      module or starting a service, or V(person) for what needs one.
  returned: always
  type: str
problems:
  description: What is wrong, a sentence each. With RV(repair=nothing) these are hints.
  returned: always
  type: list
  elements: str
remedy:
  description: How to put it right, empty if nothing is wrong.
  returned: always
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_gather import Gather
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

# What the verdict was made from and nobody else needs.
_INNER = ("module_time", "booted", "smi_timeout", "driver")


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={
            "smi_timeout": {"type": "int", "default": 120},
            "driver": {"type": "str", "default": "auto"},
        },
        supports_check_mode=True,
    )
    facts = Gather(Host(root), module.params["smi_timeout"]).facts(module.params["driver"])
    module.exit_json(changed=False, **{key: value for key, value in facts.items() if key not in _INNER})


if __name__ == "__main__":
    main()
