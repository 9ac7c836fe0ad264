# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import check_system_pods, pod_reason, settling
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import (
    daemonset,
    deployment,
    moment,
    node,
    not_ready,
    pod,
    waiting,
)

EXPECT = Expectation(namespaces=("kube-system",))


def snapshot(*pods: dict, workloads: tuple[tuple[str, dict], ...] = (), nodes: tuple[dict, ...] = ()) -> Snapshot:
    made = [{**item, "kind": kind} for kind, item in workloads]
    return Snapshot(now=time.time(), pods=list(pods), workloads=made, nodes=list(nodes) or [node("cp", "192.0.2.10")])


def problems(*pods: dict, **more: tuple) -> tuple[str, ...]:
    return check_system_pods(snapshot(*pods, **more), EXPECT).problems


def test_good_pods():
    found = check_system_pods(snapshot(pod("a"), pod("job", phase="Succeeded", conditions=[])), EXPECT)
    assert (found.status, found.detail) == ("ok", "1 pods in kube-system are ready")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (
            waiting("CrashLoopBackOff", restarts=7, last={"exitCode": 255, "message": "flag provided but not defined"}),
            "CrashLoopBackOff: container main ended 7 times, exit code 255, last words: flag provided but not defined",
        ),
        (
            waiting("ImagePullBackOff", 'Back-off pulling image "x": 401 Unauthorized'),
            "ImagePullBackOff: 401 Unauthorized",
        ),
        (
            waiting("CreateContainerConfigError", 'secret "x" not found'),
            'CreateContainerConfigError: secret "x" not found',
        ),
        (
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}],
            },
            "not placed on a node: 0/1 nodes are available",
        ),
        (
            {
                "phase": "Failed",
                "reason": "Evicted",
                "message": "low on disk",
                "conditions": [],
                "containerStatuses": [],
            },
            "Evicted low on disk",
        ),
        (
            {
                "conditions": [
                    {"type": "Ready", "status": "False", "message": "containers with unready status: [main]"}
                ],
                "containerStatuses": [{"name": "main", "state": {"running": {}}}],
            },
            "containers with unready status: [main]",
        ),
        (
            {
                "conditions": [],
                "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 2, "reason": "Error"}}}],
            },
            "container main ended with exit code 2 (Error)",
        ),
    ],
)
def test_reasons(status, text):
    assert problems(pod("a", **status)) == (f"kube-system/a on cp is not ready: {text}",)


def test_init_containers_speak_first():
    status = {
        **waiting("PodInitializing"),
        "initContainerStatuses": waiting("ErrImagePull", "no such host")["containerStatuses"],
    }
    assert "ErrImagePull: no such host" in problems(pod("a", **status))[0]


def test_pods_of_a_node_that_is_away_are_not_its_own_trouble():
    away = not_ready(node("gpu-1", "192.0.2.11"))
    assert problems(pod("a"), pod("b", on="gpu-1", **waiting("x")), nodes=(node("cp", "192.0.2.10"), away)) == ()


def test_leaving_pods_do_not_count():
    leaving = pod("a", **waiting("CrashLoopBackOff"))
    leaving["metadata"]["deletionTimestamp"] = moment(1)
    assert problems(leaving, pod("b")) == ()


def test_restarting_control_plane_is_a_warning():
    status = {"name": "main", "restartCount": 12, "state": {"running": {}}}
    status["lastState"] = {"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": moment(40)}}
    found = check_system_pods(snapshot(pod("etcd-cp", containerStatuses=[status])), EXPECT)
    assert found.status == "warning"
    assert "started again 12 times, last after Error (exit code 137)" in found.detail
    status["lastState"]["terminated"]["finishedAt"] = moment(7200)
    assert problems(pod("etcd-cp", containerStatuses=[status])) == ()


def test_zero_of_zero_is_not_ready():
    assert problems(pod("a"), workloads=(("DaemonSet", daemonset("kube-proxy", "kube-system", 0)),)) == (
        "DaemonSet kube-system/kube-proxy wants no pod on any node",
    )
    selective = daemonset("gpu", "kube-system", 0, selector={"gpu": "on"})
    assert problems(pod("a"), workloads=(("DaemonSet", selective),)) == ()


def test_missing_pods():
    assert problems(pod("a"), workloads=(("DaemonSet", daemonset("kube-proxy", "kube-system", 3, 2)),)) == (
        "DaemonSet kube-system/kube-proxy has 2 of 3 pods",
    )
    found = check_system_pods(
        snapshot(pod("a"), workloads=(("Deployment", deployment("coredns", "kube-system", 0)),)), EXPECT
    )
    assert (found.status, found.detail) == ("warning", "Deployment kube-system/coredns is scaled to 0")


def test_empty_namespace():
    found = check_system_pods(snapshot(pod("a")), Expectation(namespaces=("kube-system", "kube-flannel")))
    assert found.problems == ("namespace kube-flannel has no pods",)


def test_settling():
    young = pod("a", **waiting("ContainerCreating", age=10))
    old = pod("a", **waiting("CrashLoopBackOff", age=4000))
    assert settling(snapshot(young), EXPECT, 120)
    assert not settling(snapshot(old), EXPECT, 120)
    assert not settling(snapshot(pod("a")), EXPECT, 120)
    assert settling(snapshot(nodes=(not_ready(node("a", "192.0.2.10"), age=5),)), EXPECT, 120)
    assert not settling(snapshot(nodes=(not_ready(node("a", "192.0.2.10"), age=500),)), EXPECT, 120)


def test_a_node_that_is_away_is_not_waited_for():
    silent = not_ready(node("a", "192.0.2.10"), age=40)
    assert not settling(snapshot(nodes=(silent,)), EXPECT, 120)
    silent["status"]["conditions"][-1]["status"] = "False"
    assert settling(snapshot(nodes=(silent,)), EXPECT, 120), "its kubelet speaks: something is on its way"


def test_pods_of_a_node_that_has_just_come_back_are_waited_for():
    pods = pod("a", on="b", **waiting("ContainersNotReady", age=4000))
    back = node("b", "192.0.2.11")
    assert not settling(snapshot(pods, nodes=(back,)), EXPECT, 120)
    back["status"]["conditions"][-1]["lastTransitionTime"] = moment(10)
    assert settling(snapshot(pods, nodes=(back,)), EXPECT, 120)


def test_pods_that_a_new_node_still_lacks_are_waited_for():
    lacking = (("DaemonSet", daemonset("kube-flannel-ds", "kube-flannel", 2, 1)),)
    new = node("b", "192.0.2.11")
    assert not settling(snapshot(workloads=lacking, nodes=(new,)), EXPECT, 120)
    new["metadata"]["creationTimestamp"] = moment(8)
    assert settling(snapshot(workloads=lacking, nodes=(new,)), EXPECT, 120)


def test_the_reason_of_a_pull_is_not_hidden_behind_its_image():
    image = "192.0.2.40:5000/a/very/long/name/of/an/image/that/is/told/again/and/again:1.2.3"
    reason = f'Head "https://192.0.2.40:5000/v2/{"x/" * 40}manifests/1": server gave HTTP response to HTTPS client'
    told = (
        f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = Unknown desc = failed to pull and unpack '
        f'image "{image}": failed to resolve reference "{image}": failed to do request: {reason}'
    )
    status = waiting("ImagePullBackOff", told)
    problem, _remedy = pod_reason(pod("a", **status))
    assert problem.startswith('ImagePullBackOff: ErrImagePull: failed to do request: Head "https://192.0.2.40:5000/')
