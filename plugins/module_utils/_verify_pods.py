# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the pods that the cluster itself needs.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    condition,
    is_ready,
    node_name,
    seconds,
    shorten,
    verdict,
)

_BACK_OFF = re.compile(r'^Back-off pulling image "[^"]*": ')
# What containerd puts before the reason: the same image, again and again.
_WRAPPING = re.compile(
    r'(?:rpc error: code = \w+ desc = )?failed to (?:pull and unpack image|resolve reference) "[^"]*": '
)
_STARTING = ("ContainerCreating", "PodInitializing")
_RESTARTS = 3
_RECENT = 600.0
# A kubelet that has been silent until a node counts as away says something soon after a boot, or not at all.
_AWAY_PATIENCE = 30.0


def check_system_pods(snapshot: Snapshot, expectation: Expectation) -> Check:
    """All pods of the cluster's own namespaces are ready, and there are as many as should be."""
    problems = [problem for pod in _counted(snapshot) for problem in pod_problems(pod, snapshot.now)]
    for workload in snapshot.workloads:
        problems.extend(_workload_problems(workload, problems))
    present = {item["metadata"]["namespace"] for item in snapshot.pods + snapshot.workloads}
    for namespace in expectation.namespaces:
        if namespace not in present and not expectation.partial:
            problems.append(
                Problem(
                    f"namespace {namespace} has no pods", "Install what is missing: ansible-playbook gshare.cluster.up."
                )
            )
    count = len(list(_counted(snapshot)))
    return verdict("system_pods", problems, f"{count} pods in {', '.join(expectation.namespaces)} are ready")


def _counted(snapshot: Snapshot) -> t.Iterator[Json]:
    """Pods that say something of their own: not finished, not leaving, not on a node that is away."""
    away = {node_name(node) for node in snapshot.nodes if not is_ready(node)}
    for pod in snapshot.pods:
        done = pod.get("status", {}).get("phase") == "Succeeded" or pod["metadata"].get("deletionTimestamp")
        if not done and pod.get("spec", {}).get("nodeName") not in away:
            yield pod


def pod_problems(pod: Json, now: float) -> t.Iterator[Problem]:
    """Why a pod is not ready, or that it is only for a moment."""
    full = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    if not is_ready(pod):
        reason, remedy = pod_reason(pod)
        where = pod.get("spec", {}).get("nodeName")
        yield Problem(f"{full}{f' on {where}' if where else ''} is not ready: {reason}", remedy)
        return
    for status in pod.get("status", {}).get("containerStatuses") or []:
        last = (status.get("lastState") or {}).get("terminated") or {}
        ended = seconds(last.get("finishedAt"))
        if status.get("restartCount", 0) >= _RESTARTS and ended and now - ended < _RECENT:
            yield Problem(
                f"{full} was started again {status['restartCount']} times, last after "
                f"{last.get('reason', 'an error')} (exit code {last.get('exitCode', '?')})",
                f"See {_kubectl(pod, 'logs', '--previous')}.",
                True,
            )


def pod_reason(pod: Json) -> tuple[str, str]:
    """Why a pod is not ready, in one sentence, and what to do."""
    status = pod.get("status", {})
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"not placed on a node: {shorten(scheduled.get('message', ''))}", f"See {_kubectl(pod, 'describe pod')}."
    for container in (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or []):
        found = _container_reason(container, pod)
        if found:
            return found
    if status.get("reason") or status.get("message"):
        text = f"{status.get('reason', '')} {status.get('message', '')}"
        return shorten(text), f"See {_kubectl(pod, 'describe pod')}."
    message = condition(pod, "Ready").get("message") or status.get("phase", "no status yet")
    return shorten(message), f"See {_kubectl(pod, 'describe pod')}."


def stuck(pod: Json | None) -> bool:
    """Whether a pod waits for something that does not come by waiting: an image, a container that fails."""
    waiting = [
        (entry.get("state", {}).get("waiting") or {}).get("reason", _STARTING[0])
        for entry in (pod or {}).get("status", {}).get("containerStatuses") or []
    ]
    return any(reason not in _STARTING for reason in waiting)


def is_running(pod: Json | None) -> bool:
    """Whether a pod of ours answers."""
    if not pod or pod["metadata"].get("deletionTimestamp"):
        return False
    status = pod.get("status", {})
    return (
        status.get("phase") == "Running"
        and bool(status.get("podIP"))
        and condition(pod, "Ready").get("status") == "True"
    )


def untouched(pod: Json | None) -> bool:
    """Whether a pod was given to a node whose kubelet has not said a word about it."""
    status = (pod or {}).get("status", {})
    return status.get("phase") == "Pending" and not status.get("startTime") and not status.get("containerStatuses")


def _container_reason(container: Json, pod: Json) -> tuple[str, str] | None:
    state = container.get("state") or {}
    waiting = state.get("waiting") or {}
    reason = waiting.get("reason", "")
    name = container.get("name", "")
    if reason in ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"):
        told = _WRAPPING.sub("", _BACK_OFF.sub("", waiting.get("message") or container.get("image", "")))
        pull = f"crictl pull {container.get('image', '')}"
        return f"{reason}: {shorten(told, 200)}", f"Does the node reach the registry? Try there: {pull}."
    if reason == "CrashLoopBackOff":
        last = (container.get("lastState") or {}).get("terminated") or {}
        told = f", last words: {shorten(last['message'], 200)}" if last.get("message") else ""
        return (
            f"CrashLoopBackOff: container {name} ended {container.get('restartCount', '?')} times, "
            f"exit code {last.get('exitCode', '?')}{told}",
            f"See {_kubectl(pod, 'logs', f'-c {name} --previous')}.",
        )
    if reason and reason not in _STARTING:
        return f"{reason}: {shorten(waiting.get('message', ''))}", f"See {_kubectl(pod, 'describe pod')}."
    ended = state.get("terminated") or {}
    if ended and ended.get("exitCode") != 0:
        return (
            f"container {name} ended with exit code {ended.get('exitCode')} ({ended.get('reason', '')})",
            f"See {_kubectl(pod, 'logs', f'-c {name}')}.",
        )
    return None


def _kubectl(pod: Json, verb: str, rest: str = "") -> str:
    words = ["kubectl -n", pod["metadata"]["namespace"], verb, pod["metadata"]["name"], rest]
    return " ".join(word for word in words if word)


def _workload_problems(workload: Json, known: list[Problem]) -> t.Iterator[Problem]:
    """What a DaemonSet or Deployment lacks beyond pods that were named already."""
    kind = workload.get("kind", "")
    meta = workload["metadata"]
    full = f"{kind} {meta['namespace']}/{meta['name']}"
    see = f"See kubectl -n {meta['namespace']} describe {kind.lower()} {meta['name']}."
    status = workload.get("status", {})
    if kind == "DaemonSet":
        wanted, there = status.get("desiredNumberScheduled", 0), status.get("currentNumberScheduled", 0)
        if not wanted and not _selective(workload):
            yield Problem(f"{full} wants no pod on any node", see)
    else:
        wanted, there = workload.get("spec", {}).get("replicas", 1), status.get("replicas", 0)
        if not wanted:
            scale = f"kubectl -n {meta['namespace']} scale deployment {meta['name']} --replicas=1"
            yield Problem(f"{full} is scaled to 0", f"If it should run: {scale}.", True)
    if there < wanted and not any(f"{meta['namespace']}/{meta['name']}-" in problem.text for problem in known):
        yield Problem(f"{full} has {there} of {wanted} pods", see)


def _selective(workload: Json) -> bool:
    """Whether a DaemonSet is meant for some nodes only, so that none can be right."""
    selector = workload.get("spec", {}).get("template", {}).get("spec", {}).get("nodeSelector") or {}
    return any(key != "kubernetes.io/os" for key in selector)


def settling(snapshot: Snapshot, expectation: Expectation, patience: float) -> bool:
    """Whether something is not right yet and young enough to be waited for."""
    young = snapshot.now - patience

    def recent(item: Json) -> bool:
        changed = seconds(condition(item, "Ready").get("lastTransitionTime"))
        return max(changed, seconds(item["metadata"].get("creationTimestamp"))) > young

    if any(not is_ready(node) and recent(node) and not _away(node, snapshot.now) for node in snapshot.nodes):
        return True
    # A pod that has not been ready for long is young all the same where its node has just come back.
    back = {node_name(node) for node in snapshot.nodes if recent(node)}
    pods = [pod for pod in _counted(snapshot) if not is_ready(pod)]
    if any(recent(pod) or pod.get("spec", {}).get("nodeName") in back for pod in pods):
        return True
    # Pods that do not exist yet: their owner or a node is new.
    new = any(recent(item) for item in snapshot.workloads + snapshot.nodes)
    return new and any(not problem.warning for w in snapshot.workloads for problem in _workload_problems(w, []))


def _away(node: Json, now: float) -> bool:
    """Whether nothing has been heard of a node for longer than it takes to start its kubelet."""
    ready = condition(node, "Ready")
    return ready.get("status") == "Unknown" and seconds(ready.get("lastTransitionTime")) < now - _AWAY_PATIENCE
