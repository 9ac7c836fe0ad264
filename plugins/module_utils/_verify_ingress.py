# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The check of the ingress: HTTP on the NodePort of every node, through an Ingress to the probe pods.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import contextlib
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import UP
from ansible_collections.gshare.cluster.plugins.module_utils._verify_probes import ingress, service
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    is_ready,
    listed,
    node_address,
    node_name,
    shorten,
    skipped,
    verdict,
)

CLASS = "nginx"
# A controller takes up a new Ingress within seconds, unless its machine has just come up and is busy.
_PATIENCE = 45.0


class Run(t.Protocol):
    """What is needed of the run of probes that this is a part of."""

    api: t.Any
    namespace: str
    traffic: t.Any

    def make(self, path: str, body: Json) -> None: ...
    def parallel(self, function: t.Callable[[str], t.Any], names: list[str]) -> dict[str, t.Any]: ...


class IngressPart:
    """The part of a run that tries the ingress. What comes about is in C(traffic.ingress)."""

    def __init__(self, expectation: Expectation) -> None:
        self.expectation = expectation

    def start(self, run: Run, snapshot: Snapshot) -> None:
        """Make an Ingress early: the controller needs a moment to take it up."""
        found = run.traffic.ingress
        try:
            run.make(f"/api/v1/namespaces/{run.namespace}/services", service())
            body = ingress(_host(run), CLASS)
            run.make(f"/apis/networking.k8s.io/v1/namespaces/{run.namespace}/ingresses", body)
            found["problem"] = ""
        except ApiError as exc:
            found["problem"] = exc.message

    def begin(self, run: Run, snapshot: Snapshot) -> None:
        """All is made by then."""

    def finish(self, run: Run, snapshot: Snapshot) -> None:
        """Ask every node until all serve the Ingress."""
        found = run.traffic.ingress
        addresses = {node_name(node): node_address(node) for node in snapshot.nodes if is_ready(node)}
        backends = [name for name, probe in run.traffic.probes.items() if not probe.get("problem")]
        found.update(nodes={}, backends=bool(backends), service=self._service(run))
        if found["service"] == {}:
            return

        def call(name: str) -> Json:
            return _call(run, addresses[name], self.expectation.ingress_port, backends)

        start = time.monotonic()
        again = list(addresses)
        while again or found["problem"]:
            # A controller that has just started refuses by its webhook for some seconds.
            if found["problem"]:
                self.start(run, snapshot)
            found["nodes"].update(run.parallel(call, again))
            again = [name for name in again if not found["nodes"][name].get("served")]
            if not backends or time.monotonic() - start > _PATIENCE:
                return
            if again or found["problem"]:
                time.sleep(1)

    def _service(self, run: Run) -> Json | None:
        """The Service with the NodePort; empty if there is none, None if nobody knows."""
        with contextlib.suppress(ApiError):
            for item in run.api.items(f"/api/v1/namespaces/{self.expectation.ingress_namespace}/services"):
                ports = [port.get("nodePort") for port in item.get("spec", {}).get("ports") or []]
                if self.expectation.ingress_port in ports:
                    return {"name": item["metadata"]["name"], "policy": item["spec"].get("externalTrafficPolicy", "")}
            return {}
        return None


def _host(run: Run) -> str:
    return f"{run.namespace}.invalid"


def _call(run: Run, address: str, port: int, backends: list[str]) -> Json:
    try:
        status, text = run.api.http(address, port, _host(run))
    except ApiError as exc:
        return {"problem": exc.message}
    return {"status": status, "served": status == 200 and text.strip() in backends}


def check_ingress(snapshot: Snapshot, expectation: Expectation) -> Check:
    """The ingress answers on its NodePort on every node, and serves an Ingress."""
    found: Json = snapshot.traffic.ingress if snapshot.traffic else {}
    port, namespace = expectation.ingress_port, expectation.ingress_namespace
    if found.get("service") == {}:
        text = f"no Service in namespace {namespace} has NodePort {port}"
        return verdict("ingress", [Problem(text, f"Install the ingress: {UP}; or set gshare_ingress=none.")], "")
    nodes: dict[str, Json] = found.get("nodes") or {}
    if not nodes:
        return skipped("ingress", "no node is Ready, see nodes")
    problems = list(_silent(found, nodes, port, namespace))
    answering = [name for name, answer in nodes.items() if not answer.get("problem")]
    unserved = [name for name in answering if not nodes[name].get("served")]
    see = f"See kubectl -n {namespace} get pods and the controller's log; kubectl get ingressclass {CLASS}."
    if found.get("problem"):
        text = f"a probe Ingress of class {CLASS} could not be made: {shorten(found['problem'], 200)}"
        problems.append(Problem(text, see))
    elif unserved and found.get("backends"):
        told = listed(sorted({str(nodes[name]["status"]) for name in unserved}))
        where = "every node" if len(unserved) == len(nodes) else listed(unserved)
        text = f"port {port} on {where} answers {told} and does not serve a probe Ingress of class {CLASS}"
        problems.append(Problem(text, see))
    what = f"serves an Ingress of class {CLASS}" if found.get("backends") else "answers"
    return verdict("ingress", problems, f"port {port} {what} on {len(answering)} nodes")


def _silent(found: Json, nodes: dict[str, Json], port: int, namespace: str) -> t.Iterator[Problem]:
    grouped: dict[str, list[str]] = {}
    for name, answer in nodes.items():
        if answer.get("problem"):
            grouped.setdefault(shorten(answer["problem"], 120), []).append(name)
    local = (found.get("service") or {}).get("policy") == "Local"
    for text, names in grouped.items():
        everywhere = len(names) == len(nodes)
        where = "any node" if everywhere else listed(names)
        if local and not everywhere:
            note = "its Service has externalTrafficPolicy Local, so that only nodes with a controller pod answer"
            yield Problem(f"port {port} does not answer on {where}: {note}", "", True)
        elif everywhere:
            remedy = f"See kubectl -n {namespace} get pods,endpoints; does kube-proxy run?"
            yield Problem(f"port {port} does not answer on {where}: {text}", remedy)
        else:
            remedy = f"Let {port}/tcp pass to {where}; does kube-proxy run there?"
            yield Problem(f"port {port} does not answer on {where}: {text}", remedy)
