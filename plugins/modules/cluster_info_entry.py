#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info_entry
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: List machines in a cluster-info file, or take them out
description:
  - Works on the controller. Only the characters of an entry change; all else, comments and order too, stays as it is.
  - The file is replaced as a whole, while its folder is locked, so that two runs lose no entry.
  - A file that would not say exactly what was meant is left as it is.
extends_documentation_fragment:
  - gshare.cluster._attributes
options:
  path:
    description: The file. An inventory of another kind is refused.
    type: path
    required: true
  machines:
    description:
      - With O(state=present) machines as C(USER@ADDRESS:MODE), where the mode is V(exclusive), V(fractional) or V(cpu).
      - With O(state=absent) their names in the inventory.
    type: list
    elements: str
    required: true
  state:
    description: Whether they are listed.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: List a machine that has joined
  gshare.cluster.cluster_info_entry:
    path: "{{ inventory_file }}"
    machines: ["ubuntu@10.0.0.20:fractional"]
"""

RETURN = r"""
# Nothing beyond what every module returns.
"""
