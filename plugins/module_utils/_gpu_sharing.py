# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who hands out the cards: what has to go first, what stands against it, what is lacking afterwards.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_pods import kept
from ansible_collections.gshare.cluster.plugins.module_utils._node_labels import by_address
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu import object_checks
from ansible_collections.gshare.cluster.plugins.module_utils._verify_nodes import matched
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    FAILED,
    Expectation,
    Json,
    Problem,
    Snapshot,
    condition,
    is_ready,
    labels,
    metadata_annotations,
    node_name,
)

RELEASES = {"hami": "hami", "nvidia": "nvidia-device-plugin"}
_HAMI = "hami.io/"
# What GPU feature discovery says of a node, and what we say to the device plugin.
_NVIDIA = re.compile(
    r"nvidia\.com/((gpu|cuda|mig|vgpu|mps|gfd|sharing)\.[\w.-]+|device-plugin\.config)$"
    r"|feature\.node\.kubernetes\.io/pci-10de\."
)


@dataclasses.dataclass
class Found:
    """What the cluster has: names of helm's releases, DaemonSets, nodes, pods."""

    releases: list[str]
    daemonsets: list[Json] = dataclasses.field(default_factory=list)
    nodes: list[Json] = dataclasses.field(default_factory=list)
    pods: list[Json] = dataclasses.field(default_factory=list)


def to_remove(found: Found, kind: str) -> list[str]:
    """Who has to go before the chosen one comes; also where only leftovers are there."""
    return [other for other in RELEASES if other != kind and kind != "none" and _there(found, other)] + (
        [other for other in RELEASES if _released(found, other)] if kind == "none" else []
    )


def _released(found: Found, kind: str) -> bool:
    return RELEASES[kind] in found.releases


def _there(found: Found, kind: str) -> bool:
    if _released(found, kind):
        return True
    if kind == "nvidia" and any("gpu-feature-discovery" in item["metadata"]["name"] for item in found.daemonsets):
        return False  # somebody else's still says it
    return any(leftovers(node, kind) for node in found.nodes)


def leftovers(node: Json, kind: str) -> Json:
    """What has to be taken off a node, as a merge patch of its metadata; empty for nothing."""
    if kind == "hami":
        keys = [key for key in metadata_annotations(node) if key.startswith(_HAMI)]
        return {"annotations": dict.fromkeys(keys)} if keys else {}
    keys = [key for key in labels(node) if _NVIDIA.match(key)]
    return {"labels": dict.fromkeys(keys)} if keys else {}


def foreign(found: Found, kind: str) -> list[Json]:
    """Device plugins that no release of ours has brought."""
    plugins = [item for item in found.daemonsets if gpus.plugin_kind(item)]
    return [item for item in plugins if _release(item) not in RELEASES.values() and kind != "none"]


def _release(item: Json) -> str:
    return str(metadata_annotations(item).get("meta.helm.sh/release-name", ""))


def refusals(found: Found, kind: str, workers: t.Sequence[Json]) -> list[str]:
    """Why the chosen one cannot come, a sentence each."""
    told = []
    for item in foreign(found, kind):
        full = gpus.full_name(item)
        told.append(
            f"{gpus.PLUGINS[gpus.plugin_kind(item)]} (DaemonSet {full}) is there already, and both would claim "
            f"nvidia.com/gpu: remove it (kubectl -n {full.replace('/', ' delete daemonset ')}), or set "
            "gshare_gpu_sharing=none."
        )
    going = [other for other in to_remove(found, kind) if _released(found, other)]
    users = kept(found.pods, found.nodes, workers) if going else []
    if users:
        names = " and ".join(gpus.PLUGINS[other] for other in going)
        more = f" and {len(users) - 4} more" if len(users) > 4 else ""
        told.append(
            f"{names} is not replaced while GPU pods run ({'; '.join(users[:4])}{more}): end them, or run again with "
            "-e gshare_disrupt=HOST for their machines."
        )
    return told


def names(nodes: t.Sequence[Json], workers: t.Iterable[Json]) -> dict[str, str]:
    """The nodes' names by the address in the inventory."""
    wanted = {worker["address"] for worker in workers}
    return {address: node_name(node) for address, node in by_address(nodes).items() if address in wanted}


def image_tag(version: str) -> str:
    """The tag of upstream's images: v1.36.2+k3s1 and v1.36.0-eks-2d5f260 have those of the version alone."""
    hit = re.match(r"v\d+\.\d+\.\d+", version)
    return hit.group() if hit else version


def lacking(snapshot: Snapshot, wanted: Expectation) -> list[Problem]:
    """What stands between the cards and the pods, as far as waiting may help or a person has to know."""
    problems = []
    ready = {host["host"] for host, _node in gpus.workers(snapshot, wanted)}
    coming = [host["host"] for host, node in matched(snapshot, wanted) if node and _coming(node)]
    if coming:
        problems.append(Problem(f"{', '.join(coming)} is not Ready in the cluster", "See kubectl get nodes."))
    checks = [check(snapshot, wanted) for check in object_checks(wanted)]
    problems += [Problem(check.detail, check.remedy) for check in checks if check.status == FAILED]
    for item in gpus.plugins(snapshot, wanted.gpu_sharing):
        problems += _zero(item, len(ready))
    away = {node_name(node) for node in snapshot.nodes if not is_ready(node) and not _coming(node)}
    problems += [
        Problem(f"pod {gpus.full_name(pod)} is not ready", f"See kubectl -n {pod['metadata']['namespace']} get pods.")
        for pod in snapshot.gpu.pods
        if _ours(pod, wanted.gpu_sharing)
        and not is_ready(pod)
        and pod["spec"].get("nodeName") not in away
        and not problems
    ]
    return problems


def _coming(node: Json) -> bool:
    """Whether a node is worth waiting for; of one that says nothing, `verify` tells."""
    return not is_ready(node) and condition(node, "Ready").get("status") != "Unknown"


def _zero(item: Json, workers: int) -> list[Problem]:
    """A DaemonSet that wants fewer pods than there are GPU workers is not ready, however many of them run."""
    desired = item.get("status", {}).get("desiredNumberScheduled", 0)
    if desired >= workers:
        return []
    text = f"DaemonSet {gpus.full_name(item)} wants a pod on {desired} nodes, there are {workers} GPU workers"
    return [Problem(text, "Compare its node selector and affinity with the labels of the nodes (gpu=on).")]


def _ours(pod: Json, kind: str) -> bool:
    name = pod["metadata"]["name"]
    done = pod.get("status", {}).get("phase") in ("Succeeded", "Failed") or pod["metadata"].get("deletionTimestamp")
    return name.startswith(f"{RELEASES.get(kind, '-')}-") and not done
