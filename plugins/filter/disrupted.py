# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: disrupted
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Whether a machine may be disturbed although a GPU is in use there
description:
  - Tells whether C(gshare_disrupt) names a machine.
positional: host
options:
  _input:
    description: A list, or names with commas or blanks between them; V(all) for every machine.
    type: raw
    required: true
  host:
    description: The machine, by its name in the inventory.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show whether this machine may be disturbed
  ansible.builtin.debug:
    msg: "{{ gshare_disrupt | default([]) | gshare.cluster.disrupted(inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: Whether it is named.
  type: bool
"""

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils import _disrupt


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"disrupted": lambda wanted, host: _disrupt.disrupted(host, wanted)}
