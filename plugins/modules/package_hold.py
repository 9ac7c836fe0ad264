#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: package_hold
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Hold packages back from upgrades, all in one call
description:
  - Puts installed packages on hold, or takes the hold away, as C(apt-mark) does.
  - A package that is not installed is left out, so this works in check mode on a fresh machine.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  name:
    description: The packages.
    type: list
    elements: str
    required: true
  state:
    description: Whether they are to be on hold.
    type: str
    choices: [held, free]
    default: held
"""

EXAMPLES = r"""
- name: Hold the Kubernetes packages
  gshare.cluster.package_hold:
    name: [kubelet, kubeadm, kubectl]
"""

RETURN = r"""
packages:
  description: The packages whose hold changed, or would change.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule


def selections(module: AnsibleModule, names: list[str]) -> dict[str, str]:
    """The wish of dpkg for each package: install, hold, deinstall; nothing for one that it does not know."""
    argv = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Want} ${db:Status-Status}\\n", *names]
    _rc, out, _err = module.run_command(argv, environ_update={"LC_ALL": "C"})
    words = [line.split() for line in out.splitlines()]
    return {entry[0]: entry[1] for entry in words if len(entry) == 3 and entry[2] == "installed"}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "list", "elements": "str", "required": True},
            "state": {"type": "str", "choices": ["held", "free"], "default": "held"},
        },
        supports_check_mode=True,
    )
    hold = module.params["state"] == "held"
    present = selections(module, module.params["name"])
    wrong = sorted(name for name, want in present.items() if (want == "hold") != hold)
    if wrong and not module.check_mode:
        argv = ["apt-mark", "hold" if hold else "unhold", *wrong]
        rc, out, err = module.run_command(argv, environ_update={"LC_ALL": "C"})
        if rc:
            module.fail_json(msg=f"`{' '.join(argv)}` failed.\n{(err or out).strip()}")
    before = {name: want == "hold" for name, want in present.items()}
    module.exit_json(
        changed=bool(wrong),
        packages=wrong,
        diff={
            "before": "".join(f"{name} {'held' if before[name] else 'free'}\n" for name in sorted(before)),
            "after": "".join(f"{name} {'held' if hold else 'free'}\n" for name in sorted(before)),
        },
    )


if __name__ == "__main__":
    main()
