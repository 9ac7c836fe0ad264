# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's checks of the machines against each other: identity, clocks, membership.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t
from urllib.parse import urlsplit

from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    Finding,
    Machine,
    Settings,
    finding,
)

# What boards and clones without a serial number of their own say.
_JUNK_UUIDS = ("03000200-0400-0500-0006-000700080009", "")


def check(machines: list[Machine], settings: Settings) -> list[Finding]:
    known = [machine for machine in machines if machine.facts]
    return [*_identity(known), *_names(known, settings), *_clocks(known, settings), *_membership(known)]


def _identity(machines: list[Machine]) -> t.Iterator[Finding]:
    for name, hosts in _shared(machines, lambda facts: facts["hostname"].lower()).items():
        yield finding("duplicate_host_name", hosts, f"They share the host name {name}.")
    for value, hosts in _shared(machines, lambda facts: facts["machine_id"]).items():
        yield finding("duplicate_machine_id", hosts, f"They share the machine-id {value}.")
    for value, hosts in _shared(machines, lambda facts: _uuid(facts["product_uuid"])).items():
        yield finding("duplicate_product_uuid", hosts, f"They share the product UUID {value}.")


def _names(machines: list[Machine], settings: Settings) -> t.Iterator[Finding]:
    """A name that a node with another address has: kubeadm would take that node over."""
    nodes = {node["name"]: node["addresses"] for node in settings.nodes}
    for machine in machines:
        name = machine.facts["hostname"].lower()
        if name in nodes and machine.address not in nodes[name]:
            text = f"Its host name is {name}, and the node of that name has the address {', '.join(nodes[name])}."
            yield finding("node_name_taken", machine.name, text)


def _shared(machines: list[Machine], key: t.Callable[[dict[str, t.Any]], str]) -> dict[str, list[str]]:
    """Values that more than one machine has; an empty one is no value."""
    found: dict[str, list[str]] = {}
    for machine in machines:
        value = key(machine.facts)
        if value:
            found.setdefault(value, []).append(machine.name)
    return {value: hosts for value, hosts in found.items() if len(hosts) > 1}


def _uuid(value: str) -> str:
    value = value.lower()
    return "" if value in _JUNK_UUIDS or len(set(value) - {"-"}) < 2 else value


def _clocks(machines: list[Machine], settings: Settings) -> t.Iterator[Finding]:
    """Each clock against the one that most agree with; the controller's counts as one of them.

    A clock is known only within the time that asking took, so only what is certain is reported.
    """
    offsets = {}
    for machine in machines:
        if machine.clock:
            before, after = machine.clock["before"], machine.clock["after"]
            offsets[machine.name] = (machine.facts["time"] - (before + after) / 2, (after - before) / 2)
    middle = _middle([0.0, *(offset for offset, _doubt in offsets.values())])
    for name, (offset, doubt) in offsets.items():
        difference = offset - middle
        if abs(difference) - doubt > settings.clock_limit:
            side = "behind" if difference < 0 else "ahead of"
            others = "the other machines" if len(offsets) > 1 else "the controller"
            yield finding("clock_skew", name, f"Its clock is {abs(difference):.0f} s {side} {others}.")


def _middle(values: list[float]) -> float:
    """The median; of two in the middle the one nearer to the controller's clock."""
    values = sorted(values)
    return min(values[(len(values) - 1) // 2], values[len(values) // 2], key=abs)


def _membership(machines: list[Machine]) -> t.Iterator[Finding]:
    """A kubelet that works for another control plane than the inventory's.

    What a former cluster at the same address left behind is no hindrance: that is cleared before a join.
    """
    master = next((machine for machine in machines if machine.control_plane), None)
    own_ca = master.facts["cluster_ca"] if master and master.facts["control_plane"] else ""
    own = {master.address, master.name, master.facts["hostname"]} if master else set()
    for machine in machines:
        server = machine.facts["kubelet_server"]
        # An admin.conf makes a control plane its own master; on a worker it is a sign of a cluster that once was there.
        if not server or machine.facts["root"] is False or (machine is master and machine.facts["control_plane"]):
            continue
        if own_ca and machine.facts["cluster_ca"] == own_ca:
            continue
        if (urlsplit(server).hostname or "") not in own and master:
            yield finding(
                "other_cluster",
                machine.name,
                f"Its kubelet works for {server}, not for the control plane {master.name}.",
                "Remove it from that cluster, then run `kubeadm reset` on it.",
            )
