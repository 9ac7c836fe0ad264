# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the GPU workers: driver, what they offer, what HAMi registered, what a pod gets.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import collections
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _hami as hami
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import UP, explain, explain_exit
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import pod_reason
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    is_ready,
    labels,
    listed,
    metadata_annotations,
    node_name,
    seconds,
    span,
    verdict,
)

_LEASE_LIMIT = 60.0
Function = t.Callable[[Snapshot, Expectation], Check]
_RESTART = "kubectl -n kube-system delete pod -l app.kubernetes.io/component=hami-device-plugin"
_NO_WORKER = "no GPU worker is Ready, see nodes"


def check_gpu_driver(snapshot: Snapshot, expectation: Expectation) -> Check:
    """A pod with the RuntimeClass nvidia runs nvidia-smi on every GPU worker."""
    results = gpus.probed(snapshot, "driver")
    problems, fine = [], collections.defaultdict(list)
    for _host, node in gpus.workers(snapshot, expectation):
        name = node_name(node)
        result = results.get(name) or {"problem": "nobody could ask it", "remedy": "See pods_start."}
        problem = _driver_problem(result)
        if problem:
            problems.append(Problem(f"{name}: {problem[0]}", problem[1]))
            continue
        counted = collections.Counter(card["name"] for card in result["cards"])
        cards = ", ".join(f"{count} x {model}" for model, count in counted.items())
        fine[result["cards"][0]["driver"]].append(f"{name} ({cards})")
    found = "; ".join(f"driver {version} on {listed(names, 4)}" for version, names in fine.items())
    return verdict("gpu_driver", problems, found or _NO_WORKER)


def _driver_problem(result: Json) -> tuple[str, str] | None:
    if result.get("problem"):
        cause, remedy = explain(result["problem"], result.get("remedy", ""))
        return f"no pod runs with the RuntimeClass nvidia: {cause}", remedy
    if result["exit"] or not result["cards"]:
        return explain_exit(result["exit"], result["text"])
    return None


# -- capacity


def check_gpu_capacity(snapshot: Snapshot, expectation: Expectation) -> Check:
    """Every GPU worker offers its cards times the split, and one device plugin does that."""
    problems = list(_two_plugins(snapshot, expectation))
    nothing: dict[tuple[str, str], list[str]] = {}
    fine = []
    for host, node in gpus.workers(snapshot, expectation):
        name, have = node_name(node), gpus.offered(node)
        wanted, how = gpus.wanted(snapshot, expectation, host, node)
        parts = gpus.parts(node)
        if parts and not have:
            fine.append(f"{name} {listed(f'{count} {part}' for part, count in parts.items())}")
        elif not have:
            nothing.setdefault(_why_nothing(snapshot, expectation, node), []).append(name)
        elif wanted and have != wanted:
            problems.append(_wrong_number(node, have, wanted, how))
        else:
            fine.append(f"{name} {have}" + (f" ({how})" if wanted else ""))
        problems += _unwanted(snapshot, expectation, node) if have else []
    for (cause, remedy), names in nothing.items():
        word = "offers" if len(names) == 1 else "offer"
        problems.append(Problem(f"{listed(names)} {word} no nvidia.com/gpu: {cause}", remedy))
    return verdict("gpu_capacity", problems, f"nvidia.com/gpu: {listed(fine)}" if fine else _NO_WORKER)


def _wrong_number(node: Json, have: int, wanted: int, how: str) -> Problem:
    bad = [card for card in gpus.cards(node) if not card.health]
    text = f"{node_name(node)} offers {have} nvidia.com/gpu, wanted is {wanted} ({how})"
    if bad and have < wanted:
        return Problem(f"{text}: {_unhealthy(bad)}", _LOOK_AT_CARD)
    remedy = f"Run {UP}; if the number is meant, set gshare_gpu_split. After a change the device plugin's pod restarts."
    return Problem(text, remedy)


_LOOK_AT_CARD = "On the node: nvidia-smi, dmesg | grep -i xid; then restart the device plugin's pod there."


def _unhealthy(bad: list[hami.Card]) -> str:
    names = listed(f"{card.index} ({card.id})" for card in bad)
    return f"card {names} is registered and not healthy"


def _two_plugins(snapshot: Snapshot, expectation: Expectation) -> t.Iterator[Problem]:
    """Both plugins claim nvidia.com/gpu: the last one that registers wins, and limits are gone without a word."""
    other = {"hami": "nvidia", "nvidia": "hami"}.get(expectation.gpu_sharing, "")
    for daemonset in gpus.plugins(snapshot, other):
        names = [
            node_name(node)
            for _host, node in gpus.workers(snapshot, expectation)
            if not gpus.lacking(daemonset, node) or gpus.plugin_pod(snapshot, daemonset, node)
        ]
        if names:
            full = gpus.full_name(daemonset)
            yield Problem(
                f"{gpus.PLUGINS[other]} (DaemonSet {full}) runs on {listed(names)} beside "
                f"{gpus.PLUGINS[expectation.gpu_sharing]}: both claim nvidia.com/gpu",
                f"Remove DaemonSet {full} (helm uninstall its release), or set gshare_gpu_sharing={other}; then {UP}.",
            )


def _unwanted(snapshot: Snapshot, expectation: Expectation, node: Json) -> list[Problem]:
    """A node that offers cards although its plugin does not want it any more: that lasts until the next restart."""
    found = gpus.plugins(snapshot, expectation.gpu_sharing)
    if not found or any(not gpus.lacking(item, node) for item in found):
        return []
    cause, remedy = _not_picked(found[0], node, expectation)
    return [Problem(f"{node_name(node)}: {cause}", remedy)]


def _not_picked(daemonset: Json, node: Json, expectation: Expectation) -> tuple[str, str]:
    missing = listed(gpus.lacking(daemonset, node))
    status = daemonset.get("status", {})
    desired = status.get("desiredNumberScheduled", 0)
    text = (
        f"DaemonSet {gpus.full_name(daemonset)} wants a pod on {desired} nodes and none here, "
        f"where the node lacks the label {missing}"
    )
    if labels(node).get("gpu") != "on" and "gpu=on" in missing:
        return text, f"Run {UP}, or: kubectl label node {node_name(node)} gpu=on."
    return text, f"Run {UP}: it sets labels and the plugin's affinity; node feature discovery sets nvidia.com labels."


def _why_nothing(snapshot: Snapshot, expectation: Expectation, node: Json) -> tuple[str, str]:
    """Why a node offers no card, and what to do."""
    kind = expectation.gpu_sharing
    found = gpus.plugins(snapshot, kind)
    if not found:
        return f"{gpus.PLUGINS[kind]} is not installed", f"Install it: {UP}."
    picked = [item for item in found if not gpus.lacking(item, node)]
    if not picked:
        return _not_picked(found[0], node, expectation)
    daemonset = picked[0]
    full = gpus.full_name(daemonset)
    namespace, name = full.split("/")
    wanted = gpus.runtime_class(daemonset)
    if wanted and wanted not in snapshot.gpu.runtime_classes:
        return f"DaemonSet {full} asks for RuntimeClass {wanted}, which does not exist", f"Make it: {UP}."
    pod = gpus.plugin_pod(snapshot, daemonset, node)
    if pod is None:
        return f"DaemonSet {full} made no pod there", f"See kubectl -n {namespace} describe daemonset {name}."
    said = snapshot.gpu.logs.get(node_name(node), "")
    if said:
        return explain(said, f"See kubectl -n {namespace} logs {pod['metadata']['name']} --all-containers.")
    if not is_ready(pod):
        reason, remedy = pod_reason(pod)
        return f"the device plugin is not ready: {reason}", remedy
    bad = [card for card in gpus.cards(node) if not card.health]
    if bad and kind == "hami":
        return _unhealthy(bad), _LOOK_AT_CARD
    return (
        "the device plugin runs and says nothing of a card",
        f"See kubectl -n {namespace} logs {pod['metadata']['name']} --all-containers; delete that pod to try again.",
    )


# -- registration


def check_gpu_registration(snapshot: Snapshot, expectation: Expectation) -> Check:
    """HAMi's scheduler leads, and knows every card of every GPU worker as healthy."""
    problems = list(_lease(snapshot))
    fine: dict[str, list[str]] = {}
    for _host, node in gpus.workers(snapshot, expectation):
        found = list(_registration(snapshot, node))
        problems += found
        if not found:
            counted = collections.Counter(card.memory_mib for card in gpus.cards(node))
            memory = " and ".join(f"{count} x {size} MiB" for size, count in counted.items())
            fine.setdefault(memory, []).append(node_name(node))
    text = "; ".join(f"{memory} on {listed(names)}" for memory, names in fine.items())
    return verdict("gpu_registration", problems, text or _NO_WORKER)


def _lease(snapshot: Snapshot) -> t.Iterator[Problem]:
    spec = snapshot.gpu.lease.get("spec") or {}
    see = "See kubectl -n kube-system logs deployment/hami-scheduler --all-containers."
    if not spec.get("holderIdentity"):
        yield Problem(
            "no HAMi scheduler leads: nobody holds the lease kube-system/hami-scheduler, GPU pods stay Pending",
            f"{see[:-1]}; rights that it lacks (resource.k8s.io) are given by {UP}.",
        )
        return
    age = snapshot.now - seconds(spec.get("renewTime"))
    if age > max(_LEASE_LIMIT, 2.0 * spec.get("leaseDurationSeconds", 15)):
        yield Problem(f"HAMi's scheduler has not renewed its lease for {span(age)}: it does not run", see)


def _registration(snapshot: Snapshot, node: Json) -> t.Iterator[Problem]:
    name, notes = node_name(node), metadata_annotations(node)
    age = hami.handshake_age(notes.get(hami.HANDSHAKE, ""), snapshot.now)
    restart = f"{_RESTART} --field-selector spec.nodeName={name}"
    if age is not None and age > hami.HANDSHAKE_LIMIT and not gpus.offered(node):
        yield Problem(
            f"HAMi's plugin on {name} has not answered the scheduler for {span(age)} and offers no card: "
            "the scheduler has dropped the node",
            f"See gpu_capacity, then: {restart}.",
        )
    text = notes.get(hami.REGISTER, "")
    try:
        cards = hami.registered(text)
    except ValueError:
        yield Problem(f"{name}: the annotation {hami.REGISTER} cannot be read: {text[:80]}", f"Restart: {restart}.")
        return
    if not cards:
        yield Problem(
            f"no card of {name} is registered with HAMi", f"See gpu_driver and gpu_capacity, then: {restart}."
        )
        return
    bad = [card for card in cards if not card.health]
    if bad:
        yield Problem(f"{name}: {_unhealthy(bad)}", _LOOK_AT_CARD)
    seen = {card["uuid"]: card for card in (gpus.probed(snapshot, "driver").get(name) or {}).get("cards") or []}
    known = {card.id for card in cards}
    new = [f"{card['index']} ({uuid})" for uuid, card in seen.items() if uuid not in known]
    if new and not any(card.mode == "mig" for card in cards):
        yield Problem(f"{name}: the driver has card {listed(new)}, HAMi does not know it", f"Restart: {restart}.")


def object_checks(expectation: Expectation) -> list[Function]:
    """What can be said of GPU workers without probes; nothing where nobody hands out their cards."""
    registration = {"hami": [check_gpu_registration]}.get(expectation.gpu_sharing, [])
    return [] if expectation.gpu_sharing == "none" else [check_gpu_capacity, *registration]
