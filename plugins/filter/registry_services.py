# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_services
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: The registries that machines of the cluster serve
description:
  - Takes the addresses under which the nodes know their registry and its mirrors, and says which of them are on a
    machine of the cluster, so that the cluster has to serve them. A registry elsewhere is somebody else's.
  - All mistakes of the settings are told at once.
positional: machines
options:
  _input:
    description: >-
      A mapping with C(registry) and C(mirror), each V(HOST:PORT) or empty, C(pull_through), which has the port of
      the mirror of each further upstream, and C(node), the machine that serves them where their names do not tell.
    type: dict
    required: true
  machines:
    description: The address of each machine of the cluster, by its name in the inventory.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what is served
  ansible.builtin.debug:
    msg: >-
      {{ {'registry': '192.0.2.40:5000', 'mirror': '192.0.2.40:5001', 'pull_through': {'ghcr.io': 5002}}
      | gshare.cluster.registry_services({'192.0.2.40': '192.0.2.40'}) }}
"""

RETURN = r"""
_value:
  description: >-
    C(services) has one entry a registry, with name, port, upstream, server, and the address of its machine. C(nodes)
    has one entry a machine, with address and labels, as P(gshare.cluster.node_labels#module) takes them.
  type: dict
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import marks, services
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import RegistriesRefused


def registry_services(settings: t.Mapping[str, t.Any], machines: t.Mapping[str, str]) -> dict[str, t.Any]:
    try:
        found = services(
            settings.get("registry") or "",
            settings.get("mirror") or "",
            settings.get("pull_through") or {},
            machines,
            settings.get("node") or "",
        )
    except RegistriesRefused as exc:
        raise AnsibleFilterError(str(exc)) from exc
    return {"services": found, "nodes": marks(found, machines)}


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"registry_services": registry_services}
