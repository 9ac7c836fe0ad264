# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab's network: one bridge with one subnet, and a firewall table of its own that lets nodes out to the world."""

from __future__ import annotations

import contextlib
import json
import time
import typing as t
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from nodelab import process
from nodelab.errors import LabError

POOL = IPv4Network("10.77.0.0/16")
PREFIX = "gslab"
# A route this wide (a VPN that takes all of 10.0.0.0/8) does not keep the lab from a part of it: the narrower one wins.
_WIDE = 15


@dataclass(frozen=True)
class Network:
    """The names and addresses that follow from a lab's name and number."""

    lab: str
    number: int

    @property
    def subnet(self) -> IPv4Network:
        """The addresses of the lab."""
        return IPv4Network(f"10.77.{self.number}.0/24")

    @property
    def gateway(self) -> str:
        """The machine's own address on the bridge."""
        return self.address(1)

    @property
    def bridge(self) -> str:
        """The bridge."""
        return f"{PREFIX}{self.number}"

    @property
    def table(self) -> str:
        """The firewall table."""
        return f"gshare_lab_{self.lab.replace('-', '_')}"

    def address(self, host: int) -> str:
        """Return the address with this last number."""
        return str(self.subnet[host])

    def link(self, host: int) -> str:
        """Return the name of the machine's end of a node's cable."""
        return f"{self.bridge}-{host}"

    def mac(self, host: int, end: int = 0) -> str:
        """Return a stable hardware address; ``end`` is 0 for the node's end of the cable and 1 for the other."""
        return f"02:67:73:{end:02x}:{self.number:02x}:{host:02x}"


def free_number(taken: t.Iterable[IPv4Network], interfaces: t.Container[str] = ()) -> int:
    """Return the first number whose subnet overlaps nothing that is taken and whose bridge's name is free too."""
    narrow = [network for network in taken if network.prefixlen > _WIDE]
    for number, subnet in enumerate(POOL.subnets(new_prefix=24)):
        if f"{PREFIX}{number}" not in interfaces and not any(subnet.overlaps(network) for network in narrow):
            return number
    raise LabError(f"Every subnet of {POOL} is in use on this machine; take a lab down with `lab down`.")


def taken_networks(addresses: t.Sequence[dict[str, t.Any]], routes: t.Sequence[dict[str, t.Any]]) -> list[IPv4Network]:
    """Return the networks in the output of `ip -json address` and `ip -json route`."""
    found = [
        IPv4Network(f"{info['local']}/{info['prefixlen']}", strict=False)
        for link in addresses
        for info in link.get("addr_info", [])
        if info.get("family") == "inet"
    ]
    for route in routes:
        if route["dst"] != "default":
            found.append(IPv4Network(route["dst"], strict=False))
    return found


def nft_rules(network: Network) -> str:
    """Return the lab's firewall table.

    Nodes reach the world under the machine's address, and no other lab.
    """
    return f"""\
table ip {network.table} {{
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr {network.subnet} ip daddr != {network.subnet} masquerade
  }}
  chain forward {{
    type filter hook forward priority filter; policy accept;
    iifname "{network.bridge}" oifname "{PREFIX}*" oifname != "{network.bridge}" drop
  }}
}}
"""


def closed_hooks(rules: dict[str, t.Any]) -> list[str]:
    """Return which of the hooks input and forward some chain closes by its policy, from `nft --json list ruleset`."""
    chains = [item["chain"] for item in rules.get("nftables", []) if "chain" in item]
    closed = {
        chain["hook"] for chain in chains if chain.get("policy") == "drop" and chain.get("family") in ("ip", "inet")
    }
    return sorted(closed & {"input", "forward"})


def pick_number(others: t.Sequence[IPv4Network]) -> int:
    """Return the number of a subnet that neither this machine nor another lab uses."""
    machine = taken_networks(_ip("-4", "address"), _ip("-4", "route", "show", "table", "all"))
    return free_number([*others, *machine], links())


def uplink_mtu() -> int:
    """Return the MTU towards the world: with a larger one on the bridge big downloads would stall."""
    for route in _ip("-4", "route", "show", "default"):
        for link in _ip("link", "show", "dev", route["dev"]):
            return int(link["mtu"])
    return 1500


def up(network: Network) -> bool:
    """Make the bridge and the table if they are absent; return whether the bridge had to be made."""
    made = False
    if not exists(network.bridge):
        made = True
        mtu = str(uplink_mtu())
        mac = network.mac(1, end=1)
        process.run(
            ["ip", "link", "add", network.bridge, "mtu", mtu, "address", mac, "type", "bridge", "forward_delay", "0"]
        )
        process.run(["ip", "address", "add", f"{network.gateway}/24", "dev", network.bridge])
    process.run(["ip", "link", "set", network.bridge, "up"])
    if network.table not in tables():
        process.run(["nft", "--file", "-"], stdin=nft_rules(network).encode())
    return made


def down(network: Network) -> None:
    """Remove the bridge, what still hangs on it, and the table."""
    for name in links():
        if name.startswith(f"{network.bridge}-"):
            remove_link(name)
    remove_link(network.bridge)
    if network.table in tables():
        process.run(["nft", "delete", "table", "ip", network.table])


def remove_link(name: str, patience: float = 5.0) -> None:
    """Remove an interface; one whose other end dies with its node may go by itself meanwhile."""
    end = time.monotonic() + patience
    while exists(name):
        with contextlib.suppress(LabError):
            process.run(["ip", "link", "delete", name])
            return
        if time.monotonic() > end:
            raise LabError(f"The interface {name} cannot be removed.")
        time.sleep(0.1)


def exists(link: str) -> bool:
    """Say whether an interface is there."""
    return Path("/sys/class/net", link).exists()


def links() -> list[str]:
    """Return the names of all interfaces."""
    return sorted(item.name for item in Path("/sys/class/net").iterdir())


def tables() -> list[str]:
    """Return the names of all firewall tables for IPv4."""
    lines = process.run(["nft", "list", "tables", "ip"]).splitlines()
    return [line.split()[2] for line in lines if line.startswith("table ip ")]


def host_obstacles() -> list[str]:
    """Return which hooks the machine's own firewall closes, which no rule of the lab can open again."""
    return closed_hooks(json.loads(process.run(["nft", "--json", "list", "ruleset"]) or "{}"))


def _ip(*arguments: str) -> list[dict[str, t.Any]]:
    answer = json.loads(process.run(["ip", "-json", *arguments]) or "[]")
    return [item for item in answer if item]
