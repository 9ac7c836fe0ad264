# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks of the registry on the LAN: every node pulls from it and, for Docker Hub, through its mirror.

Pods pull, because the kubelet does it through the CRI; other clients read other settings and prove nothing.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_probes as probes
from ansible_collections.gshare.cluster.plugins.module_utils._image_name import HUB, parse
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import (
    Registry,
    RegistryError,
    small_image,
)
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import stuck
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    is_ready,
    listed,
    node_addresses,
    node_name,
    shorten,
    skipped,
    verdict,
)

_REPOSITORY = "gshare-verify/probe"
_PATIENCE = 40.0
_REMEDY = "ansible-playbook gshare.cluster.registry"


class Run(t.Protocol):
    """What is needed of the run of probes that this is a part of."""

    api: t.Any
    namespace: str
    image: str
    timeout: float
    traffic: t.Any

    def create_pod(self, body: Json, query: str = "") -> Json: ...
    def list_pods(self, app: str) -> list[Json]: ...
    def reason(self, pod: Json) -> tuple[str, str]: ...


class RegistryPart:
    """The part of a run that pulls from the registry and its mirror. What comes about is in C(traffic.registry)."""

    def __init__(self, expectation: Expectation) -> None:
        self.expectation = expectation
        # Kind of pod (registry, mirror) -> pod -> node.
        self._pods: dict[str, dict[str, str]] = {"registry": {}, "mirror": {}}
        self._manifest = ""
        self._begun = 0.0

    def start(self, run: Run, snapshot: Snapshot) -> None:
        """Nothing early: the registry may be one of the pods that still come up."""

    def begin(self, run: Run, snapshot: Snapshot) -> None:
        """Push an image and have every node pull it."""
        wanted, found = self.expectation.registry, run.traffic.registry
        self._begun = time.monotonic()
        ready = [node for node in snapshot.nodes if is_ready(node)]
        if wanted.get("address"):
            found["pushed"] = self._push(run, ready)
            if not found["pushed"]:
                image = f"{wanted['address']}/{_REPOSITORY}:{_tag(run)}"
                self._make(run, "registry", image, ready)
        if wanted.get("mirror") and _hub_repository(run.image):
            self._make(run, "mirror", run.image, ready)

    def _push(self, run: Run, ready: list[Json]) -> str:
        """Why it could not be pushed; nothing if it could."""
        info = ready[0]["status"]["nodeInfo"] if ready else {}
        image = small_image(run.namespace, info.get("architecture", "amd64"))
        try:
            self._manifest = self._registry("address").push(_REPOSITORY, _tag(run), image)
        except RegistryError as exc:
            return str(exc)
        return ""

    def _registry(self, key: str) -> Registry:
        wanted = self.expectation.registry
        user = (wanted.get("username") or "", wanted.get("password") or "") if key == "address" else ()
        return Registry(wanted[key], bool(wanted.get("tls")), wanted.get("ca") or "", *user)

    def _make(self, run: Run, kind: str, image: str, ready: list[Json]) -> None:
        found = run.traffic.registry.setdefault(kind, {})
        for number, node in enumerate(ready):
            name = node_name(node)
            body = probes.pod(f"{kind}-{number}", kind, image, "true", nodeName=name)
            # Only a pull that asks shows whom the node asks.
            body["spec"]["containers"][0]["imagePullPolicy"] = "Always"
            try:
                self._pods[kind][run.create_pod(body)["metadata"]["name"]] = name
            except ApiError as exc:
                found[name] = {"problem": exc.message}

    def finish(self, run: Run, snapshot: Snapshot) -> None:
        """Wait for the pulls, read what the mirror has seen, and take the image away."""
        found = run.traffic.registry
        limit = max(run.timeout, _PATIENCE)
        ready = {node_name(node) for node in snapshot.nodes if is_ready(node)}
        open_ = {kind: {pod: on for pod, on in pods.items() if on in ready} for kind, pods in self._pods.items()}
        while any(open_.values()):
            late = time.monotonic() - self._begun
            for kind, pods in open_.items():
                listed_ = {pod["metadata"]["name"]: pod for pod in run.list_pods(kind)} if pods else {}
                for name in [*pods]:
                    answer = _answer(run, listed_.get(name), late, limit)
                    if answer is not None:
                        found[kind][pods.pop(name)] = answer
            if any(open_.values()):
                time.sleep(0.5)
        if self._pods["mirror"]:
            found["seen"] = self._seen(run)
        if self._manifest:
            with contextlib.suppress(RegistryError):
                self._registry("address").delete(_REPOSITORY, self._manifest)

    def _seen(self, run: Run) -> Json:
        """Who asked the mirror for the image: {from: addresses} of its log, {catalog: bool}, or {problem}."""
        repository = _hub_repository(run.image)
        namespace = self.expectation.registry.get("namespace", "")
        try:
            path = f"/api/v1/namespaces/{namespace}/pods"
            pods = run.api.items(f"{path}?labelSelector=app.kubernetes.io%2Finstance%3Dmirror-docker-io")
            since = int(time.monotonic() - self._begun) + 5
            logs = [
                run.api.request("GET", f"{path}/{pod['metadata']['name']}/log?sinceSeconds={since}") for pod in pods
            ]
            if any(status == 200 for status, _text in logs):
                return {"from": sorted({who for _status, text in logs for who in callers(text, repository)})}
        except ApiError as exc:
            return {"problem": exc.message}
        try:
            return {"catalog": repository in self._registry("mirror").repositories()}
        except RegistryError as exc:
            return {"problem": str(exc)}


def _hub_repository(image: str) -> str:
    """The repository of an image of Docker Hub, as its registry has it; empty for other images."""
    name = parse(image)
    return name.repository if name and name.host == HUB else ""


def _tag(run: Run) -> str:
    """One for this run. Not the namespace itself: reasons that name that one lead to what will be gone."""
    return run.namespace.rpartition("-")[2]


def callers(log: str, repository: str) -> set[str]:
    """The addresses that asked for a manifest of a repository, out of a registry's access log."""
    line = re.compile(rf'(?m)^(\S+) \S+ \S+ \[[^]]*\] "(?:GET|HEAD) /v2/{re.escape(repository)}/manifests/')
    return {who for who in line.findall(log) if _is_address(who)}


def _is_address(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(text))
    return False


def _answer(run: Run, pod: Json | None, late: float, limit: float) -> Json | None:
    """What became of a pull; None while nobody knows."""
    statuses = (pod or {}).get("status", {}).get("containerStatuses") or [{}]
    if statuses[0].get("imageID"):
        return {"pulled": True}
    if pod is not None and (late > limit or (stuck(pod) and late > _PATIENCE / 2)):
        problem, _remedy = run.reason(pod)
        return {"problem": problem}
    return {"problem": "its probe pod is gone"} if pod is None and late > limit else None


def check_registry(snapshot: Snapshot, expectation: Expectation) -> Check:
    """An image that was pushed to the registry is pulled by the kubelet of every node."""
    found: Json = snapshot.traffic.registry if snapshot.traffic else {}
    address = expectation.registry["address"]
    if found.get("pushed"):
        why = found["pushed"]
        if re.search(r": (401|403|405) ", why):
            return skipped("registry", f"{address} lets nobody push without an account: {why}")
        text = f"no image can be pushed to {address}: {shorten(why, 200)}"
        remedy = f"See kubectl -n {expectation.registry.get('namespace', '')} get pods; {_REMEDY}."
        return verdict("registry", [Problem(text, remedy)], "")
    nodes: Json = found.get("registry") or {}
    if not nodes:
        return skipped("registry", "no node is Ready, see nodes")
    problems = list(_failed(nodes, f"an image of {address}"))
    return verdict("registry", problems, f"an image pushed to {address} was pulled by {len(nodes)} nodes")


def check_registry_mirror(snapshot: Snapshot, expectation: Expectation) -> Check:
    """What nodes pull from Docker Hub comes through the mirror."""
    found: Json = snapshot.traffic.registry if snapshot.traffic else {}
    mirror = expectation.registry["mirror"]
    nodes: Json = found.get("mirror") or {}
    if not nodes:
        return skipped("registry_mirror", "the probe image is not one of Docker Hub, or no node is Ready")
    problems = list(_failed(nodes, "an image of Docker Hub"))
    seen = found.get("seen") or {}
    if seen.get("problem") or seen.get("catalog") is False:
        why = seen.get("problem") or "its catalog does not have the image"
        text = f"whether pulls went through {mirror} cannot be seen: {shorten(why, 200)}"
        problems.append(Problem(text, f"See that {mirror} answers; then {_REMEDY}."))
    elif "from" in seen:
        asked = [ipaddress.ip_address(who) for who in seen["from"]]
        pulled = [node for node in snapshot.nodes if nodes.get(node_name(node), {}).get("pulled")]
        past = [node_name(node) for node in pulled if not any(_of(node, who) for who in asked)]
        if past:
            text = f"{listed(past)} pulled an image of Docker Hub past the mirror {mirror}"
            remedy = f"Let the port of {mirror} pass from there, and see certs.d/docker.io/hosts.toml: {_REMEDY}."
            problems.append(Problem(text, remedy))
    how = "as its log says" if "from" in seen else "as its catalog says"
    return verdict("registry_mirror", problems, f"{len(nodes)} nodes pulled through {mirror}, {how}")


def _of(node: Json, who: t.Any) -> bool:
    """Whether a caller is a node; one that calls itself does so from its end of the pod network."""
    ranges = [ipaddress.ip_network(text) for text in node["spec"].get("podCIDRs") or []]
    return str(who) in node_addresses(node) or any(who in one for one in ranges if one.version == who.version)


def _failed(nodes: Json, what: str) -> t.Iterator[Problem]:
    grouped: dict[str, list[str]] = {}
    for name, answer in nodes.items():
        if answer.get("problem"):
            grouped.setdefault(shorten(answer["problem"], 240), []).append(name)
    for text, names in grouped.items():
        who = "no node can" if len(names) == len(nodes) > 1 else f"{listed(names)} cannot"
        yield Problem(f"{who} pull {what}: {text}", _REMEDY)
