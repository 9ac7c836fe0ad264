#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: swap_off
short_description: Turn swap off, now and after every reboot
version_added: 0.1.0
description:
  - Switches off every active swap area and sees to it that none comes back.
  - Swap lines in C(/etc/fstab) are commented out, every other byte of the file stays. Lines with C(noauto) are left
    alone.
  - Swap units that do not come from C(fstab) (written by hand, made for a partition that systemd found by its type, or
    for zram) are masked together with C(swap.target). A unit file in C(/etc/systemd/system) is kept beside the mask as
    C(NAME.swap.off).
  - The services C(zramswap), C(zram-config), C(dphys-swapfile) and C(swapspace) are masked where they are installed.
    The generator of zram-generator is masked too, its configuration stays.
  - systemd is not told to reload, masks need that only at the next boot.
  - In a container swap belongs to the machine outside. Then there is a warning instead of an error.
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes
options:
  backup:
    description: Keep a dated copy of C(/etc/fstab) before changing it.
    type: bool
    default: false
seealso:
  - module: gshare.cluster.preflight_info
    description: Its twin that only looks, RV(gshare.cluster.preflight_info#module:facts) has the swap areas.
"""

EXAMPLES = r"""
- name: Turn swap off for the kubelet
  gshare.cluster.swap_off:
    backup: true
"""

RETURN = r"""
switched_off:
  description: The areas that were switched off.
  returned: always
  type: list
  elements: str
  sample: [/dev/zram0, /swap.img]
left:
  description: The areas that a container cannot switch off.
  returned: always
  type: list
  elements: str
  sample: []
masked:
  description: The links to C(/dev/null) that were made.
  returned: always
  type: list
  elements: str
  sample: [/etc/systemd/system/dev-nvme0n1p3.swap]
backup_file:
  description: The copy of C(/etc/fstab).
  returned: changed and if O(backup=true)
  type: str
  sample: /etc/fstab.1234.2026-11-30@12:00:00~
"""

import os
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _swap
from ansible_collections.gshare.cluster.plugins.module_utils._files import replace
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host


class Change:
    """Carries a plan out on one machine."""

    def __init__(self, module: AnsibleModule, host: Host, plan: _swap.Plan, fstab: str) -> None:
        self.module = module
        self.host = host
        self.plan = plan
        self.fstab = fstab

    def diff(self) -> list[dict[str, str]]:
        parts = []
        if self.plan.fstab is not None:
            parts.append(_diff("/etc/fstab", self.fstab, self.plan.fstab))
        parts += [_diff(path + ".off", "absent\n", f"moved from {path}\n") for path in self.plan.aside]
        for path in self.plan.masks:
            parts.append(_diff(path, "in use\n" if path in self.plan.aside else "absent\n", "link to /dev/null\n"))
        if self.plan.swapoff:
            parts.append(_diff("/proc/swaps", "".join(name + "\n" for name in self.plan.swapoff), ""))
        return parts

    def persist(self) -> dict[str, str]:
        """What keeps swap off after a reboot."""
        result = {}
        if self.plan.fstab is not None:
            path = os.path.realpath(self.host.path("/etc/fstab"))
            if self.module.params["backup"]:
                result["backup_file"] = self.module.backup_local(path)
            replace(self.module, path, self.plan.fstab.encode("utf-8", "surrogateescape"))
        for path in self.plan.aside:
            os.replace(self.host.path(path), self.host.path(path + ".off"))
        for path in self.plan.masks:
            self._mask(self.host.path(path))
        return result

    def _mask(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = f"{path}.{os.getpid()}.new"
        os.symlink("/dev/null", temporary)
        os.replace(temporary, path)

    def switch_off(self) -> tuple[list[str], list[str]]:
        """Swap off now; returns what was switched off and what a container has to leave."""
        done: list[str] = []
        left: list[str] = []
        masked = [os.path.basename(path) for path in self.plan.masks]
        for service in [name for name in masked if name in _swap.SERVICES]:
            # A running one would make new swap; one that does not run is no reason to fail.
            self.module.run_command(["systemctl", "stop", service])
        for name in self.plan.swapoff:
            error = self.host.swapoff(self.module, name)
            if not error:
                done.append(name)
            elif self.host.container():
                left.append(name)
            else:
                self.module.fail_json(
                    msg=f"Swap on {name} could not be switched off: {error}. "
                    "If memory is short, stop what fills it, then run again."
                )
        return done, left


def _diff(path: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": path, "after_header": path, "before": before, "after": after}


def run(module: AnsibleModule, host: Host) -> dict[str, t.Any]:
    fstab = host.text("/etc/fstab")
    plan = host.swap_plan()
    change = Change(module, host, plan, fstab)
    result: dict[str, t.Any] = {"changed": bool(plan), "switched_off": plan.swapoff, "left": [], "masked": plan.masks}
    if host.container():
        # Only what the container can do counts as a change.
        result["changed"] = bool(plan._replace(swapoff=[]))
    if module._diff:
        result["diff"] = change.diff()
    if module.check_mode:
        return result
    result.update(change.persist())
    result["switched_off"], result["left"] = change.switch_off()
    if result["left"]:
        module.warn(
            f"Swap on {', '.join(result['left'])} belongs to the machine outside this container; switch it off there, "
            "or let the kubelet run with it (failSwapOn: false)."
        )
    result["changed"] = bool(plan._replace(swapoff=result["switched_off"]))
    return result


def main(root: str = "/") -> None:
    module = AnsibleModule(argument_spec={"backup": {"type": "bool", "default": False}}, supports_check_mode=True)
    module.exit_json(**run(module, Host(root)))


if __name__ == "__main__":
    main()
