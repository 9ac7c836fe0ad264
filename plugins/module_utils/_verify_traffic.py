# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of what the probe pods of verify saw: DNS, pod traffic, ports, storage.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import collections
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    Traffic,
    is_ready,
    listed,
    metadata_annotations,
    node_name,
    shorten,
    silence,
    skipped,
    verdict,
)

_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_UP = "ansible-playbook gshare.cluster.up"
_FIRST = "Put nodes and pods_start right first."
_NO_PROBE = "no probe pod could be asked, see pods_start and kubelet_port"


def check_probes(snapshot: Snapshot, expectation: Expectation) -> Check:
    """A pod starts on every node: its image is pulled by the kubelet, its network set up by CNI."""
    traffic = _traffic(snapshot)
    ready = {node_name(node) for node in snapshot.nodes if is_ready(node)}
    problems = [
        _no_pod(snapshot, node, probe)
        for node, probe in traffic.probes.items()
        if probe.get("problem") and node in ready
    ]
    problems += [Problem(f"no pod was made for {node}") for node in sorted(ready - set(traffic.probes))]
    return verdict("pods_start", problems, f"a pod starts on each of {len(ready)} nodes")


def _no_pod(snapshot: Snapshot, node: str, probe: Json) -> Problem:
    cause, remedy = silence(snapshot, node)
    return Problem(f"no pod runs on {node}: {cause or probe['problem']}", remedy or probe.get("remedy", ""))


def check_kubelet_port(snapshot: Snapshot, expectation: Expectation) -> Check:
    """The API server reaches every kubelet: kubectl exec and logs work."""
    traffic = _traffic(snapshot)
    if not traffic.answers:
        return skipped("kubelet_port", _NO_PROBE)
    problems = [
        Problem(
            f"the control plane does not reach 10250/tcp of {node}: {shorten(answer['error'], 200)}",
            "Let 10250/tcp pass from the control plane to every node; without it kubectl exec, logs and metrics fail.",
        )
        for node, answer in traffic.answers.items()
        if answer.get("error")
    ]
    return verdict("kubelet_port", problems, f"the control plane reaches 10250/tcp of {len(traffic.answers)} nodes")


def check_bridge(snapshot: Snapshot, expectation: Expectation) -> Check:
    """br_netfilter is loaded. kubeadm no longer looks; without it services fail on some paths only."""
    if not _heard(snapshot):
        return skipped("bridge", _NO_PROBE)
    problems = [
        Problem(
            f"br_netfilter is not loaded on {node}: /proc/sys/net/bridge is missing, services do not work there",
            f"On {node}: modprobe br_netfilter; for good: {_UP}.",
        )
        for node, answer in _heard(snapshot).items()
        if not answer["bridge"]
    ]
    return verdict("bridge", problems, f"br_netfilter is loaded on {len(_heard(snapshot))} nodes")


def check_dns(snapshot: Snapshot, expectation: Expectation) -> Check:
    """The cluster's DNS answers a pod on every node."""
    traffic = _traffic(snapshot)
    if not traffic.dns_server:
        return verdict("dns", [Problem("there is no service kube-system/kube-dns", f"Install CoreDNS: {_UP}.")], "")
    if not _heard(snapshot):
        return skipped("dns", _NO_PROBE)
    silent, problems = [], []
    for node, answer in _heard(snapshot).items():
        if traffic.dns_server not in answer["servers"]:
            problems.append(
                Problem(
                    f"pods on {node} ask {listed(answer['servers']) or 'nobody'} instead of {traffic.dns_server}",
                    "Set clusterDNS in /var/lib/kubelet/config.yaml and restart the kubelet.",
                )
            )
        if traffic.dns_expected not in answer["dns"]:
            silent.append(node)
    if silent:
        problems.insert(0, _no_dns(snapshot, silent))
    return verdict("dns", problems, f"{traffic.dns_server} answers a pod on {len(_heard(snapshot))} nodes")


def _no_dns(snapshot: Snapshot, silent: list[str]) -> Problem:
    server = _traffic(snapshot).dns_server
    pods = [pod for pod in snapshot.pods if (pod["metadata"].get("labels") or {}).get("k8s-app") == "kube-dns"]
    away = {node_name(node) for node in snapshot.nodes if not is_ready(node)} | set(snapshot.kubelets)
    # The last that was heard of a pod on a node that is away says nothing.
    ready = [pod for pod in pods if is_ready(pod) and pod["spec"].get("nodeName") not in away]
    where = "any node" if len(silent) == len(_heard(snapshot)) else listed(silent)
    text = f"the cluster DNS {server} does not answer pods on {where}"
    if not pods:
        return Problem(
            f"{text}: no CoreDNS pod exists", "kubectl -n kube-system scale deployment coredns --replicas=2."
        )
    if not ready:
        nodes = {pod["spec"].get("nodeName", "") for pod in pods}
        if nodes <= away:
            return Problem(f"{text}: all CoreDNS pods are on {listed(sorted(nodes))}", _FIRST)
        return Problem(f"{text}: no CoreDNS pod is ready", "See kubectl -n kube-system logs -l k8s-app=kube-dns.")
    homes = listed(sorted({pod["spec"].get("nodeName", "?") for pod in ready}))
    return Problem(
        f"{text}, CoreDNS is ready on {homes}",
        "Look at pod_network first; if that is ok: kubectl -n kube-system logs -l k8s-app=kube-proxy for these nodes.",
    )


def check_pod_network(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Pods on neighbouring nodes reach each other, in a ring over all nodes."""
    traffic = _traffic(snapshot)
    known = {(path["from"], path["to"]): path for path in traffic.paths}
    broken = broken_edges(traffic)
    problems = [_path_problem(edge, known.get(edge), traffic) for edge in broken]
    common = _common(broken)
    if common and len(broken) > 1:
        problems.insert(0, Problem(f"all broken paths have {common} at one end: look there first"))
    problems += [
        Problem(f"nobody could try the path between {one} and {other}", "See kubelet_port.")
        for one, other in traffic.ring
        if not _tries(traffic, one, other)
    ]
    ready = [node for node in snapshot.nodes if is_ready(node)]
    if not traffic.ring and len(ready) > 1:
        return skipped("pod_network", "fewer than two probe pods run, see pods_start")
    if not traffic.ring:
        return verdict("pod_network", problems, "there is no second node to talk to")
    left_out = [node for node in traffic.probes if not any(node in edge for edge in traffic.ring)]
    note = f", without {listed(left_out)}" if left_out else ""
    return verdict("pod_network", problems, f"HTTP passes between pods of {len(traffic.ring)} pairs of nodes{note}")


def _tries(traffic: Traffic, one: str, other: str) -> list[bool]:
    """What calls between two nodes gave, from whichever end could be asked."""
    return [
        traffic.answers[a]["http"].get(b) == b
        for a, b in ((one, other), (other, one))
        if b in traffic.answers.get(a, {}).get("http", {})
    ]


def broken_edges(traffic: Traffic) -> list[tuple[str, str]]:
    """The pairs of the ring between which HTTP did not pass, where somebody could try."""
    return [edge for edge in traffic.ring if not all(_tries(traffic, *edge))]


def _common(broken: list[tuple[str, str]]) -> str:
    counted = collections.Counter(node for edge in broken for node in edge)
    everywhere = [node for node, count in counted.items() if count == len(broken)]
    return everywhere[0] if len(everywhere) == 1 else ""


def _path_problem(edge: tuple[str, str], path: Json | None, traffic: Traffic) -> Problem:
    one, other = edge
    said = traffic.answers.get(one, {}).get("http", {}).get(other, "").replace("Terminated", "")
    text = f"pods on {one} and {other} do not reach each other ({shorten(said, 80) or 'no answer'})"
    if path is None:
        return Problem(text)
    closed = [f"{port}/tcp from {a} to {b}" for a, b, port, passes in path["ports"] if not passes]
    cause, remedy = probable_cause(one, other, path)
    if closed:
        cause += f"; also closed: {listed(closed)}"
    return Problem(f"{text}: {cause}", remedy)


_ALLOW = "Let 8472/udp pass between all nodes in both directions (firewall of {at}, cloud security group, hypervisor)."


def probable_cause(one: str, other: str, path: Json) -> tuple[str, str]:
    """From what left and arrived on flannel's links, the most probable cause and its remedy."""
    for node in (one, other):
        if node in path.get("no_link", []):
            return (
                f"{node} has no link flannel.1",
                f"See kubectl -n kube-flannel logs of the pod on {node}; delete that pod to have the link made again.",
            )
    if path.get("unknown"):
        return f"the nodes could not be looked at ({path['unknown']})", "See kubelet_port."
    steps = (
        (path["sent"], f"packets for {other} do not leave {one} through flannel.1", _ROUTES.format(at=one)),
        (path["received"], f"8472/udp does not pass from {one} to {other}", _ALLOW.format(at=other)),
        (path["returned"], f"{other} receives the packets and sends no answer", _ROUTES.format(at=other)),
        (path["answered"], f"8472/udp does not pass from {other} to {one}", _ALLOW.format(at=one)),
    )
    for passes, cause, remedy in steps:
        if not passes:
            return cause, remedy
    return (
        "ping passes and TCP does not, which is how a wrong VXLAN checksum offload or a too large MTU looks",
        f"Try on both nodes: ethtool -K flannel.1 tx-checksum-ip-generic off; compare the MTU of {one} and {other}.",
    )


_ROUTES = "On {at}: ip route, iptables -L FORWARD (flannel's and the firewall's rules), sysctl net.ipv4.ip_forward."


def check_storage_class(snapshot: Snapshot, expectation: Expectation) -> Check:
    """There is one default storage class, and only one."""
    names = default_classes(snapshot.storage_classes)
    if len(names) == 1:
        return verdict("storage_class", [], f"{names[0]} is the default class")
    if names:
        one = f"kubectl annotate storageclass {names[-1]} {_DEFAULT[0]}=false --overwrite"
        text = f"{len(names)} classes are the default one: {', '.join(names)}"
        return verdict("storage_class", [Problem(text, f"Leave one, for example: {one}.")], "")
    have = listed(item["metadata"]["name"] for item in snapshot.storage_classes) or "none at all"
    return verdict(
        "storage_class", [Problem(f"no storage class is the default (there are: {have})", f"Run {_UP}.")], ""
    )


def default_classes(items: list[Json]) -> list[str]:
    return [
        item["metadata"]["name"]
        for item in items
        if any(metadata_annotations(item).get(key) == "true" for key in _DEFAULT)
    ]


def check_storage_claim(snapshot: Snapshot, expectation: Expectation) -> Check:
    """A claim of the default class binds, can be written, and its volume goes away with it."""
    claim = _traffic(snapshot).claim
    if not claim:
        return skipped("storage_claim", "there is no default storage class to try")
    see = "See kubectl -n local-path-storage logs deployment/local-path-provisioner."
    if any(answer.get("error") for answer in _traffic(snapshot).answers.values()):
        # The provisioner reads the log of its helper pod through that port, and waits for it.
        see = "Put kubelet_port right first."
    elif claim.get("remedy"):
        see = claim["remedy"]
    elif snapshot.kubelets or any(probe.get("problem") for probe in _traffic(snapshot).probes.values()):
        see = f"{_FIRST} Then: {see[0].lower()}{see[1:]}"
    if not claim.get("written"):
        state = "bound, but not written" if claim.get("bound") else "not bound"
        text = f"a claim of the default class was {state}: {shorten(claim.get('problem', ''))}"
        return verdict("storage_claim", [Problem(text, see)], "")
    if not claim.get("gone"):
        text = f"the volume {claim.get('volume', '')} was not removed with its claim"
        return verdict("storage_claim", [Problem(text, see)], "")
    return verdict("storage_claim", [], "a claim binds, is written and read, and its volume goes away")


def check_cleanup(snapshot: Snapshot, expectation: Expectation) -> Check:
    """verify leaves nothing behind."""
    left = _traffic(snapshot).left
    problem = Problem(f"{left} is still there", "It goes on its own, or with the next verify.", True)
    return verdict("cleanup", [problem] if left else [], "nothing of verify is left")


def _traffic(snapshot: Snapshot) -> Traffic:
    return snapshot.traffic or Traffic()


def _heard(snapshot: Snapshot) -> dict[str, t.Any]:
    return {node: answer for node, answer in _traffic(snapshot).answers.items() if not answer.get("error")}
