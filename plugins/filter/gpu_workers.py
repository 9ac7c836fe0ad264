# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_workers
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: The GPU workers of the inventory, for modules that ask the API about them
description:
  - A list with one entry a machine of the group C(gpu_node), with its name, address and labels, and whether it may be
    disturbed although a GPU is in use there.
positional: hostvars
options:
  _input:
    description: The groups of the inventory.
    type: dict
    required: true
  hostvars:
    description: Variables of the hosts.
    type: dict
    required: true
  disrupt:
    description: Machines that may be disturbed; a list, or names with commas or blanks between them.
    type: raw
    default: []
"""

EXAMPLES = r"""
- name: Show the GPU workers
  ansible.builtin.debug:
    msg: "{{ groups | gshare.cluster.gpu_workers(hostvars) }}"
"""

RETURN = r"""
_value:
  description: One entry a machine.
  type: list
  elements: dict
"""

import typing as t

from ansible_collections.gshare.cluster.plugins.filter.node_labels import node_labels
from ansible_collections.gshare.cluster.plugins.plugin_utils._disrupt import disrupted


def gpu_workers(
    groups: t.Mapping[str, t.Any], hostvars: t.Mapping[str, t.Any], disrupt: t.Any = ()
) -> list[dict[str, t.Any]]:
    names = list(groups.get("gpu_node", []))
    found = node_labels({**groups, "kube_cluster": names}, hostvars)
    return [
        {
            "host": str(name),
            "address": entry["address"],
            "labels": entry["labels"],
            "disrupt": disrupted(str(name), disrupt),
        }
        for name, entry in zip(names, found)
    ]


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"gpu_workers": gpu_workers}
