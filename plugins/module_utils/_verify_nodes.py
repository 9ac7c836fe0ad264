# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the nodes of a cluster: API objects and expectation in, verdicts out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._networks import within
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    condition,
    is_ready,
    labels,
    listed,
    metadata_annotations,
    node_address,
    node_addresses,
    node_name,
    seconds,
    shorten,
    silence,
    span,
    verdict,
)

_FLANNEL = "flannel.alpha.coreos.com/"
_PRESSURE = {
    "MemoryPressure": "Find out there what takes the memory, ps aux --sort=-rss; new pods go elsewhere meanwhile.",
    "DiskPressure": "Make room there: no pod is placed on it until more than 10 % of /var/lib/kubelet and 15 % of "
    "/var/lib/containerd are free, see df -h.",
    "PIDPressure": "Find out there what starts so many processes; new pods go elsewhere meanwhile.",
    "NetworkUnavailable": "See kubectl -n kube-flannel get pods -o wide.",
}


def same_address(one: str, other: str) -> bool:
    """Whether two texts are the same IP address; spelling does not matter for IPv6."""
    try:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    except ValueError:
        return one == other


def matched(snapshot: Snapshot, expectation: Expectation) -> list[tuple[Json, Json | None]]:
    """Each host of the inventory with its node: by InternalIP, else by the machine's name."""
    found: dict[int, Json] = {}
    for by_address in (True, False):
        for index, host in enumerate(expectation.hosts):
            if index not in found:
                taken = {node_name(node) for node in found.values()}
                node = next(
                    (node for node in snapshot.nodes if node_name(node) not in taken and _is(node, host, by_address)),
                    None,
                )
                if node:
                    found[index] = node
    return [(host, found.get(index)) for index, host in enumerate(expectation.hosts)]


def _is(node: Json, host: Json, by_address: bool) -> bool:
    if by_address:
        return any(same_address(address, host["address"]) for address in node_addresses(node))
    name = host["host"].lower()
    return node_name(node) in (name, name.split(".")[0])


def check_api(snapshot: Snapshot, expectation: Expectation) -> Check:
    """The API server says that it is ready, and etcd behind it."""
    status = snapshot.ready.get("status")
    if status == 200:
        return verdict("api", [], f"API server {snapshot.version} and etcd are ready")
    text = snapshot.ready.get("text", "")
    parts = re.findall(r"^\[-\](\S+)", text, re.MULTILINE)
    what = f"these parts are not: {', '.join(parts)}" if parts else shorten(text)
    remedy = "On the control plane: crictl ps -a, then crictl logs of kube-apiserver and etcd; journalctl -u kubelet."
    if status is None:
        return verdict("api", [Problem(f"the API server does not answer: {shorten(text)}", remedy)], "")
    return verdict("api", [Problem(f"/readyz answers {status}; {what}", remedy)], "")


def check_nodes(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every host of the inventory is a node, and every node is Ready."""
    problems = []
    for host, node in matched(snapshot, expectation):
        if node is None:
            problems.append(
                Problem(
                    f"{_both(host)} is in the inventory and not in the cluster",
                    "Join it: ansible-playbook gshare.cluster.up with the same inventory.",
                )
            )
    known = listed_nodes(snapshot, expectation)
    for node in snapshot.nodes:
        problems.extend(_lighter(_state(node, snapshot), node_name(node) in known))
    return verdict("nodes", problems, f"{len(snapshot.nodes)} of {len(snapshot.nodes)} nodes are Ready")


def listed_nodes(snapshot: Snapshot, expectation: Expectation) -> set[str]:
    """Names of the nodes that the inventory lists."""
    return {node_name(node) for _host, node in matched(snapshot, expectation) if node}


def _lighter(problems: t.Iterable[Problem], known: bool) -> t.Iterator[Problem]:
    """Trouble of a node that the inventory does not list is no more than a warning, as the node itself."""
    for problem in problems:
        yield problem if known else dataclasses.replace(problem, warning=True)


def _both(host: Json) -> str:
    return host["host"] if host["host"] == host["address"] else f"{host['host']} ({host['address']})"


def _state(node: Json, snapshot: Snapshot) -> t.Iterator[Problem]:
    name = node_name(node)
    if not is_ready(node):
        ready = condition(node, "Ready")
        since = seconds(ready.get("lastTransitionTime"))
        age = f" for {span(snapshot.now - since)}" if since and snapshot.now > since else ""
        why = shorten(ready.get("message") or ready.get("reason") or "no condition Ready yet")
        cause, remedy = silence(snapshot, name)
        yield Problem(
            f"{name} is not Ready{age}: {cause or why}",
            remedy or f"On {name}: systemctl status kubelet containerd; journalctl -u kubelet.",
        )
        return
    for kind, remedy in _PRESSURE.items():
        found = condition(node, kind)
        if found.get("status") == "True":
            yield Problem(f"{name} has {kind}: {shorten(found.get('message', ''))}", remedy, True)
    if node.get("spec", {}).get("unschedulable"):
        yield Problem(f"{name} is cordoned, no new pod goes there", f"If that is over: kubectl uncordon {name}.", True)


def version_fits(actual: str, wanted: str) -> bool:
    """Whether v1.36.3 is what 1.36 (any patch), 1.36.3 or v1.36.3 ask for."""
    have = re.match(r"v?(\d+\.\d+\.\d+)", actual)
    want = re.match(r"v?(\d+\.\d+(?:\.\d+)?)", wanted)
    if not have or not want:
        return False
    return have.group(1) == want.group(1) or (
        want.group(1).count(".") == 1 and have.group(1).startswith(want.group(1) + ".")
    )


def check_versions(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every kubelet has the version asked for, or else that of the API server."""
    wanted = expectation.kubernetes_version or snapshot.version
    remedy = f"up never changes a node's version: set gshare_kubernetes_version to what runs, or upgrade to {wanted}."
    problems = []
    if not version_fits(snapshot.version, wanted):
        problems.append(Problem(f"the API server is {snapshot.version}, wanted is {wanted}", remedy))
    known = listed_nodes(snapshot, expectation)
    for node in snapshot.nodes:
        have = node.get("status", {}).get("nodeInfo", {}).get("kubeletVersion", "unknown")
        if not version_fits(have, wanted):
            text = f"{node_name(node)} runs kubelet {have}, wanted is {wanted}"
            problems.append(Problem(text, remedy, node_name(node) not in known))
    return verdict("versions", problems, f"API server and all kubelets are {wanted}")


def check_labels(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every node has the labels and taints that its group asks for."""
    remedy = "Set them: ansible-playbook gshare.cluster.up with the same inventory."
    problems = []
    count = 0
    for host, node in matched(snapshot, expectation):
        if node is None:
            continue
        have = labels(node)
        for key, value in (host.get("labels") or {}).items():
            count += 1
            if have.get(key) != value:
                now = f"{key}={have[key]}" if key in have else f"no {key}"
                problems.append(Problem(f"{node_name(node)} has {now}, wanted is {key}={value}", remedy))
        present = {_taint(entry) for entry in node.get("spec", {}).get("taints") or []}
        for entry in host.get("taints") or []:
            count += 1
            if _taint(entry) not in present:
                problems.append(Problem(f"{node_name(node)} lacks the taint {_taint(entry)}", remedy))
    return verdict("labels", problems, f"all {count} labels and taints are set" if count else "none are asked for")


def _taint(entry: Json) -> str:
    value = f"={entry['value']}" if entry.get("value") else ""
    return f"{entry['key']}{value}:{entry['effect']}"


def check_addresses(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every kubelet registered with the address that the inventory knows."""
    problems = []
    for host, node in matched(snapshot, expectation):
        if node is None or any(same_address(address, host["address"]) for address in node_addresses(node)):
            continue
        have = listed(node_addresses(node)) or "none"
        problems.append(
            Problem(
                f"{node_name(node)} has InternalIP {have}, the inventory says {host['address']}",
                f"Start the kubelet of {node_name(node)} with --node-ip={host['address']}, or correct the inventory "
                "(gshare_node_ip).",
            )
        )
    return verdict("addresses", problems, "every InternalIP is the address in the inventory")


def check_unlisted(snapshot: Snapshot, expectation: Expectation) -> Check:
    """No node is in the cluster that the inventory does not list."""
    known = listed_nodes(snapshot, expectation)
    problems = []
    for node in snapshot.nodes:
        name = node_name(node)
        if name not in known:
            address = node_address(node) or "no InternalIP"
            problems.append(
                Problem(
                    f"node {name} ({address}) is in the cluster and not in the inventory",
                    f"Add {address} to the inventory, or remove it from the cluster: "
                    f"kubectl drain {name} --ignore-daemonsets --delete-emptydir-data && kubectl delete node {name}.",
                    True,
                )
            )
    return verdict("unlisted", problems, "the cluster has no other nodes than the inventory")


def check_pod_ranges(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every node has a pod range of its own within that of the cluster."""
    wanted = listed(expectation.pod_ranges)
    problems: list[Problem] = []
    owners: dict[str, str] = {}
    for node in snapshot.nodes:
        name = node_name(node)
        ranges = node_ranges(node)
        if not ranges:
            problems.append(
                Problem(
                    f"{name} has no podCIDR, flannel has no range for it (cluster: {wanted})",
                    "See the log of kube-controller-manager: is the range used up, or --allocate-node-cidrs not set?",
                )
            )
        for text in ranges:
            if text in owners:
                problems.append(
                    Problem(f"{name} and {owners[text]} have the same podCIDR {text}", _REJOIN.format(name=name))
                )
            owners[text] = name
            if expectation.pod_ranges and not _within(text, expectation.pod_ranges):
                problems.append(
                    Problem(
                        f"podCIDR {text} of {name} is outside {wanted}",
                        "The cluster was made with another pod range: set gshare_pod_cidr to that one.",
                    )
                )
    return verdict("pod_ranges", problems, f"every node has its own range within {wanted}")


_REJOIN = "Reset {name} and join it again, so that it gets a range of its own."


def node_ranges(node: Json) -> list[str]:
    spec = node.get("spec", {})
    return spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])


def _within(text: str, ranges: tuple[str, ...]) -> bool:
    inner = ipaddress.ip_network(text, strict=False)
    outers = [ipaddress.ip_network(entry, strict=False) for entry in ranges]
    return any(within(inner, outer) for outer in outers)


def check_flannel(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every node sends pod traffic from its own InternalIP."""
    problems: list[Problem] = []
    owners: dict[str, list[str]] = {}
    for node in snapshot.nodes:
        name = node_name(node)
        address = metadata_annotations(node).get(_FLANNEL + "public-ip")
        if not address:
            problems.append(
                Problem(
                    f"{name} has no flannel address, /run/flannel/subnet.env is missing there",
                    f"See kubectl -n kube-flannel get pods -o wide and the log of the pod on {name}.",
                )
            )
            continue
        owners.setdefault(address, []).append(name)
        wanted = metadata_annotations(node).get(_FLANNEL + "public-ip-overwrite")
        allowed = [wanted] if wanted else node_addresses(node)
        if not any(same_address(address, entry) for entry in allowed):
            problems.append(
                Problem(
                    f"flannel on {name} uses {address}, not the InternalIP {listed(allowed) or 'none'}",
                    "flannel took another interface: run ansible-playbook gshare.cluster.up, "
                    "or name the interface (flannel_iface) where the machines have several.",
                )
            )
    for address, names in owners.items():
        if len(names) > 1:
            problems.insert(0, Problem(f"{listed(names)} use the same flannel address {address}"))
    return verdict("flannel", problems, "every node uses its own InternalIP for pod traffic")
