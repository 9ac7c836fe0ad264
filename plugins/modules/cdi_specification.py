#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cdi_specification
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Have NVIDIA's devices described anew after the driver changed
description:
  - NVIDIA's container runtime gives a container the devices and libraries that a CDI specification names, with the
    version of the driver in the names. After a change of the driver the old specification names files that are gone.
  - Compares the specification with the loaded driver, and starts C(nvidia-cdi-refresh.service) of the container toolkit
    where they differ; where that does not help, C(nvidia-ctk) writes it.
  - Without a loaded driver nothing is done.
extends_documentation_fragment:
  - gshare.cluster._attributes
options:
  path:
    description: The specification.
    type: path
    default: /var/run/cdi/nvidia.yaml
  timeout:
    description: Seconds that it may take.
    type: int
    default: 120
"""

EXAMPLES = r"""
- name: Describe the devices for the driver that is loaded
  gshare.cluster.cdi_specification:
"""

RETURN = r"""
driver:
  description: Version of the loaded driver; empty if none is.
  returned: success
  type: str
  sample: 580.95.05
reason:
  description: Why the specification is made anew; empty if it is not.
  returned: success
  type: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._cdi import described, why_stale
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer, ask
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_driver import loaded_version
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

SERVICE = "nvidia-cdi-refresh.service"


def told(answer: Answer, argv: t.Sequence[str]) -> str:
    """How a command ended, for people."""
    name = " ".join(argv)
    if not answer.present:
        return f"there is no {argv[0]}"
    if answer.timed_out:
        return f"`{name}` did not end in {answer.seconds:.0f} seconds"
    lines = answer.text.strip().splitlines()
    return f"`{name}` ended with {answer.status}" + (f": {lines[-1]}" if lines else "")


def refresh(module: AnsibleModule, host: Host, driver: str) -> None:
    path, problems = module.params["path"], []
    for argv in (
        ["systemctl", "start", SERVICE],
        ["nvidia-ctk", "cdi", "generate", f"--output={host.path(path)}"],
    ):
        answer = ask(argv, module.params["timeout"])
        if described(host.text(path)) == driver:
            return
        problems.append(told(answer, argv))
    module.fail_json(
        msg=f"The devices of driver {driver} are not described in {path}: {'; '.join(problems)}. "
        f"See journalctl -u {SERVICE} and nvidia-smi on this machine."
    )


def run(module: AnsibleModule, host: Host) -> dict[str, t.Any]:
    driver = loaded_version(host.text("/proc/driver/nvidia/version"))
    before = host.text(module.params["path"])
    reason = why_stale(driver, before)
    if reason and not module.check_mode:
        refresh(module, host, driver)
    diff = {"before": f"driver {described(before)}\n", "after": f"driver {driver if reason else described(before)}\n"}
    return {"changed": bool(reason), "driver": driver, "reason": reason, "diff": diff}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": "/var/run/cdi/nvidia.yaml"},
            "timeout": {"type": "int", "default": 120},
        },
        supports_check_mode=True,
    )
    module.exit_json(**run(module, Host()))


if __name__ == "__main__":
    main()
