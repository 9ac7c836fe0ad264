# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that the checks of GPU workers need, and which of them are too young to be judged."""

from __future__ import annotations

import time
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_look import gpu_settling, look_gpu, look_logs
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import moment, pod
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import GPU_HOSTS, GpuCluster

WANTED = Expectation(hosts=tuple(GPU_HOSTS), gpu_sharing="hami", gpu_split=10)


@pytest.fixture
def cluster() -> GpuCluster:
    return GpuCluster()


def looked(cluster: GpuCluster) -> Snapshot:
    return Snapshot(now=time.time(), nodes=cluster.nodes, gpu=look_gpu(cluster, WANTED))


def plugin_of(cluster: GpuCluster, node: str) -> dict[str, t.Any]:
    name = f"hami-device-plugin-{node}"
    return next(item for item in cluster.pods["kube-system"] if item["metadata"]["name"] == name)


def became_ready(item: dict[str, t.Any], age: float) -> None:
    item["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": moment(age)}]


def settling(cluster: GpuCluster, patience: float = 120, wanted: Expectation = WANTED) -> bool:
    return gpu_settling(looked(cluster), wanted, patience)


def test_only_device_plugins_are_looked_at(cluster: GpuCluster) -> None:
    found = looked(cluster).gpu
    assert [item["metadata"]["name"] for item in found.plugins] == ["hami-device-plugin"]
    assert len(cluster.daemonsets["kube-system"]) > 1


def test_a_plugin_whose_node_has_just_come_back_is_waited_for(cluster: GpuCluster) -> None:
    cluster.offers("gpu-1", 0)
    assert not settling(cluster)
    for entry in cluster.worker("gpu-1")["status"]["conditions"]:
        entry["lastTransitionTime"] = moment(8)
    assert settling(cluster)


def test_after_the_start_of_a_kubelet_its_pods_are_waited_for(cluster: GpuCluster) -> None:
    # A machine that reboots quickly never counts as away, and the plugin's pod looks as it did before.
    cluster.offers("gpu-1", 0)
    cluster.starts = {"gpu-1": 300, "cp": 8}
    assert not settling(cluster)
    cluster.starts = {"gpu-1": 8}
    assert settling(cluster)


def test_a_plugin_that_was_started_again_is_waited_for(cluster: GpuCluster) -> None:
    cluster.offers("gpu-1", 0)
    own = next(entry for entry in cluster.pods["kube-system"] if entry["metadata"]["name"].endswith("plugin-gpu-1"))
    own["status"]["containerStatuses"] = [{"name": "p", "state": {"running": {"startedAt": moment(300)}}}]
    assert not settling(cluster)
    own["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = moment(8)
    assert settling(cluster)


def test_a_plugin_that_has_just_started_is_waited_for(cluster: GpuCluster) -> None:
    became_ready(plugin_of(cluster, "gpu-1"), 10)
    assert not settling(cluster), "all cards are offered"
    cluster.offers("gpu-1", 0)
    assert settling(cluster)
    assert not settling(cluster, patience=5)
    became_ready(plugin_of(cluster, "gpu-1"), 90)
    assert not settling(cluster), "it had its time"


def test_a_plugin_that_was_just_installed_is_waited_for(cluster: GpuCluster) -> None:
    cluster.offers("gpu-1", 0)
    assert not settling(cluster)
    cluster.own()["metadata"]["creationTimestamp"] = moment(10)
    assert settling(cluster)


def test_young_pods_of_others_and_elsewhere_are_not_waited_for(cluster: GpuCluster) -> None:
    cluster.offers("gpu-1", 0)
    other = pod("coredns-1", "kube-system", "gpu-1")
    elsewhere = plugin_of(cluster, "gpu-2")
    elsewhere["spec"]["nodeName"] = "cp"
    for item in (other, elsewhere):
        became_ready(item, 10)
    cluster.pods["kube-system"].append(other)
    assert not settling(cluster)


def test_a_cluster_without_gpu_workers_waits_for_no_plugin(cluster: GpuCluster) -> None:
    became_ready(plugin_of(cluster, "gpu-1"), 10)
    cluster.offers("gpu-1", 0)
    hosts = tuple({**host, "labels": {}} for host in GPU_HOSTS)
    assert not settling(cluster, wanted=Expectation(hosts=hosts, gpu_sharing="hami"))


def test_a_log_that_cannot_be_read_says_nothing(cluster: GpuCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(method: str, path: str, *more: t.Any) -> tuple[int, str]:
        raise ApiError(0, "timed out")

    cluster.offers("gpu-1", 0)
    snapshot = looked(cluster)
    monkeypatch.setattr(cluster, "request", refuse)
    look_logs(cluster, snapshot, WANTED)
    assert snapshot.gpu.logs == {"gpu-1": ""}
