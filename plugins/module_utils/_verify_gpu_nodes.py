# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The GPU workers of a cluster as the API shows them: who is one, what is offered, which device plugin runs where.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _hami as hami
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_probes import RESOURCE
from ansible_collections.gshare.cluster.plugins.module_utils._verify_nodes import matched
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Expectation,
    Json,
    Snapshot,
    is_ready,
    labels,
    metadata_annotations,
    node_name,
)

_SHARED = f"{RESOURCE}.shared"
PLUGINS = {"hami": "HAMi's device plugin", "nvidia": "NVIDIA's device plugin"}


def is_gpu(host: Json) -> bool:
    """Whether a machine of the inventory is a GPU worker."""
    return (host.get("labels") or {}).get("gpu") == "on"


def has_workers(expectation: Expectation) -> bool:
    return any(is_gpu(host) for host in expectation.hosts)


def workers(snapshot: Snapshot, expectation: Expectation) -> list[tuple[Json, Json]]:
    """The GPU workers of the inventory that are nodes and Ready; of others the check of nodes tells."""
    return [(host, node) for host, node in matched(snapshot, expectation) if node and is_gpu(host) and is_ready(node)]


def exclusive(host: Json) -> bool:
    """Whether the cards of a machine are handed out whole."""
    return (host.get("labels") or {}).get("gshare.io/gpu-mode") == "exclusive"


def resource(node: Json) -> str:
    """The resource by which a node offers its cards; NVIDIA's plugin may rename it when cards are shared."""
    return _SHARED if _SHARED in _allocatable(node) else RESOURCE


def offered(node: Json) -> int:
    """How many shares of its cards a node offers."""
    return _number(_allocatable(node).get(resource(node), "0"))


def parts(node: Json) -> dict[str, int]:
    """MIG parts that a node offers under names of their own."""
    found = {name: _number(value) for name, value in _allocatable(node).items() if name.startswith("nvidia.com/mig-")}
    return {name: count for name, count in found.items() if count}


def _allocatable(node: Json) -> Json:
    return node.get("status", {}).get("allocatable") or {}


def _number(value: t.Any) -> int:
    return int(value) if str(value).isdigit() else 0


def cards(node: Json) -> list[hami.Card]:
    """The cards that HAMi registered on a node; none where the annotation is missing or cannot be read."""
    try:
        return hami.registered(metadata_annotations(node).get(hami.REGISTER, ""))
    except ValueError:
        return []


def wanted(snapshot: Snapshot, expectation: Expectation, host: Json, node: Json) -> tuple[int, str]:
    """How many shares a node should offer, and how that comes about; 0 if nobody knows how many cards it has."""
    seen = len(_driver(snapshot, node).get("cards") or [])
    if expectation.gpu_sharing == "hami":
        known = cards(node)
        split = 1 if exclusive(host) else expectation.gpu_split or max((card.count for card in known), default=0)
        # A card in MIG mode is shared by its parts, whatever the split is.
        parted = [card.count for card in known if card.mode == "mig"]
        whole = len(known or _driver(snapshot, node).get("cards") or []) - len(parted)
        note = f" and {sum(parted)} MIG parts" if parted else ""
        return whole * split + sum(parted), f"{_cards(whole)} x {split}{note}"
    marks = labels(node)
    count = seen or _number(marks.get("nvidia.com/gpu.count", "0"))
    if marks.get("nvidia.com/mig.strategy") in ("single", "mixed"):
        count = _number(marks.get("nvidia.com/gpu.count", "0"))
    split = 1 if exclusive(host) else expectation.gpu_split or _number(marks.get("nvidia.com/gpu.replicas", "1")) or 1
    return count * split, f"{_cards(count)} x {split}"


def _cards(count: int) -> str:
    return f"{count} card{'' if count == 1 else 's'}"


def probed(snapshot: Snapshot, part: str) -> Json:
    """What the probes of GPUs found in one of their parts; empty where nothing was tried."""
    found = snapshot.traffic.gpu if snapshot.traffic else {}
    return found.get(part) or {}


def _driver(snapshot: Snapshot, node: Json) -> Json:
    return probed(snapshot, "driver").get(node_name(node)) or {}


def summary(snapshot: Snapshot, expectation: Expectation, host: Json | None, node: Json) -> str:
    """A GPU worker in a few words, for tables; empty for other nodes."""
    if not host or not is_gpu(host):
        return ""
    found = _driver(snapshot, node).get("cards") or []
    driver = f"{found[0]['driver']}, " if found else ""
    shares, how = wanted(snapshot, expectation, host, node)
    return f"{driver}{how}" if shares else driver.rstrip(", ")


# -- device plugins


def plugin_kind(daemonset: Json) -> str:
    """Whose device plugin a DaemonSet is: hami, nvidia, or nothing if it is none."""
    name = daemonset["metadata"]["name"]
    for container in _template(daemonset).get("containers") or []:
        if "device-plugin" not in container.get("name", "") or "mock" in name:
            continue
        text = f"{name} {container.get('image', '')}"
        if "hami" in text:
            return "hami"
        if "nvidia" in text or "k8s-device-plugin" in text:
            return "nvidia"
    return ""


def _template(daemonset: Json) -> Json:
    return daemonset.get("spec", {}).get("template", {}).get("spec") or {}


def runtime_class(daemonset: Json) -> str:
    return _template(daemonset).get("runtimeClassName") or ""


def full_name(item: Json) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def plugins(snapshot: Snapshot, kind: str) -> list[Json]:
    return [item for item in snapshot.gpu.plugins if plugin_kind(item) == kind]


def plugin_pod(snapshot: Snapshot, daemonset: Json, node: Json) -> Json | None:
    """The pod of a DaemonSet on a node."""
    for item in snapshot.gpu.pods:
        owners = [owner.get("name") for owner in item["metadata"].get("ownerReferences") or []]
        same = item["metadata"]["namespace"] == daemonset["metadata"]["namespace"]
        if same and daemonset["metadata"]["name"] in owners and item["spec"].get("nodeName") == node_name(node):
            return item
    return None


def lacking(daemonset: Json, node: Json) -> list[str]:
    """What a node lacks of the labels by which a DaemonSet picks its nodes; nothing if it is picked."""
    have = labels(node)
    template = _template(daemonset)
    chosen = template.get("nodeSelector") or {}
    missing = [f"{key}={value}" for key, value in chosen.items() if have.get(key) != value]
    affinity = (template.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    unmet = [[_text(rule) for rule in term.get("matchExpressions") or [] if not _fits(rule, have)] for term in terms]
    if unmet and all(unmet):
        missing.append(" or ".join(dict.fromkeys(" and ".join(rules) for rules in unmet)))
    return missing


def _fits(rule: Json, have: Json) -> bool:
    key, values = rule["key"], rule.get("values") or []
    answers = {
        "In": have.get(key) in values,
        "NotIn": have.get(key) not in values,
        "Exists": key in have,
        "DoesNotExist": key not in have,
    }
    return answers.get(rule.get("operator", ""), True)


def _text(rule: Json) -> str:
    values = "|".join(rule.get("values") or [])
    return {"In": f"{rule['key']}={values}", "NotIn": f"{rule['key']} not {values}", "Exists": rule["key"]}.get(
        rule.get("operator", ""), f"no {rule['key']}"
    )
