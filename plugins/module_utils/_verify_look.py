# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How verify looks at a cluster: reads the API until what is on its way has arrived.

All input and output goes through the client that is handed in.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_look import gpu_settling, look_gpu, look_logs
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_nodes import has_workers
from ansible_collections.gshare.cluster.plugins.module_utils._verify_nodes import matched
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import settling
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Expectation,
    Json,
    Snapshot,
    condition,
    is_ready,
    node_address,
    node_name,
    seconds,
)

_API_PATIENCE = 30.0
_SILENT = 6
# Kubelets renew their leases every 10 s; 40 s later the node counts as away.
_RENEWAL = 15.0


class Api(t.Protocol):
    """What is needed of the client."""

    @property
    def server(self) -> tuple[str, int]: ...
    def reaches(self, address: str, port: int) -> bool: ...
    def http(self, address: str, port: int, host: str) -> tuple[int, str]: ...
    def request(self, method: str, path: str) -> tuple[int, str]: ...
    def get(self, path: str) -> Json: ...
    def items(self, path: str) -> list[Json]: ...
    def create(self, path: str, body: Json) -> Json: ...
    def delete(self, path: str, **options: t.Any) -> None: ...
    def execute(self, namespace: str, pod: str, command: str, timeout: float = 30.0) -> str: ...


def workloads(api: Api, namespace: str) -> list[Json]:
    """What keeps pods running in a namespace; lists leave the kind out, so it is put back."""
    found = []
    for kind in ("DaemonSet", "Deployment"):
        items = api.items(f"/apis/apps/v1/namespaces/{namespace}/{kind.lower()}s")
        found += [{**item, "kind": kind} for item in items]
    return found


def look(api: Api, expectation: Expectation) -> Snapshot:
    """The objects that the checks need, as they are now."""
    snapshot = Snapshot(now=time.time(), server=api.server)
    try:
        status, text = api.request("GET", "/readyz?verbose")
        snapshot.ready = {"status": status, "text": text}
        snapshot.version = api.get("/version").get("gitVersion", "")
        snapshot.nodes = api.items("/api/v1/nodes")
        for lease in api.items("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"):
            snapshot.heard[lease["metadata"]["name"]] = seconds(lease.get("spec", {}).get("renewTime"))
        for namespace in expectation.namespaces:
            snapshot.pods += api.items(f"/api/v1/namespaces/{namespace}/pods")
            snapshot.workloads += workloads(api, namespace)
        snapshot.storage_classes = api.items("/apis/storage.k8s.io/v1/storageclasses")
        if has_workers(expectation):
            snapshot.gpu = look_gpu(api, expectation)
        if expectation.partial:
            _narrow(snapshot, expectation)
    except ApiError as exc:
        # Half an answer is no picture of a cluster.
        return Snapshot(now=snapshot.now, ready={"status": exc.status or None, "text": exc.message})
    return snapshot


def _narrow(snapshot: Snapshot, expectation: Expectation) -> None:
    """Leave out nodes that are not asked about, with their pods, and what has pods everywhere."""
    snapshot.nodes = [node for _host, node in matched(snapshot, expectation) if node]
    names = {node_name(node) for node in snapshot.nodes}
    snapshot.pods = [pod for pod in snapshot.pods if pod["spec"].get("nodeName") in names]
    snapshot.workloads = []


def settled(api: Api, expectation: Expectation, timeout: float, snapshot: Snapshot) -> Snapshot:
    """The objects, after roll-outs that are on their way have had their time. C(snapshot) is a first look."""
    start = time.monotonic()
    first = snapshot
    while True:
        patience = timeout
        if snapshot.ready.get("status") != 200:
            patience = min(timeout, _API_PATIENCE)
        elif not any(
            (
                quiet(snapshot, first),
                settling(snapshot, expectation, timeout),
                gpu_settling(snapshot, expectation, timeout),
            )
        ):
            break
        if time.monotonic() - start >= patience:
            break
        time.sleep(1)
        snapshot = look(api, expectation)
    silent = [node_name(node) for node in snapshot.nodes if condition(node, "Ready").get("status") == "Unknown"]
    knock(api, snapshot, silent)
    look_logs(api, snapshot, expectation)
    return snapshot


def quiet(snapshot: Snapshot, first: Snapshot) -> bool:
    """Whether a node counts as Ready whose kubelet has said nothing lately: it may boot, or be dead for some seconds.

    A clock that is behind looks the same until the next word, so what has changed since the first look counts as heard.
    """
    return any(
        is_ready(node)
        and 0 < snapshot.heard.get(node_name(node), 0) < snapshot.now - _RENEWAL
        and snapshot.heard[node_name(node)] == first.heard.get(node_name(node))
        for node in snapshot.nodes
    )


def knock(api: Api, snapshot: Snapshot, silent: list[str]) -> None:
    """Find out whether kubelets listen that tell the API server nothing.

    What they would answer is of no use: they ask the API server whether they may.
    """
    addresses = {node_name(node): node_address(node) for node in snapshot.nodes}
    for name in silent[:_SILENT]:
        snapshot.kubelets[name] = api.reaches(addresses[name], 10250)
