#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_load
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Load NVIDIA's kernel module and start the driver's services
description:
  - Loads the modules C(nvidia) and C(nvidia_uvm) where C(nvidia) is not loaded. Starts those of O(services) that are
    installed and do not run.
  - If the module cannot be loaded, it fails with the lines of the kernel's log that say why.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  services:
    description: Units to start, those that are not installed are left out.
    type: list
    elements: str
    default: [nvidia-persistenced]
"""

EXAMPLES = r"""
- name: Start the driver
  gshare.cluster.gpu_load:
    services: [nvidia-persistenced, nvidia-fabricmanager]
"""

RETURN = r"""
done:
  description: What was done, or would be.
  returned: success
  type: list
  elements: str
  sample: [modprobe nvidia, start of nvidia-persistenced]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_command as command
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_driver import explaining
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.module_utils._systemd import comes_up

_LIMIT = 120
# Not the kernel alone: what loads modules says why one was refused.
_LOG = ("journalctl", "-b", "--no-pager", "-o", "cat", "-n", "2000")


def load(module: AnsibleModule) -> None:
    answer = command.ask(("modprobe", "nvidia"), _LIMIT)
    if answer.status != 0:
        said = "did not end" if answer.timed_out else " ".join(answer.text.split())
        log = explaining(command.ask(_LOG, _LIMIT).text.split("\n"))
        rest = "".join(f"\n  {line}" for line in log)
        module.fail_json(msg=f"NVIDIA's kernel module cannot be loaded: modprobe nvidia: {said}{rest}")
    # Programs that compute need it; where it is absent, nvidia-smi works all the same.
    command.ask(("modprobe", "nvidia_uvm"), _LIMIT)


def start(module: AnsibleModule, name: str) -> None:
    answer = command.ask(("systemctl", "start", name), _LIMIT)
    if answer.status != 0:
        log = command.ask(("journalctl", "-u", name, "-b", "--no-pager", "-o", "cat", "-n", "4"), _LIMIT).text
        module.fail_json(msg=f"{name} does not start: {' '.join(answer.text.split())}\n{log.strip()}")


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={"services": {"type": "list", "elements": "str", "default": ["nvidia-persistenced"]}},
        supports_check_mode=True,
    )
    host, done = Host(root), []
    if not host.exists("/proc/driver/nvidia/version"):
        done.append("modprobe nvidia")
        if not module.check_mode:
            load(module)
    installed = [name for name in module.params["services"] if host.unit_file(f"{name}.service")]
    for name in installed:
        if not comes_up(command.ask(("systemctl", "is-active", name), _LIMIT).text):
            done.append(f"start of {name}")
            if not module.check_mode:
                start(module, name)
    module.exit_json(changed=bool(done), done=done)


if __name__ == "__main__":
    main()
