# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: missing_machines
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Workers of the inventory that a cluster lacks
description:
  - Machines and nodes are compared by address.
  - A node without any label of this collection is missing too. It came back by itself after it was deleted, or the
    run that joined it was killed.
  - So is a machine that is named and whose node is not Ready, since it may have been installed anew.
positional: hostvars, nodes, only
options:
  _input:
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
  only:
    description: Names or addresses of machines, a list or with commas between them; all workers if empty.
    type: raw
    default: []
"""

EXAMPLES = r"""
- name: Show which machines are to join
  ansible.builtin.debug:
    msg: "{{ groups | gshare.cluster.missing_machines(hostvars, cluster.nodes) }}"
"""

RETURN = r"""
_value:
  description: Their names in the inventory, in its order.
  type: list
  elements: str
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils import _machine_names as machines


def missing_machines(
    groups: t.Mapping[str, t.Any],
    hostvars: t.Mapping[str, t.Any],
    nodes: t.Iterable[dict[str, t.Any]],
    only: t.Any = (),
) -> list[str]:
    wanted = machines.names(only)
    everyone = [str(name) for name in groups.get("kube_cluster", [])]
    workers = [str(name) for name in groups.get("kube_worker", [])]
    unknown = [name for name in wanted if not any(name in machines.called(host, hostvars[host]) for host in everyone)]
    if unknown:
        remedy = "add it to cluster-info, or name it with -e machine=USER@ADDRESS:MODE"
        raise AnsibleFilterError(" ".join(machines.unknown(name, everyone, remedy) for name in unknown))
    known = {address: node for node in nodes for address in node["addresses"]}
    found = []
    for host in workers:
        node = known.get(machines.address(host, hostvars[host]))
        named = bool(set(wanted) & machines.called(host, hostvars[host]))
        serves = node and node["labelled"] and (node["ready"] or not named)
        if (named or not wanted) and not serves:
            found.append(host)
    return found


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"missing_machines": missing_machines}
