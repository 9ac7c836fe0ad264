# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registries
author: gshare.cluster contributors (@gshare)
version_added: 0.1.0
short_description: Registries that containerd is to know, from the settings of the cluster
description:
  - Makes the list that the module M(gshare.cluster.containerd_hosts) takes out of the variables of the role
    C(gshare.cluster.registry).
  - All mistakes in them come in one message.
positional: address, mirror, tls, ca_file, pull_through, username, password
options:
  _input:
    description: Endpoints by the registry whose images they serve; each an address, or a dictionary with C(url).
    type: dict
    required: true
  address:
    description: The registry on the LAN, as C(HOST:PORT).
    type: string
    default: ""
  mirror:
    description: Its mirror of Docker Hub, as C(HOST:PORT).
    type: string
    default: ""
  tls:
    description: Whether both speak TLS.
    type: bool
    default: false
  ca_file:
    description: File on the controller with the certificate that proves theirs.
    type: path
    default: ""
  pull_through:
    description: The port of the mirror of each further upstream, on the machine of O(mirror) or O(address).
    type: dict
    default: {}
  username:
    description: The account at the registry on the LAN.
    type: string
    default: ""
  password:
    description: Its password.
    type: string
    default: ""
"""

EXAMPLES = r"""
- name: Know the registry on the LAN, and a mirror of quay.io
  gshare.cluster.containerd_hosts:
    registries: "{{ mirrors | gshare.cluster.registries('192.0.2.40:5000') }}"
  vars:
    mirrors:
      quay.io: ["https://mirror.example.net"]
"""

RETURN = r"""
_value:
  description: One entry a registry.
  type: list
  elements: dict
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.plugin_utils import _registry_settings
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import RegistriesRefused


def registries(
    mirrors: t.Any,
    address: t.Any = "",
    mirror: t.Any = "",
    tls: t.Any = False,
    ca_file: t.Any = "",
    pull_through: t.Any = None,
    username: t.Any = "",
    password: t.Any = "",
) -> list[dict[str, t.Any]]:
    try:
        return _registry_settings.registries(
            address=address,
            mirror=mirror,
            mirrors=mirrors,
            tls=tls,
            ca_file=ca_file,
            pull_through=pull_through,
            username=username,
            password=password,
        )
    except RegistriesRefused as exc:
        raise AnsibleFilterError(str(exc)) from exc


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"registries": registries}
