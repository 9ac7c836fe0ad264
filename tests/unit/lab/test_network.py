# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from nodelab.errors import LabError
from nodelab.network import POOL, Network, closed_hooks, free_number, nft_rules, taken_networks


def networks(*texts: str) -> list[IPv4Network]:
    return [IPv4Network(text) for text in texts]


def test_the_first_free_subnet_is_taken() -> None:
    assert free_number([]) == 0
    assert free_number(networks("10.77.0.0/24", "10.77.1.0/24", "192.0.2.0/24")) == 2


def test_a_part_or_a_wider_network_takes_a_subnet_too() -> None:
    assert free_number(networks("10.77.0.128/25", "10.77.1.7/32", "10.77.2.0/23")) == 4


def test_a_very_wide_route_does_not_take_all() -> None:
    assert free_number(networks("10.0.0.0/8", "0.0.0.0/0")) == 0


def test_a_bridge_of_that_name_takes_a_number_too() -> None:
    assert free_number([], ["lo", "gslab0"]) == 1


def test_no_free_subnet_is_an_error() -> None:
    with pytest.raises(LabError, match="lab down"):
        free_number([POOL])


def test_networks_of_the_machine() -> None:
    addresses = [
        {"ifname": "lo", "addr_info": [{"family": "inet", "local": "127.0.0.1", "prefixlen": 8}]},
        {"ifname": "eth0", "addr_info": [{"family": "inet", "local": "10.77.0.9", "prefixlen": 24}]},
        {"ifname": "dummy0"},
    ]
    routes = [{"dst": "default", "gateway": "10.77.0.1"}, {"dst": "10.77.5.0/24"}, {"dst": "10.77.6.1"}]
    assert taken_networks(addresses, routes) == networks("127.0.0.0/8", "10.77.0.0/24", "10.77.5.0/24", "10.77.6.1/32")


def test_all_names_follow_from_lab_and_number() -> None:
    net = Network("faults-2", 254)
    assert (net.gateway, net.address(10), net.bridge) == ("10.77.254.1", "10.77.254.10", "gslab254")
    assert net.table == "gshare_lab_faults_2"
    assert net.mac(10) == "02:67:73:00:fe:0a"
    assert net.mac(10) != net.mac(10, end=1)


def test_interface_names_fit() -> None:
    assert len(Network("x", 254).link(254)) <= 15


def test_the_table_masks_only_what_leaves_the_subnet() -> None:
    text = nft_rules(Network("dev", 3))
    assert "table ip gshare_lab_dev {" in text
    assert "ip saddr 10.77.3.0/24 ip daddr != 10.77.3.0/24 masquerade" in text
    assert 'iifname "gslab3" oifname "gslab*" oifname != "gslab3" drop' in text


def test_a_firewall_that_drops_by_default_is_noticed() -> None:
    def chain(**fields: str) -> dict[str, object]:
        return {"chain": {"family": "ip", "table": "filter", **fields}}

    rules = {
        "nftables": [
            {"metainfo": {"version": "1.0.6"}},
            chain(name="INPUT", hook="input", policy="accept"),
            chain(name="FORWARD", hook="forward", policy="drop"),
            chain(name="own", hook="output", policy="drop"),
            {"chain": {"family": "ip6", "name": "FORWARD", "hook": "input", "policy": "drop"}},
        ]
    }
    assert closed_hooks(rules) == ["forward"]
    assert closed_hooks({}) == []
