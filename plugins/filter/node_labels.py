# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: node_labels
author: gshare.cluster contributors (@gshare)
version_added: 0.1.0
short_description: Labels and taints that the machines of the inventory are to have
description:
  - Makes the list that the module P(gshare.cluster.node_labels#module) takes out of groups and host variables.
  - The control plane and the machines of C(cpu_node) get C(gshare.io/node-type=cpu), those of C(gpu_node) C(gpu=on),
    C(gshare.io/gpu=true) and C(gshare.io/gpu-mode), the storage node C(gshare.io/node-type=storage),
    C(gshare.io/role=storage) and the taint C(gshare.io/role=storage:NoSchedule).
  - The host variables C(gshare_node_labels) (a dictionary) and C(gshare_node_taints) (a list) add to them.
options:
  _input:
    description: C(groups).
    type: dict
    required: true
  hostvars:
    description: C(hostvars).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Label the nodes
  gshare.cluster.node_labels:
    nodes: "{{ groups | gshare.cluster.node_labels(hostvars) }}"
"""

RETURN = r"""
_value:
  description: One entry a machine, with address, labels and taints.
  type: list
  elements: dict
"""

import typing as t

from ansible_collections.gshare.cluster.plugins.filter.node_ip import node_ip

CPU = {"gshare.io/node-type": "cpu"}
STORAGE = {"gshare.io/node-type": "storage", "gshare.io/role": "storage"}
STORAGE_TAINT = {"key": "gshare.io/role", "value": "storage", "effect": "NoSchedule"}


def _labels(groups: t.Mapping[str, t.Any], host: str, variables: t.Mapping[str, t.Any]) -> dict[str, str]:
    labels: dict[str, str] = {}
    if host in groups.get("kube_control_plane", []) or host in groups.get("cpu_node", []):
        labels.update(CPU)
    if host in groups.get("gpu_node", []):
        exclusive = host in groups.get("gpu_exclusive", [])
        mode = variables.get("gshare_gpu_mode", "exclusive" if exclusive else "fractional")
        labels.update({"gpu": "on", "gshare.io/gpu": "true", "gshare.io/gpu-mode": mode})
    if host in groups.get("storage_node", []):
        labels.update(STORAGE)
    extra = variables.get("gshare_node_labels") or {}
    return {str(key): str(value) for key, value in {**labels, **extra}.items()}


def node_labels(groups: t.Mapping[str, t.Any], hostvars: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    result = []
    for host in groups.get("kube_cluster", []):
        variables = hostvars[host]
        taints = [dict(STORAGE_TAINT)] if host in groups.get("storage_node", []) else []
        address = variables.get("gshare_node_ip", variables.get("ansible_host", host))
        result.append(
            {
                "address": node_ip(address),
                "labels": _labels(groups, host, variables),
                "taints": taints + [dict(entry) for entry in variables.get("gshare_node_taints") or []],
            }
        )
    return result


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"node_labels": node_labels}
