# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: hami_nodes
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: What HAMi's device plugin is told of single nodes
description:
  - The cards of a machine that is exclusive are handed out whole; more settings come from the user.
  - A machine that is not in the cluster yet is left out.
positional: nodes, settings
options:
  _input:
    description: The GPU workers, as P(gshare.cluster.gpu_workers#filter) tells.
    type: list
    elements: dict
    required: true
  nodes:
    description: The names of the nodes by the address of the machine.
    type: dict
    required: true
  settings:
    description: Settings by the name of the machine in the inventory.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Show what differs from the settings of the chart
  ansible.builtin.debug:
    msg: "{{ groups | gshare.cluster.gpu_workers(hostvars) | gshare.cluster.hami_nodes({'192.0.2.11': 'gpu1'}) }}"
"""

RETURN = r"""
_value:
  description: The list C(nodeconfig) of the device plugin.
  type: list
  elements: dict
"""

import typing as t


def hami_nodes(
    workers: t.Iterable[t.Mapping[str, t.Any]],
    nodes: t.Mapping[str, str],
    settings: t.Mapping[str, t.Mapping[str, t.Any]] | None = None,
) -> list[dict[str, t.Any]]:
    found = []
    for worker in workers:
        whole = {"devicesplitcount": 1} if worker["labels"].get("gshare.io/gpu-mode") == "exclusive" else {}
        own = {**whole, **(settings or {}).get(worker["host"], {})}
        if own and worker["address"] in nodes:
            found.append({"name": nodes[worker["address"]], **own})
    return found


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"hami_nodes": hami_nodes}
