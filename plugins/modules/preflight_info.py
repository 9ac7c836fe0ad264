#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_info
short_description: Gather what preflight wants to know about a machine
version_added: 0.1.0
description:
  - One quick call that reads files below C(/proc), C(/sys), C(/etc) and C(/var/lib). It starts no program and changes
    nothing.
  - A machine that cannot be reached, has no Python or does not let the user become root is not a failure of the task.
    It is told in RV(problem), so that one run reports about all machines. M(gshare.cluster.preflight_report) makes
    findings of it.
  - It is also the twin that only looks of M(gshare.cluster.swap_off), M(gshare.cluster.apt_lock) and
    M(gshare.cluster.time_sync).
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  ports:
    description: Ports for which to look who listens on them.
    type: list
    elements: int
    default: []
  paths:
    description: Folders for which to tell the free space. They need not exist.
    type: list
    elements: path
    default: [/var/lib]
  leave_out:
    description:
      - Whether a machine that does not answer is left out of the run, as unreachable, so that the others go on.
      - One that refuses the login is not.
    type: bool
    default: false
seealso:
  - module: gshare.cluster.preflight_report
"""

EXAMPLES = r"""
- name: Gather what there is to know before installing
  gshare.cluster.preflight_info:
    ports: [6443, 10250]
  become: true
  register: gathered
"""

RETURN = r"""
facts:
  description:
    - What was found, empty if there is a problem other than V(sudo). Only the most useful keys are described.
  returned: always
  type: dict
  contains:
    hostname:
      description: The name that the kernel knows.
      type: str
      sample: gpu-1
    swaps:
      description: Active swap areas with C(name), C(kind), C(size) and C(used) in KiB.
      type: list
      elements: dict
    swap_at_boot:
      description: Files and units that would turn swap on at the next boot.
      type: list
      elements: str
    apt_locks:
      description: Who holds a lock of apt or dpkg, with C(pid), C(process), C(seconds), C(paths).
      type: list
      elements: dict
    time_sync:
      description: The unit that keeps the clock; V(outside) in a container, empty if there is none.
      type: str
    ports:
      description: Sockets that wait on one of O(ports), with C(protocol), C(port), C(address), C(pid), C(process).
      type: list
      elements: dict
problem:
  description:
    - Why facts are missing, with C(text), and C(name) V(unreachable), V(worker_away), V(python_missing), V(sudo) or
      V(gather_failed).
    - Empty if all went well.
  returned: always
  type: dict
  sample: {}
clock:
  description:
    - The controller's clock just before (C(before)) and after (C(after)) the machine's own was read.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._gather import Gather
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={
            "ports": {"type": "list", "elements": "int", "default": []},
            "paths": {"type": "list", "elements": "path", "default": ["/var/lib"]},
            "leave_out": {"type": "bool", "default": False},  # the action's
        },
        supports_check_mode=True,
    )
    gather = Gather(Host(root), module.params["ports"], module.params["paths"])
    module.exit_json(changed=False, facts=gather.facts())


if __name__ == "__main__":
    main()
