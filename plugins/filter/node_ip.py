# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: node_ip
author: gshare.cluster contributors (@gshare)
version_added: 0.1.0
short_description: Turn the address of a machine into its IP address
description:
  - An IP address stays as it is, in its canonical spelling and without brackets.
  - A host name is resolved on the controller, so that kubelet and the API server get the address
    by which the inventory reaches the machine. IPv4 is preferred where a name has both.
options:
  _input:
    description: Address or host name.
    type: string
    required: true
"""

EXAMPLES = r"""
address: "{{ ansible_host | gshare.cluster.node_ip }}"
# '192.0.2.10' stays '192.0.2.10'
# '[2001:db8::0:1]' becomes '2001:db8::1'
# 'gpu-1.example.net' becomes '192.0.2.11'
"""

RETURN = r"""
_value:
  description: The IP address.
  type: string
"""

import ipaddress
import socket
import typing as t

from ansible.errors import AnsibleFilterError


def _resolve(name: str) -> str:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as exc:
        raise AnsibleFilterError(
            f"The address {name!r} cannot be resolved on the controller ({exc}): correct it in the inventory, "
            "or set gshare_node_ip for this host."
        ) from exc
    addresses = [str(entry[4][0]) for entry in sorted(found, key=lambda entry: entry[0] != socket.AF_INET)]
    address = addresses[0]
    if ipaddress.ip_address(address.split("%")[0]).is_loopback:
        raise AnsibleFilterError(
            f"The address {name!r} resolves to the loopback address {address}, which other machines cannot reach: "
            "set gshare_node_ip for this host."
        )
    return address


def node_ip(value: t.Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise AnsibleFilterError(f"node_ip needs an address or a host name, not {value!r}.")
    text = str(value).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return _resolve(text)


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"node_ip": node_ip}
