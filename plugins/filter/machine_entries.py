# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_entries
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Read machines that are named on the command line
description:
  - Gives what the inventory plugin makes of the same entries in a cluster-info file.
options:
  _input:
    description: C(USER@ADDRESS:MODE), where MODE is V(exclusive), V(fractional) or V(cpu); more with commas between.
    type: raw
    required: true
"""

EXAMPLES = r"""
- name: Show how a machine is taken
  ansible.builtin.debug:
    msg: "{{ 'ubuntu@10.0.0.20:fractional' | gshare.cluster.machine_entries }}"
"""

RETURN = r"""
_value:
  description: The machines, each with its C(entry), C(name), C(group) and C(vars).
  type: list
  elements: dict
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_edit import EditError, entry
from ansible_collections.gshare.cluster.plugins.plugin_utils._machine_names import names


def machine_entries(value: t.Any) -> list[dict[str, t.Any]]:
    found, wrong = [], []
    for text in names(value):
        try:
            node = entry(text)
        except EditError as exc:
            wrong.append(str(exc))
            continue
        found.append({"entry": text, "name": node.address, "group": node.group, "vars": node.variables()})
    if wrong:
        raise AnsibleFilterError(" ".join(wrong))
    return found


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"machine_entries": machine_entries}
