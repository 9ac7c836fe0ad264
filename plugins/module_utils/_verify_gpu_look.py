# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How verify looks at what makes GPUs usable: device plugins, their last words, HAMi's lease, RuntimeClasses.

All input and output goes through the client that is handed in.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils._hami import SCHEDULER
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu import object_checks
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import known
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    FAILED,
    Expectation,
    Gpu,
    Json,
    Snapshot,
    condition,
    is_ready,
    node_name,
    seconds,
)

# What a kubelet says of its start. Until it looks after its pods they are shown as they were before.
_KUBELETS = "involvedObject.kind%3DNode%2Creason%3DStarting"
# A plugin that has just started registers its cards, and the kubelet offers them, in less than that.
_START = 60.0
_LOGS = 6


class Api(t.Protocol):
    """What is needed of the client."""

    def request(self, method: str, path: str) -> tuple[int, str]: ...
    def get(self, path: str) -> Json: ...
    def items(self, path: str) -> list[Json]: ...


def look_gpu(api: Api, expectation: Expectation) -> Gpu:
    """The objects beside the nodes that the checks of GPU workers need."""
    found = Gpu()
    found.runtime_classes = [item["metadata"]["name"] for item in api.items("/apis/node.k8s.io/v1/runtimeclasses")]
    found.started = _starts(api.items(f"/api/v1/namespaces/default/events?fieldSelector={_KUBELETS}"))
    found.plugins = [item for item in api.items("/apis/apps/v1/daemonsets") if gpus.plugin_kind(item)]
    for namespace in sorted({item["metadata"]["namespace"] for item in found.plugins}):
        found.pods += api.items(f"/api/v1/namespaces/{namespace}/pods")
    if expectation.gpu_sharing == "hami":
        try:
            found.lease = api.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{SCHEDULER}")
        except ApiError as exc:
            if exc.status != 404:
                raise
    return found


def gpu_settling(snapshot: Snapshot, expectation: Expectation, patience: float) -> bool:
    """Whether cards are not offered yet and a device plugin is young enough to be waited for."""
    if not gpus.has_workers(expectation):
        return False
    young = snapshot.now - min(patience, _START)
    if not any(check(snapshot, expectation).status == FAILED for check in object_checks(expectation)):
        return False
    nodes = [node for _host, node in gpus.workers(snapshot, expectation)]
    names = {node_name(node) for node in nodes}
    items = [pod for pod in snapshot.gpu.pods if pod["spec"].get("nodeName") in names and _owned(snapshot, pod)]
    starts = [snapshot.gpu.started.get(name, 0) for name in names]
    return any(moment > young for moment in [*map(_changed, items + snapshot.gpu.plugins + nodes), *starts])


def _starts(events: list[Json]) -> dict[str, float]:
    """node -> when its kubelet or kube-proxy last started."""
    found: dict[str, float] = {}
    for event in events:
        name = event["involvedObject"]["name"]
        moment = event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp")
        found[name] = max(found.get(name, 0), seconds(moment))
    return found


def _owned(snapshot: Snapshot, pod: Json) -> bool:
    owners = {owner.get("name") for owner in pod["metadata"].get("ownerReferences") or []}
    return bool(owners & {item["metadata"]["name"] for item in snapshot.gpu.plugins})


def _changed(item: Json) -> float:
    ready = seconds(condition(item, "Ready").get("lastTransitionTime"))
    states = [entry.get("state") or {} for entry in item.get("status", {}).get("containerStatuses") or []]
    starts = [seconds((state.get("running") or {}).get("startedAt")) for state in states]
    return max(ready, seconds(item["metadata"].get("creationTimestamp")), *starts)


def look_logs(api: Api, snapshot: Snapshot, expectation: Expectation) -> None:
    """What the device plugin said on nodes that offer nothing, as far as it means something."""
    silent = [node for _host, node in gpus.workers(snapshot, expectation) if not gpus.offered(node)]
    for node in silent[:_LOGS]:
        for daemonset in gpus.plugins(snapshot, expectation.gpu_sharing):
            pod = gpus.plugin_pod(snapshot, daemonset, node)
            if pod:
                snapshot.gpu.logs[node_name(node)] = _telling(_log(api, pod))


def _log(api: Api, pod: Json) -> str:
    meta = pod["metadata"]
    names = [entry["name"] for entry in pod["spec"].get("containers") or [] if "device-plugin" in entry["name"]]
    query = "&".join([f"container={name}" for name in names[:1]] + ["tailLines=60"])
    if not is_ready(pod):
        query += "&previous=true"
    try:
        status, text = api.request("GET", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log?{query}")
    except ApiError:
        return ""
    return text if status == 200 else ""


def _telling(text: str) -> str:
    """The last line that means something."""
    return next((line for line in reversed(text.splitlines()) if known(line)), "")
