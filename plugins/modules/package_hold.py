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
  unattended_file:
    description:
      - A file below C(/etc/apt/apt.conf.d) that keeps unattended-upgrades from packages as well, also from those that
        come later and when somebody takes the hold away for an upgrade by hand.
    type: path
  unattended_patterns:
    description: Regular expressions for the beginnings of these packages' names.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Hold the Kubernetes packages
  gshare.cluster.package_hold:
    name: [kubelet, kubeadm, kubectl]

- name: Hold a driver, and keep unattended-upgrades from all of its packages
  gshare.cluster.package_hold:
    name: [nvidia-driver-cuda, libnvidia-ml1]
    unattended_file: /etc/apt/apt.conf.d/52gshare-nvidia
    unattended_patterns: [nvidia-, libnvidia-]
"""

RETURN = r"""
packages:
  description: The packages whose hold changed, or would change.
  type: list
  elements: str
  returned: success
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _dpkg as dpkg
from ansible_collections.gshare.cluster.plugins.module_utils._files import replace
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_ENGLISH = {"LC_ALL": "C"}


def unattended(patterns: list[str]) -> str:
    """The setting of unattended-upgrades."""
    lines = "".join(f'    "{pattern}";\n' for pattern in patterns)
    return f"// Ansible managed\nUnattended-Upgrade::Package-Blacklist {{\n{lines}}};\n"


def keep_out(module: AnsibleModule, host: Host) -> list[dict[str, t.Any]]:
    """Write the file where it is not right; what changes."""
    path, text = module.params["unattended_file"], unattended(module.params["unattended_patterns"])
    before = host.text(path) if path else text
    if before == text:
        return []
    if not module.check_mode:
        replace(module, str(host.path(path)), text.encode(), 0o644)
    return [{"before_header": path, "after_header": path, "before": before, "after": text}]


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "list", "elements": "str", "required": True},
            "state": {"type": "str", "choices": ["held", "free"], "default": "held"},
            "unattended_file": {"type": "path"},
            "unattended_patterns": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    hold = module.params["state"] == "held"
    names = module.params["name"]
    # Asked for no name, dpkg-query would list every package that there is.
    listing = module.run_command(dpkg.query(names), environ_update=_ENGLISH)[1] if names else ""
    present = dpkg.parse(listing)
    wrong = sorted(name for name, package in present.items() if package.held != hold)
    if wrong and not module.check_mode:
        argv = ["apt-mark", "hold" if hold else "unhold", *wrong]
        rc, out, err = module.run_command(argv, environ_update=_ENGLISH)
        if rc:
            module.fail_json(msg=f"`{' '.join(argv)}` failed.\n{(err or out).strip()}")
    files = keep_out(module, Host(root))
    selections = {
        "before": "".join(f"{name} {'held' if present[name].held else 'free'}\n" for name in sorted(present)),
        "after": "".join(f"{name} {'held' if hold else 'free'}\n" for name in sorted(present)),
    }
    module.exit_json(
        changed=bool(wrong or files),
        packages=wrong,
        diff=[selections, *files] if files else selections,
    )


if __name__ == "__main__":
    main()
