# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How verify tries GPUs: makes pods that ask for them, waits for their last words.

All input and output goes through the run of probes that is handed in.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_probes as probes
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import known
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import stuck
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Expectation,
    Json,
    Snapshot,
    condition,
    node_name,
)

_FIRST_PATIENCE = 20.0
# nvidia-smi's own limit in a pod and what starting it takes.
_SMI_PATIENCE = 100.0


class Run(t.Protocol):
    """What is needed of the run of probes that this is a part of."""

    api: t.Any
    path: str
    timeout: float
    traffic: t.Any

    def create_pod(self, body: Json, query: str = "") -> Json: ...
    def list_pods(self, app: str) -> list[Json]: ...
    def reason(self, pod: Json) -> tuple[str, str]: ...
    def events(self, name: str) -> list[Json]: ...
    def parallel(self, function: t.Callable[[str], t.Any], names: list[str]) -> dict[str, t.Any]: ...


class GpuPart:
    """The part of a run that is about GPUs. What comes about is in C(traffic.gpu)."""

    def __init__(self, expectation: Expectation, image: str) -> None:
        self.expectation = expectation
        self.image = image
        self.hami = expectation.gpu_sharing == "hami"
        # Pod -> node.
        self._drivers: dict[str, str] = {}
        self._slices: dict[str, str] = {}
        self._too_big = ""

    def start(self, run: Run, snapshot: Snapshot) -> None:
        """Ask the drivers. This needs no more than the node itself, and nvidia-smi takes its time."""
        found = run.traffic.gpu.setdefault("driver", {})
        for _host, node in gpus.workers(snapshot, self.expectation):
            name = node_name(node)
            if name in self._drivers.values():
                continue
            try:
                made = run.create_pod(probes.driver_pod(self.image, name, len(self._drivers)))
            except ApiError as exc:
                found[name] = {"problem": exc.message}
                continue
            found.pop(name, None)
            self._drivers[made["metadata"]["name"]] = name

    def begin(self, run: Run, snapshot: Snapshot) -> None:
        """Ask for cards, now that the cluster has settled."""
        found = run.traffic.gpu
        if self.expectation.gpu_sharing == "none":
            return
        nodes = {node_name(node): node for _host, node in gpus.workers(snapshot, self.expectation)}
        usable = [name for name, node in nodes.items() if gpus.offered(node)]
        found["slice"] = {}
        if self.hami and nodes:
            found["scheduler"] = self._dry_run(run, next(iter(nodes)))
        busy = run.parallel(lambda name: _busy(run, nodes[name], self.hami), usable)
        for name in usable:
            if busy[name]:
                found["slice"][name] = {"busy": busy[name]}
                continue
            body = probes.slice_pod(self.image, name, len(self._slices), gpus.resource(nodes[name]), self.hami)
            try:
                self._slices[run.create_pod(body)["metadata"]["name"]] = name
            except ApiError as exc:
                found["slice"][name] = {"problem": exc.message}
        if self.hami:
            self._ask_too_much(run, snapshot)

    def _dry_run(self, run: Run, node: str) -> Json:
        body = probes.slice_pod(self.image, node, 0, probes.RESOURCE, True)
        body["metadata"]["name"] = "gpu-dry-run"
        try:
            answer = run.create_pod(body, "?dryRun=All")
        except ApiError as exc:
            return {"problem": exc.message}
        return {"name": answer.get("spec", {}).get("schedulerName", "default-scheduler")}

    def _ask_too_much(self, run: Run, snapshot: Snapshot) -> None:
        most = max((card.memory_mib for node in snapshot.nodes for card in gpus.cards(node)), default=0)
        if not most:
            return
        answer: Json = {"asked": 2 * most}
        run.traffic.gpu["too_big"] = answer
        try:
            self._too_big = run.create_pod(probes.too_big_pod(self.image, 2 * most))["metadata"]["name"]
        except ApiError as exc:
            answer["problem"] = exc.message

    def finish(self, run: Run, snapshot: Snapshot) -> None:
        """Wait for last words and read them."""
        nodes = {node_name(node): node for _host, node in gpus.workers(snapshot, self.expectation)}
        # Pods on a node that has gone away in the meantime would never end.
        self._drivers, self._slices = (
            {pod: node for pod, node in pods.items() if node in nodes} for pods in (self._drivers, self._slices)
        )
        start = time.monotonic()
        limit = max(run.timeout, _SMI_PATIENCE)
        while True:
            late = time.monotonic() - start
            drivers = self._pods(run, "gpu-driver", self._drivers)
            slices = self._pods(run, "gpu-slice", self._slices)
            open_ = [pod for pod in [*drivers.values(), *slices.values()] if not _done(run, pod, late)]
            refused = not self._too_big or self._look_at_too_big(run)
            if late > limit or (not open_ and (refused or late > _FIRST_PATIENCE)):
                break
            time.sleep(0.5)
        for name, node in self._drivers.items():
            answer = _words(run, drivers.get(name))
            if "exit" in answer:
                answer["cards"] = probes.read_cards(answer["text"])
            run.traffic.gpu["driver"][node] = answer
        for name, node in self._slices.items():
            run.traffic.gpu["slice"][node] = self._slice(run, slices.get(name), nodes[node])

    def _pods(self, run: Run, app: str, mine: dict[str, str]) -> dict[str, Json]:
        found = {pod["metadata"]["name"]: pod for pod in run.list_pods(app)} if mine else {}
        return {name: pod for name, pod in found.items() if name in mine}

    def _slice(self, run: Run, pod: Json | None, node: Json) -> Json:
        if pod is not None and _unplaced(pod):
            users = [name for name, _shares, _devices in _users(run, node)]
            if users and all("memory" in text.lower() or "insufficient" in text.lower() for text in _said(run, pod)):
                return {"busy": users}
            return {"problem": "; ".join(_said(run, pod)[:2]) or run.reason(pod)[0], "remedy": _SCHEDULER_LOG}
        answer = _words(run, pod)
        if "exit" in answer:
            answer["cards"] = probes.count_listed(answer["text"])
            answer["limit"] = answer["environment"].get("CUDA_DEVICE_MEMORY_LIMIT_0", "")
        return answer

    def _look_at_too_big(self, run: Run) -> bool:
        """Whether it is known what became of the pod that asks for too much."""
        answer = run.traffic.gpu["too_big"]
        pod: Json = next(iter(run.list_pods("gpu-too-big")), {})
        placed = pod.get("spec", {}).get("nodeName", "")
        answer.update(placed=placed, reasons=probes.reasons(run.events(self._too_big)))
        return bool(placed) or any(probes.TOO_LITTLE in text for text in answer["reasons"])


_SCHEDULER_LOG = "See kubectl -n kube-system logs deployment/hami-scheduler --all-containers, and gpu_registration."


def _users(run: Run, node: Json) -> list[tuple[str, int, list[tuple[str, int, int]]]]:
    pods = run.api.items(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node_name(node)}")
    own = run.path.rsplit("/", 1)[1]
    return probes.devices_in_use([pod for pod in pods if pod["metadata"]["namespace"] != own], gpus.resource(node))


def _busy(run: Run, node: Json, hami: bool) -> list[str]:
    """The pods that leave no room on a node's cards; none if there is room. No pod of ours has to compete with them."""
    try:
        users = _users(run, node)
    except ApiError:
        return []
    names = [name for name, _shares, _devices in users]
    if sum(shares for _name, shares, _devices in users) >= gpus.offered(node):
        return names
    devices = [device for _name, _shares, found in users for device in found]
    if hami and devices and not any(_room(card, devices) for card in gpus.cards(node)):
        return names
    return []


def _room(card: t.Any, devices: list[tuple[str, int, int]]) -> bool:
    mine = [(memory, cores) for name, memory, cores in devices if name == card.id]
    memory, cores = sum(entry[0] for entry in mine), sum(entry[1] for entry in mine)
    return len(mine) < card.count and memory + probes.SLICE_MIB <= card.memory_mib and cores < 100


def _done(run: Run, pod: Json, late: float) -> bool:
    """Whether a pod has ended, or waits for something that does not come by waiting."""
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return True
    if late <= _FIRST_PATIENCE or pod.get("status", {}).get("phase") == "Running":
        return False
    if _unplaced(pod) or stuck(pod):
        return True
    return any(known(event.get("message", "")) for event in run.events(pod["metadata"]["name"]))


def _unplaced(pod: Json) -> bool:
    return not pod["spec"].get("nodeName") or condition(pod, "PodScheduled").get("status") == "False"


def _said(run: Run, pod: Json) -> list[str]:
    return probes.reasons(run.events(pod["metadata"]["name"]))


def _words(run: Run, pod: Json | None) -> Json:
    if pod is None:
        return {"problem": "the pod was removed by somebody else", "remedy": "Run verify again."}
    phase = pod.get("status", {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        return probes.last_words(pod)
    if phase == "Running":
        return {"exit": 124, "text": "", "environment": {}}
    problem, remedy = run.reason(pod)
    return {"problem": problem, "remedy": remedy}
