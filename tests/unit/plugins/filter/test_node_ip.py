# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import socket
import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.node_ip import FilterModule

node_ip = FilterModule().filters()["node_ip"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.10", "192.0.2.10"),
        (" 192.0.2.10 ", "192.0.2.10"),
        ("[2001:db8:0::1]", "2001:db8::1"),
        ("2001:DB8::1", "2001:db8::1"),
    ],
)
def test_an_address_stays(text: str, expected: str) -> None:
    assert node_ip(text) == expected


def answers(*addresses: str) -> t.Callable[..., t.Any]:
    def getaddrinfo(name: str, *args: t.Any, **more: t.Any) -> list[t.Any]:
        assert name == "gpu-1.example.net"
        families = [socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses]
        return [(family, socket.SOCK_STREAM, 6, "", (address, 0)) for family, address in zip(families, addresses)]

    return getaddrinfo


def test_a_name_is_resolved_and_ipv4_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answers("2001:db8::1", "192.0.2.11", "192.0.2.12"))
    assert node_ip("gpu-1.example.net") == "192.0.2.11"


def test_a_name_with_ipv6_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answers("2001:db8::1"))
    assert node_ip("gpu-1.example.net") == "2001:db8::1"


def test_a_loopback_address_is_of_no_use_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answers("127.0.1.1"))
    with pytest.raises(AnsibleFilterError, match="gshare_node_ip"):
        node_ip("gpu-1.example.net")


def test_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*args: t.Any, **more: t.Any) -> t.NoReturn:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(AnsibleFilterError, match="correct it in the inventory"):
        node_ip("gpu-1.example.net")


@pytest.mark.parametrize("value", ["", "  ", None, 5])
def test_nothing_is_no_address(value: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match="needs an address"):
        node_ip(value)
