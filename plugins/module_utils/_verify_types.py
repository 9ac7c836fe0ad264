# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks of a cluster take and give.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import datetime
import typing as t

OK = "ok"
WARNING = "warning"
FAILED = "failed"
SKIPPED = "skipped"

Json = dict[str, t.Any]


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and how to put it right."""

    text: str
    remedy: str = ""
    warning: bool = False


@dataclasses.dataclass(frozen=True)
class Check:
    """The verdict of one named check."""

    name: str
    status: str
    detail: str
    remedy: str = ""
    problems: tuple[str, ...] = ()

    def as_dict(self) -> Json:
        """The check as a module returns it."""
        return {**dataclasses.asdict(self), "problems": list(self.problems)}


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What the inventory says about the cluster."""

    hosts: tuple[Json, ...] = ()
    # Whether the cluster has more machines than these, of which nothing is to be said.
    partial: bool = False
    kubernetes_version: str = ""
    pod_ranges: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    # hami, nvidia or none; and how many pods a card is shared by, 0 for what the plugin announces.
    gpu_sharing: str = "none"
    gpu_split: int = 0
    # ingress-nginx, traefik or none.
    ingress: str = "none"
    ingress_namespace: str = ""
    ingress_port: int = 0
    # {address, mirror, tls, ca, username, password, namespace}: the registry on the LAN; empty without one.
    registry: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Traffic:
    """What the probe pods saw."""

    # node -> {address, problem}: the probe pod's address, or why it does not run.
    probes: dict[str, Json] = dataclasses.field(default_factory=dict)
    # node -> {error} or the parsed answer of the script: {bridge, servers, domain, dns, http}.
    answers: dict[str, Json] = dataclasses.field(default_factory=dict)
    # (from, to): who called whom.
    ring: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    # One entry a broken path: {from, to, ports, sent, received, returned, answered}.
    paths: list[Json] = dataclasses.field(default_factory=list)
    dns_server: str = ""
    dns_expected: str = ""
    # {bound, written, gone, problem}
    claim: Json = dataclasses.field(default_factory=dict)
    # driver: node -> {problem, remedy} or {exit, text, cards}; slice: node -> {problem, remedy}, {busy} or
    # {exit, text, cards, limit}; scheduler: {name} or {problem}; too_big: {asked, placed, reasons} or {problem}.
    gpu: Json = dataclasses.field(default_factory=dict)
    # nodes: node -> {status} or {problem}; problem: why there is no Ingress to try; service: {policy} or {}.
    ingress: Json = dataclasses.field(default_factory=dict)
    # pushed: why no image could be pushed, or ""; registry, mirror: node -> {pulled} or {problem}; seen: what the
    # mirror saw, {from: addresses}, {catalog} or {problem}.
    registry: Json = dataclasses.field(default_factory=dict)
    left: str = ""


@dataclasses.dataclass
class Gpu:
    """Objects of the API that matter where there are GPU workers."""

    runtime_classes: list[str] = dataclasses.field(default_factory=list)
    # DaemonSets of device plugins, and their pods.
    plugins: list[Json] = dataclasses.field(default_factory=list)
    pods: list[Json] = dataclasses.field(default_factory=list)
    lease: Json = dataclasses.field(default_factory=dict)
    # node -> when its kubelet last started.
    started: dict[str, float] = dataclasses.field(default_factory=dict)
    # node -> last words of its plugin, where it offers nothing.
    logs: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Snapshot:
    """Objects of the API as they came, and what the probes saw."""

    now: float = 0.0
    ready: Json = dataclasses.field(default_factory=dict)
    version: str = ""
    nodes: list[Json] = dataclasses.field(default_factory=list)
    # node -> when its kubelet was last heard of, by the node's own clock.
    heard: dict[str, float] = dataclasses.field(default_factory=dict)
    pods: list[Json] = dataclasses.field(default_factory=list)
    workloads: list[Json] = dataclasses.field(default_factory=list)
    storage_classes: list[Json] = dataclasses.field(default_factory=list)
    # Kubelets that tell the API server nothing -> whether they can be reached from it.
    kubelets: dict[str, bool] = dataclasses.field(default_factory=dict)
    server: tuple[str, int] = ("", 0)
    gpu: Gpu = dataclasses.field(default_factory=Gpu)
    traffic: Traffic | None = None
    no_traffic: str = ""


def verdict(name: str, problems: t.Iterable[Problem], fine: str) -> Check:
    """One check out of what was found: failed if anything is more than a warning."""
    found = list(problems)
    if not found:
        return Check(name, OK, fine)
    status = WARNING if all(problem.warning for problem in found) else FAILED
    # Most remedies end with a command, and whoever copies that should not copy a full stop.
    remedies = list(dict.fromkeys(problem.remedy.rstrip(".") for problem in found if problem.remedy))
    texts = tuple(problem.text for problem in found)
    return Check(name, status, "; ".join(texts), "; ".join(remedies), texts)


def silence(snapshot: Snapshot, name: str) -> tuple[str, str]:
    """What a kubelet that tells the API server nothing lacks most probably, and what to do; nothing if it is well."""
    if name not in snapshot.kubelets:
        return "", ""
    address, port = snapshot.server
    if snapshot.kubelets[name]:
        return (
            f"its kubelet runs and does not reach the API server: {port}/tcp does not pass from {name} to {address}",
            f"Let {port}/tcp pass from every node to {address}; if it does: journalctl -u kubelet on {name}.",
        )
    return (
        f"it does not answer on 10250/tcp either: {name} is off or cut off, or its kubelet does not run",
        f"Switch {name} on and look at its network; then there: systemctl status kubelet containerd.",
    )


def skipped(name: str, why: str) -> Check:
    """A check that could not be made."""
    return Check(name, SKIPPED, why)


def node_name(node: Json) -> str:
    return node["metadata"]["name"]


def node_address(node: Json) -> str:
    """The first InternalIP of a node."""
    addresses = node_addresses(node)
    return addresses[0] if addresses else ""


def node_addresses(node: Json) -> list[str]:
    listed = node.get("status", {}).get("addresses") or []
    return [entry["address"] for entry in listed if entry.get("type") == "InternalIP"]


def metadata_annotations(item: Json) -> Json:
    return item.get("metadata", {}).get("annotations") or {}


def labels(item: Json) -> Json:
    return item.get("metadata", {}).get("labels") or {}


def condition(item: Json, kind: str) -> Json:
    """One condition of an object's status, or an empty one."""
    for entry in item.get("status", {}).get("conditions") or []:
        if entry.get("type") == kind:
            return entry
    return {}


def is_ready(item: Json) -> bool:
    return condition(item, "Ready").get("status") == "True"


def seconds(moment: str | None) -> float:
    """Seconds since the epoch of the API's way to write a moment; 0 for none."""
    if not moment:
        return 0.0
    text = moment.split(".")[0].rstrip("Z")
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc).timestamp()


def span(amount: float) -> str:
    """A length of time for people: 40 s, 12 min, 3 h, 2 d."""
    for limit, divisor, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if amount < limit:
            return f"{int(amount // divisor)} {unit}"
    return f"{int(amount // 86400)} d"


def shorten(text: str, limit: int = 300) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def listed(names: t.Iterable[str], limit: int = 6) -> str:
    """Names in a sentence, no more than some."""
    every = list(names)
    if len(every) <= limit:
        return ", ".join(every)
    return ", ".join(every[:limit]) + f" and {len(every) - limit} more"
