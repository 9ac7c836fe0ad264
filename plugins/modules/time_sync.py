#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: time_sync
short_description: A clock that is kept right by one service
version_added: 0.1.0
description:
  - Looks for a service that keeps the clock (C(chrony), C(systemd-timesyncd), C(ntpsec), C(ntp), C(openntpd)) and sees
    to it that the one that is installed is enabled and running.
  - If none is installed, RV(packages) names what to install. The package starts its service by itself.
  - In a container the clock is that of the machine outside, nothing is done there.
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  package:
    description: Package to name in RV(packages) if there is no service.
    type: str
    default: systemd-timesyncd
seealso:
  - module: gshare.cluster.preflight_info
    description: Its twin that only looks, RV(gshare.cluster.preflight_info#module:facts) has C(time_sync).
"""

EXAMPLES = r"""
- name: Look at the clock's service
  gshare.cluster.time_sync:
  register: clock

- name: Install one if there is none
  ansible.builtin.apt:
    name: "{{ clock.packages }}"
"""

RETURN = r"""
service:
  description: The unit that keeps the clock; V(outside) in a container, empty if there is none.
  returned: always
  type: str
  sample: chrony.service
packages:
  description: What is missing.
  returned: always
  type: list
  elements: str
  sample: []
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._host import Host


def run(module: AnsibleModule, host: Host) -> dict[str, t.Any]:
    service, active = host.time_sync()
    if service and not active and service != "outside":
        if not module.check_mode:
            command = ["systemctl", "enable", "--now", service]
            rc, _out, err = module.run_command(command, environ_update={"LC_ALL": "C"})
            if rc:
                module.fail_json(msg=f"The clock's service {service} cannot be started: {err.strip()}")
        return {"changed": True, "service": service, "packages": []}
    return {"changed": False, "service": service, "packages": [] if service else [module.params["package"]]}


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={"package": {"type": "str", "default": "systemd-timesyncd"}}, supports_check_mode=True
    )
    module.exit_json(**run(module, Host(root)))


if __name__ == "__main__":
    main()
