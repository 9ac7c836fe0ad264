# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How verify tries a cluster: runs probe pods, asks them, removes them again.

All input and output goes through the client that is handed in.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import time
import typing as t
import uuid

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_probes as probes
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_look import Api, knock
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import (
    is_running,
    pod_reason,
    stuck,
    untouched,
)
from ansible_collections.gshare.cluster.plugins.module_utils._verify_traffic import broken_edges, default_classes
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Json,
    Snapshot,
    Traffic,
    is_ready,
    node_address,
    node_name,
    shorten,
)

_PULL_PATIENCE = 20.0
_LOOK = 5.0
_CLAIM_PATIENCE = 60.0
_ANSWER_PATIENCE = 15.0
_CLEAN_PATIENCE = 45.0
_WORKERS = 16
_PATHS = 6


class Part(t.Protocol):
    """What else is tried in a run: begun early, begun when the cluster has settled, and read at the end."""

    def start(self, run: t.Any, snapshot: Snapshot) -> None: ...
    def begin(self, run: t.Any, snapshot: Snapshot) -> None: ...
    def finish(self, run: t.Any, snapshot: Snapshot) -> None: ...


class Prober:
    """One run of the probe pods in a namespace of its own; they are gone after C(with), whatever happens."""

    def __init__(
        self, api: Api, image: str, timeout: float, owner: str, parts: t.Sequence[Part] = (), partial: bool = False
    ) -> None:
        self.api = api
        self.image = image
        self.timeout = timeout
        self.patience_for_claim = min(timeout, _CLAIM_PATIENCE)
        self.owner = owner
        self.parts = parts
        self.partial = partial
        self.namespace = f"gshare-verify-{uuid.uuid4().hex[:6]}"
        self.path = f"/api/v1/namespaces/{self.namespace}"
        self.traffic = Traffic()
        self._pods: dict[str, str] = {}
        self._tried = False
        self._made: set[str] = set()

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._tried:
            self._clean()
            self._check_volume()

    def start(self, snapshot: Snapshot) -> None:
        """Make what does not exist yet, so that pods can come up while the cluster settles."""
        self._tried = True
        self.make("/api/v1/namespaces", probes.namespace(self.namespace, self.owner))
        self.make(
            f"/apis/apps/v1/namespaces/{self.namespace}/daemonsets", probes.daemonset(self.image, self._where(snapshot))
        )
        if not self.traffic.claim:
            self._start_claim(snapshot)
        for part in self.parts:
            part.start(self, snapshot)

    def _where(self, snapshot: Snapshot) -> list[str]:
        """The nodes that probes are kept to; none if they may run on all."""
        return [node_name(node) for node in snapshot.nodes] if self.partial else []

    def make(self, path: str, body: Json) -> None:
        if path not in self._made:
            self.api.create(path, body)
            self._made.add(path)

    def run(self, snapshot: Snapshot) -> Traffic:
        """Probe the cluster."""
        self.start(snapshot)
        for part in self.parts:
            part.begin(self, snapshot)
        self._services()
        self._wait_for_probes(snapshot)
        self._ask()
        self._find_causes(snapshot)
        for part in self.parts:
            part.finish(self, snapshot)
        self._stop_probes()
        self._finish_claim()
        return self.traffic

    def _services(self) -> None:
        for name, namespace in (("kube-dns", "kube-system"), ("kubernetes", "default")):
            address = ""
            with contextlib.suppress(ApiError):
                address = (
                    self.api.get(f"/api/v1/namespaces/{namespace}/services/{name}").get("spec", {}).get("clusterIP", "")
                )
            setattr(self.traffic, "dns_server" if name == "kube-dns" else "dns_expected", address)

    # -- probe pods

    def _wait_for_probes(self, snapshot: Snapshot) -> None:
        ready = _ready(snapshot.nodes)
        looked = start = time.monotonic()
        while True:
            found = {pod["spec"].get("nodeName"): pod for pod in self.list_pods("probe") if pod["spec"].get("nodeName")}
            waiting = [name for name in ready if not is_running(found.get(name))]
            late = time.monotonic() - start
            self._step_claim()
            vain = waiting and all(stuck(found.get(name)) for name in waiting)
            if not waiting or late > self.timeout or (vain and late > _PULL_PATIENCE):
                break
            time.sleep(0.5)
            if time.monotonic() - looked > _LOOK:
                # A node may have gone away meanwhile: nobody waits for it any longer, and it is told as such.
                known = {node_name(node) for node in snapshot.nodes}
                snapshot.nodes = [node for node in self.api.items("/api/v1/nodes") if node_name(node) in known]
                before, ready, looked = ready, _ready(snapshot.nodes), time.monotonic()
                knock(self.api, snapshot, sorted({*before} - {*ready}))
        for name in ready:
            self.traffic.probes[name] = self._probe(found.get(name))
            if name not in waiting:
                self._pods[name] = found[name]["metadata"]["name"]
        ignored = [name for name in waiting if untouched(found.get(name))]
        knock(self.api, snapshot, ignored)

    def _probe(self, pod: Json | None) -> Json:
        if pod is None:
            return {"address": "", "problem": "the DaemonSet made no pod there", "remedy": "See kubectl get events -A."}
        if is_running(pod):
            return {"address": pod["status"]["podIP"]}
        problem, remedy = self.reason(pod)
        return {"address": "", "problem": problem, "remedy": remedy}

    def reason(self, pod: Json) -> tuple[str, str]:
        """Why a pod of ours does not run. It is gone when people read this, so nobody is sent to look at it."""
        problem, remedy = pod_reason(pod)
        if self.namespace not in remedy:
            return problem, remedy
        told = self._warnings(pod["metadata"]["name"])
        node = pod["spec"].get("nodeName")
        return (
            shorten(told[-1]) if told else problem,
            f"On {node}: journalctl -u kubelet -u containerd." if node else "See kubectl describe nodes.",
        )

    def events(self, name: str) -> list[Json]:
        """The events of one of our objects."""
        return self.api.items(f"{self.path}/events?fieldSelector=involvedObject.name%3D{name}")

    def _warnings(self, name: str) -> list[str]:
        """What they complain about."""
        return [event.get("message", "") for event in self.events(name) if event.get("type") == "Warning"]

    def list_pods(self, app: str) -> list[Json]:
        return self.api.items(f"{self.path}/pods?labelSelector=app%3D{app}")

    def _ask(self) -> None:
        """Have every probe try DNS and its neighbours; what fails may be young and is tried again."""
        nodes = list(self._pods)
        self.traffic.ring = probes.ring(nodes)
        start = time.monotonic()
        rounds = 0
        again = nodes
        while again:
            self.traffic.answers.update(self.parallel(self._ask_one, again))
            rounds += 1
            again = [name for name in nodes if not self._all_well(name)]
            # Only the second round knows for whom a neighbour has to speak.
            if not again or (rounds > 1 and time.monotonic() - start > _ANSWER_PATIENCE):
                return
            time.sleep(1)

    def _ask_one(self, node: str) -> Json:
        peers = [b for a, b in self.traffic.ring if a == node]
        # Where the neighbour's own end cannot be asked, this end tries the path.
        peers += [a for a, b in self.traffic.ring if b == node and self.traffic.answers.get(a, {}).get("error")]
        targets = {name: self.traffic.probes[name]["address"] for name in peers}
        command = probes.script(self.traffic.dns_server, targets)
        try:
            text = self.api.execute(self.namespace, self._pods[node], command, 10.0 + 7.0 * len(targets))
        except ApiError as exc:
            return {"error": exc.message}
        answer = probes.read_answer(text, self.traffic.dns_server)
        return answer if answer["whole"] else {"error": f"the answer broke off: {text[-200:]}"}

    def _all_well(self, node: str) -> bool:
        answer = self.traffic.answers[node]
        if answer.get("error") or (self.traffic.dns_server and self.traffic.dns_expected not in answer["dns"]):
            return False
        missing = [a for a, b in self.traffic.ring if b == node and self.traffic.answers.get(a, {}).get("error")]
        return set(missing) <= set(answer["http"]) and all(body == peer for peer, body in answer["http"].items())

    def parallel(self, function: t.Callable[[str], t.Any], names: list[str]) -> dict[str, t.Any]:
        with concurrent.futures.ThreadPoolExecutor(max_workers=_WORKERS) as pool:
            return dict(zip(names, pool.map(function, names)))

    # -- why a path is broken

    def _find_causes(self, snapshot: Snapshot) -> None:
        broken = broken_edges(self.traffic)[:_PATHS]
        if not broken:
            return
        addresses = {node_name(node): node_address(node) for node in snapshot.nodes}
        hosts = self._host_probes(sorted({node for edge in broken for node in edge}))
        for one, other in broken:
            self.traffic.paths.append({"from": one, "to": other, **self._path(one, other, hosts, addresses)})

    def _host_probes(self, nodes: list[str]) -> dict[str, str]:
        names = {}
        for index, node in enumerate(nodes):
            body = probes.host_probe(self.image, node, index)
            with contextlib.suppress(ApiError):
                names[self.create_pod(body)["metadata"]["name"]] = node
        start = time.monotonic()
        running: dict[str, str] = {}
        while len(running) < len(names) and time.monotonic() - start < _PULL_PATIENCE:
            time.sleep(0.5)
            running = {
                names[pod["metadata"]["name"]]: pod["metadata"]["name"]
                for pod in self.list_pods("host")
                if is_running(pod)
            }
        return running

    def _path(self, one: str, other: str, hosts: dict[str, str], addresses: dict[str, str]) -> Json:
        result: Json = {"ports": []}
        try:
            for a, b in ((one, other), (other, one)):
                targets = [self.api.server, (addresses[b], 10250)]
                open_ports = probes.read_ports(self._on_host(hosts, a, probes.port_script(targets)))
                result["ports"] += [
                    (a, b if port == 10250 else "the API server", port, open_ports.get((address, port), False))
                    for address, port in targets
                ]
            before = [self._counters(hosts, node) for node in (one, other)]
            ping = probes.ping(self.traffic.probes[other]["address"])
            self.api.execute(self.namespace, self._pods[one], ping, 20.0)
            after = [self._counters(hosts, node) for node in (one, other)]
        except ApiError as exc:
            return {**result, "unknown": exc.message}
        result["no_link"] = [node for node, counters in zip((one, other), after) if counters is None]
        here, there = (probes.moved(*pair) or (False, False) for pair in zip(before, after))
        return {**result, "answered": here[0], "sent": here[1], "received": there[0], "returned": there[1]}

    def _counters(self, hosts: dict[str, str], node: str) -> tuple[int, int] | None:
        return probes.read_counters(self._on_host(hosts, node, probes.COUNTERS))

    def _on_host(self, hosts: dict[str, str], node: str, command: str) -> str:
        if node not in hosts:
            raise ApiError(0, f"no probe on the host network of {node}")
        return self.api.execute(self.namespace, hosts[node], command, 20.0)

    # -- storage

    def _start_claim(self, snapshot: Snapshot) -> None:
        names = default_classes(snapshot.storage_classes)
        if not names:
            return
        self.traffic.claim = {"bound": False, "written": False, "gone": False, "problem": ""}
        try:
            self.api.create(f"{self.path}/persistentvolumeclaims", probes.claim(names[0]))
            self.create_pod(probes.claim_pod(self.image, self._where(snapshot)))
        except ApiError as exc:
            self.traffic.claim["problem"] = exc.message

    def create_pod(self, body: Json, query: str = "") -> Json:
        """Make a pod. In a namespace of a moment's age its service account may not be there yet."""
        for _attempt in range(20):
            try:
                return self.api.create(f"{self.path}/pods{query}", body)
            except ApiError as exc:
                if exc.status != 403 or "serviceaccount" not in exc.message:
                    raise
            time.sleep(0.5)
        raise ApiError(403, f"namespace {self.namespace} got no service account")

    def _step_claim(self) -> Json:
        """Remove the claim as soon as its pod has done its work; the volume goes while other checks run."""
        state = self.traffic.claim
        if not state or state["problem"] or state.get("written"):
            return {}
        pod: Json = next(iter(self.list_pods("claim")), {})
        if pod.get("status", {}).get("phase") == "Succeeded":
            volume = self._volume()
            state.update(bound=True, volume=volume, written=True)
            path = f"/api/v1/persistentvolumes/{volume}"
            kept = self.api.get(path).get("spec", {}).get("persistentVolumeReclaimPolicy") != "Delete"
            self.api.delete(f"{self.path}/pods/claim", gracePeriodSeconds=0)
            self.api.delete(f"{self.path}/persistentvolumeclaims/probe")
            if kept:
                # The class keeps volumes on purpose: the object at least is ours to remove.
                self.api.delete(path)
        return pod

    def _volume(self) -> str:
        return self.api.get(f"{self.path}/persistentvolumeclaims/probe").get("spec", {}).get("volumeName", "")

    def _finish_claim(self) -> None:
        state = self.traffic.claim
        start = time.monotonic()
        pod = self._step_claim()
        while state and not state["problem"] and not state["written"]:
            if pod.get("status", {}).get("phase") == "Failed" or time.monotonic() - start > self.patience_for_claim:
                state.update(bound=bool(self._volume()))
                state["problem"], state["remedy"] = self._claim_problem(pod)
                return
            time.sleep(0.5)
            pod = self._step_claim()

    def _check_volume(self) -> None:
        state = self.traffic.claim
        if state.get("written"):
            state["gone"] = self._gone(f"/api/v1/persistentvolumes/{state['volume']}", _CLEAN_PATIENCE)

    def _claim_problem(self, pod: Json) -> tuple[str, str]:
        warnings = self._warnings("probe")
        reason, remedy = self.reason(pod) if pod else ("its pod is gone", "")
        if not pod.get("spec", {}).get("nodeName") or untouched(pod):
            remedy = ""  # it waits for the claim: the provisioner knows more
            if reason == pod.get("status", {}).get("phase"):
                reason = f"there was no answer within {int(self.patience_for_claim)} s"
        ended = [
            entry.get("state", {}).get("terminated") for entry in pod.get("status", {}).get("containerStatuses") or []
        ]
        told = [entry["message"].strip() for entry in ended if entry and entry.get("message")]
        return (warnings or told or [reason])[-1], "" if warnings else remedy

    # -- the end

    def _gone(self, path: str, patience: float) -> bool:
        start = time.monotonic()
        while time.monotonic() - start < patience:
            try:
                self.api.get(path)
            except ApiError as exc:
                if exc.status == 404:
                    return True
            time.sleep(0.3)
        return False

    def _stop_probes(self) -> None:
        self.api.delete(f"/apis/apps/v1/namespaces/{self.namespace}/daemonsets/probe")

    def _clean(self) -> None:
        try:
            # The namespace's own deletion waits seconds for pods; without pods it is quick.
            self._stop_probes()
            self.api.delete(f"{self.path}/pods", gracePeriodSeconds=0)
            self.api.delete(self.path)
            gone = self._gone(self.path, _CLEAN_PATIENCE)
        except ApiError:
            gone = False
        self.traffic.left = "" if gone else f"namespace {self.namespace}"


def sweep(api: Api, alive: t.Callable[[str], bool]) -> list[str]:
    """Remove what runs left behind that were killed."""
    found = api.items("/api/v1/namespaces?labelSelector=" + probes.LABEL.replace("=", "%3D").replace(",", "%2C"))
    names = probes.leftovers(found, time.time(), alive)
    for name in names:
        api.delete(f"/api/v1/namespaces/{name}")
    return names


def _ready(nodes: list[Json]) -> list[str]:
    return [node_name(node) for node in nodes if is_ready(node)]
