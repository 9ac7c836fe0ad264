# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's checks of the network of each machine: addresses, routes, ports, firewall, proxy, names.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._networks import within
from ansible_collections.gshare.cluster.plugins.plugin_utils import _no_proxy
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    Finding,
    Machine,
    Network,
    Settings,
    finding,
    listed,
)

# Interfaces that a cluster made itself.
_OWN_INTERFACE = re.compile(r"cni\d|flannel|kube-|veth|nodelocaldns|lo$")
_OWN_PROCESS = re.compile(r"kubelet$|kube-|etcd$|flanneld$")


def check(machine: Machine, machines: list[Machine], settings: Settings) -> list[Finding]:
    if not machine.facts:
        return []
    return [
        *_address(machine),
        *_routes(machine, settings),
        *_ranges(machine, settings),
        *_ports(machine, settings),
        *_firewall(machine, settings),
        *_proxy(machine, machines, settings),
        *_hosts_file(machine, machines),
    ]


def _address(machine: Machine) -> t.Iterator[Finding]:
    own = [entry for entry in machine.facts["addresses"] if not _OWN_INTERFACE.match(entry["interface"])]
    if machine.address not in [_short(entry["address"]) for entry in own]:
        there = listed([f"{_short(entry['address'])} on {entry['interface']}" for entry in own]) or "none"
        yield finding(
            "address_missing", machine.name, f"{machine.address} is on none of its interfaces; its addresses: {there}."
        )


def _short(address: str) -> str:
    return ipaddress.ip_address(address).compressed


def _foreign_routes(machine: Machine) -> t.Iterator[tuple[Network, dict[str, str]]]:
    for route in machine.facts["routes"]:
        if not _OWN_INTERFACE.match(route["interface"]):
            yield ipaddress.ip_network(route["to"], strict=False), route


def _routes(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    networks = [network for network, _route in _foreign_routes(machine)]
    for services in settings.services:
        if not any(within(services, network) for network in networks):
            yield finding("no_default_route", machine.name, f"It has neither a default route nor one for {services}.")


def _ranges(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    ranges = [("pod", network) for network in settings.pods] + [("service", network) for network in settings.services]
    for label, wanted in ranges:
        for entry in machine.facts["addresses"]:
            address = ipaddress.ip_address(entry["address"])
            if address in wanted and not _OWN_INTERFACE.match(entry["interface"]):
                yield finding(
                    "range_in_use",
                    machine.name,
                    f"The {label} range {wanted} holds its address {address.compressed} on {entry['interface']}.",
                )
        # A running cluster may route its ranges over any interface (flannel's host-gw).
        for network, route in [] if machine.clustered else _foreign_routes(machine):
            if network.version != wanted.version or not network.prefixlen or not network.overlaps(wanted):
                continue
            via = f" via {_short(route['via'])}" if route["via"] else ""
            name = "range_in_use" if network.prefixlen >= wanted.prefixlen else "range_shadows_route"
            yield finding(
                name,
                machine.name,
                f"The {label} range {wanted} overlaps its route to {network}{via} on {route['interface']}.",
            )


def _ports(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    if not machine.facts["root"]:
        return
    wanted = settings.ports_worker
    if machine.control_plane:
        wanted = [f"{settings.api_port}/tcp", *settings.ports_control_plane]
    taken: dict[str, str] = {}
    for entry in machine.facts["ports"]:
        port = f"{entry['port']}/{entry['protocol']}"
        # A kernel tunnel has no process: flannel's own looks like that too.
        kernel = entry["protocol"] == "udp" and not entry["pid"]
        if port in wanted and not kernel and not (machine.clustered and _OWN_PROCESS.match(entry["process"])):
            taken[port] = (
                f"{entry['process']} (pid {entry['pid']})" if entry["pid"] else "a process that cannot be seen"
            )
    for port, owner in taken.items():
        yield finding("port_in_use", machine.name, f"{owner} listens on {port}.")


def _firewall(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    needed = [f"{settings.api_port}/tcp"] if machine.control_plane else []
    needed += ["10250/tcp", "8472/udp", "30000:32767/tcp"]
    for name in machine.facts["firewalls"]:
        closed = (
            needed if name != "ufw" else [port for port in needed if not _allowed(port, machine.facts["ufw_allowed"])]
        )
        if closed:
            yield finding(
                "firewall",
                machine.name,
                f"{name} is on; the cluster needs {listed([port.replace(':', '-') for port in closed])}.",
            )


def _allowed(port: str, rules: list[str]) -> bool:
    wanted, _sep, protocol = port.partition("/")
    low, high = _span(wanted)
    for rule in rules:
        span, _sep, rule_protocol = rule.partition("/")
        if rule == "any":
            return True
        if rule_protocol not in ("", protocol):
            continue
        first, last = _span(span)
        if first <= low and high <= last:
            return True
    return False


def _span(ports: str) -> tuple[int, int]:
    first, _sep, last = ports.partition(":")
    return int(first), int(last or first)


def _proxy(machine: Machine, machines: list[Machine], settings: Settings) -> t.Iterator[Finding]:
    proxy = machine.facts["proxy"]
    schemes = sorted(name.lower() for name in proxy if name != "NO_PROXY")
    if not schemes:
        return
    present = proxy.get("NO_PROXY", "")
    wanted = [one.address for one in sorted(machines, key=lambda one: not one.control_plane)]
    wanted += [str(network) for network in settings.pods + settings.services] + [".svc", ".cluster.local"]
    missing = _no_proxy.missing(present, wanted)
    if missing:
        yield finding(
            "no_proxy",
            machine.name,
            f"/etc/environment sets {listed(schemes)}, and no_proxy lacks {listed(missing, 8)}.",
            f"Complete it there: no_proxy={_no_proxy.complete(present, wanted)}",
        )


def _hosts_file(machine: Machine, machines: list[Machine]) -> t.Iterator[Finding]:
    """Names of the cluster's machines that are in /etc/hosts alone go away with the next boot."""
    if not machine.facts["cloud_init_hosts"]:
        return
    addresses = {one.address for one in machines}
    names = {name for one in machines for name in (one.name, one.facts.get("hostname", "")) if name}
    lost = [
        name
        for entry in machine.facts["hosts_entries"]
        for name in entry["names"]
        if entry["address"] in addresses or name in names
    ]
    if lost:
        yield finding(
            "hosts_file_rewritten",
            machine.name,
            f"cloud-init rewrites /etc/hosts at boot; {listed(lost)} would be lost.",
        )
