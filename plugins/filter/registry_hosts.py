# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_hosts
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: The registries that containerd is to be told about
description:
  - Makes the list that the module P(gshare.cluster.containerd_hosts#module) takes out of the cluster's settings.
  - Files of certificates and keys are read on the controller.
  - All mistakes of the settings are told at once.
options:
  _input:
    description: >-
      A mapping with C(registry) and C(mirror), each V(HOST:PORT) or empty, C(tls), C(ca_file), C(username) and
      C(password) for both, C(pull_through), which has the port of the mirror of each further upstream on the same
      machine, and C(mirrors), which has a list of endpoints for each upstream.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what containerd would be told
  ansible.builtin.debug:
    msg: >-
      {{ {'registry': '192.0.2.40:5000', 'mirrors': {'ghcr.io': ['https://mirror.example.net/v2/ghcr']}}
      | gshare.cluster.registry_hosts }}
"""

RETURN = r"""
_value:
  description: One entry a registry.
  type: list
  elements: dict
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_settings import Wrong, hosts


def registry_hosts(settings: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    try:
        return hosts(settings)
    except Wrong as exc:
        raise AnsibleFilterError(str(exc)) from exc


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"registry_hosts": registry_hosts}
