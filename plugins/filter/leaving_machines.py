# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: leaving_machines
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Machines that are to leave a cluster
description:
  - Finds what is named among the nodes and in the inventory, each by name or address. One of the two is enough.
  - A node that the inventory does not list gets a host of its address.
  - The control plane is refused.
positional: groups, hostvars, nodes
options:
  _input:
    description: Names or addresses of machines or nodes, a list or with commas between them.
    type: raw
    required: true
  groups:
    description: The variable C(groups).
    type: dict
    required: true
  hostvars:
    description: The variable C(hostvars).
    type: dict
    required: true
  nodes:
    description: The nodes, as P(gshare.cluster.kubeadm_info#module) returns them.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Show which machines are to leave
  ansible.builtin.debug:
    msg: "{{ '10.0.0.20,gpu2' | gshare.cluster.leaving_machines(groups, hostvars, cluster.nodes) }}"
"""

RETURN = r"""
_value:
  description: In the order in which they were named.
  type: list
  elements: dict
  contains:
    host:
      description: Name in the inventory, or the address.
      type: str
    node:
      description: Name of the node; empty if the cluster has none.
      type: str
    ready:
      description: Whether the node is Ready.
      type: bool
    listed:
      description: Whether the inventory lists the machine.
      type: bool
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils import _machine_names as machines

Json = dict[str, t.Any]


def leaving_machines(
    wanted: t.Any, groups: t.Mapping[str, t.Any], hostvars: t.Mapping[str, t.Any], nodes: t.Sequence[Json]
) -> list[Json]:
    names = machines.names(wanted)
    if not names:
        raise AnsibleFilterError("Say which machine is to leave: add -e node=NAME. Nothing was touched.")
    everyone = [str(host) for host in groups.get("kube_cluster", [])]
    found, wrong = [], []
    for name in names:
        host = next((one for one in everyone if name in machines.called(one, hostvars[one])), "")
        node = _node(nodes, name, machines.address(host, hostvars[host]) if host else "")
        if node and not host:
            own = [one for one in everyone if machines.address(one, hostvars[one]) in node["addresses"]]
            host = own[0] if own else ""
        if not host and not node:
            known = [*everyone, *(one["name"] for one in nodes)]
            wrong.append(machines.unknown(name, known, "neither the inventory nor the cluster has it"))
        elif host in groups.get("kube_control_plane", []):
            wrong.append(f"{name} is the control plane, and the cluster ends with it: see the playbook reset.")
        else:
            found.append(_leaving(host, node))
    if wrong:
        hint = "A machine whose node is gone already is named as the inventory has it."
        raise AnsibleFilterError(" ".join([*wrong, hint, "Nothing was touched."]))
    return list({one["host"]: one for one in found}.values())


def _node(nodes: t.Sequence[Json], name: str, address: str) -> Json:
    for node in nodes:
        if name == node["name"] or name in node["addresses"] or address in node["addresses"]:
            return node
    return {}


def _leaving(host: str, node: Json) -> Json:
    return {
        "host": host or node["addresses"][0],
        "node": node.get("name", ""),
        "ready": node.get("ready", False),
        "listed": bool(host),
    }


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"leaving_machines": leaving_machines}
