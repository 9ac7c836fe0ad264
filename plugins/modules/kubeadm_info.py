#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Read what kubeadm has made of a machine
description:
  - Reads packages, files and the API server of the machine and says what they amount to.
  - Works on a machine where nothing is installed yet.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  address:
    description: Address of the API server, needed only where its static pod manifest does not name it.
    type: str
    default: ''
  port:
    description: Port of the API server.
    type: int
    default: 6443
  nodes:
    description: Whether to ask the API, with this machine's administrator's kubeconfig, which nodes it lists.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Read the state of the machine
  gshare.cluster.kubeadm_info:
  register: result
"""

RETURN = r"""
node_name:
  description: The name under which kubelet registers this machine.
  type: str
  returned: always
packages:
  description: Versions of the Kubernetes packages that are installed.
  type: dict
  returned: always
kubelet_version:
  description: Version of the kubelet package without its revision, empty if there is none.
  type: str
  returned: always
kubelet_active:
  description: Whether kubelet runs, or is about to.
  type: bool
  returned: always
in_cluster:
  description: Whether the machine is part of a cluster, so that its version must not change by the way.
  type: bool
  returned: always
control_plane:
  description: The control plane on this machine, with the traces that were found.
  type: dict
  returned: always
  contains:
    state:
      description: One of V(absent), V(healthy), V(unfinished), V(leftover), V(broken) and V(worker).
      type: str
      returned: always
    reason:
      description: Why it was judged so.
      type: str
      returned: always
nodes:
  description: The nodes that the API lists, as M(gshare.cluster.kubeadm_init) returns them.
  type: list
  elements: dict
  returned: with O(nodes=true)
worker:
  description: The traces of a join.
  type: dict
  returned: always
  contains:
    state:
      description: One of V(absent), V(joined) and V(half).
      type: str
      returned: always
    reason:
      description: Why it was judged so.
      type: str
      returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine


def gather(commands: machine.Commands, address: str, port: int) -> dict[str, t.Any]:
    control_plane = machine.control_plane_facts(address, port)
    state, reason = kubeadm.control_plane_state(control_plane)
    worker = machine.worker_facts(commands)
    worker_state, worker_reason = kubeadm.worker_state(worker)
    packages = machine.packages(commands)
    return {
        "node_name": worker["node_name"],
        "packages": packages,
        "kubelet_version": kubeadm.bare_version(packages.get("kubelet", "")),
        "kubelet_active": worker["kubelet_active"],
        "in_cluster": state in ("healthy", "unfinished", "broken") or worker_state == "joined",
        "control_plane": {"state": state, "reason": reason, **control_plane},
        "worker": {"state": worker_state, "reason": worker_reason, **worker},
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "address": {"type": "str", "default": ""},
            "port": {"type": "int", "default": 6443},
            "nodes": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    commands = machine.Commands(module)
    result = gather(commands, module.params["address"], module.params["port"])
    if module.params["nodes"]:
        # Without a cluster, as in check mode, there are none.
        there = bool(machine.read("etc/kubernetes/admin.conf"))
        result["nodes"] = kubeadm.node_summaries(machine.api_json(commands, "get", "nodes")) if there else []
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
