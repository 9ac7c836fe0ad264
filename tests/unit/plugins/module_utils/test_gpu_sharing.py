# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_sharing as sharing
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Gpu, Snapshot

Json = dict[str, t.Any]
NOW = 1_800_000_000.0
REGISTER = json.dumps([{"id": "GPU-1", "count": 10, "devmem": 40960, "health": True}])
WORKER = {"host": "gpu-1", "address": "192.0.2.11", "labels": {"gpu": "on", "gshare.io/gpu-mode": "fractional"}}


def node(name: str = "gpu1", address: str = "192.0.2.11", gpus: int = 10, **metadata: t.Any) -> Json:
    return {
        "metadata": {"name": name, "labels": {"gpu": "on"}, "annotations": {}, **metadata},
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}],
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"nvidia.com/gpu": str(gpus)},
        },
    }


def plugin(kind: str = "hami", release: str = "hami", desired: int = 1, selector: Json | None = None) -> Json:
    name = {"hami": "hami-device-plugin", "nvidia": "nvidia-device-plugin"}[kind]
    image = {"hami": "docker.io/projecthami/hami", "nvidia": "nvcr.io/nvidia/k8s-device-plugin"}[kind]
    return {
        "metadata": {
            "namespace": "kube-system",
            "name": name,
            "annotations": {"meta.helm.sh/release-name": release} if release else {},
        },
        "spec": {
            "template": {
                "spec": {
                    "nodeSelector": {"gpu": "on"} if selector is None else selector,
                    "containers": [{"name": "device-plugin", "image": image}],
                }
            }
        },
        "status": {"desiredNumberScheduled": desired},
    }


def found(**more: t.Any) -> sharing.Found:
    return sharing.Found(**{"releases": [], "nodes": [node()], **more})


def lease(age: float = 1.0) -> Json:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(NOW - age))
    return {"spec": {"holderIdentity": "one", "renewTime": stamp, "leaseDurationSeconds": 15}}


def lacking(nodes: list[Json], gpu: Gpu, kind: str = "hami", split: int = 10) -> str:
    wanted = Expectation(hosts=(WORKER,), gpu_sharing=kind, gpu_split=split)
    problems = sharing.lacking(Snapshot(now=NOW, nodes=nodes, gpu=gpu), wanted)
    return " ".join(problem.text for problem in problems)


# What goes first


def test_the_other_one_goes_first() -> None:
    both = ["hami", "nvidia-device-plugin"]
    assert sharing.to_remove(found(), "hami") == []
    assert sharing.to_remove(found(releases=both), "hami") == ["nvidia"]
    assert sharing.to_remove(found(releases=both), "nvidia") == ["hami"]
    assert sharing.to_remove(found(releases=both), "none") == ["hami", "nvidia"]


def test_leftovers_alone_are_taken_away_too() -> None:
    """What a run leaves that was killed between uninstalling and cleaning."""
    marked = node(annotations={"hami.io/node-nvidia-register": REGISTER, "flannel.alpha.coreos.com/x": "y"})
    assert sharing.to_remove(found(nodes=[marked]), "nvidia") == ["hami"]
    assert sharing.to_remove(found(nodes=[marked]), "hami") == []
    assert sharing.leftovers(marked, "hami") == {"annotations": {"hami.io/node-nvidia-register": None}}
    labels = {"nvidia.com/gpu.count": "2", "nvidia.com/device-plugin.config": "exclusive", "gpu": "on"}
    labelled = node(labels={**labels, "nvidia.com/of-the-user": "yes"})
    assert sharing.leftovers(labelled, "nvidia") == {
        "labels": {"nvidia.com/gpu.count": None, "nvidia.com/device-plugin.config": None}
    }
    assert sharing.to_remove(found(nodes=[labelled]), "hami") == ["nvidia"]


def test_labels_of_somebody_elses_feature_discovery_stay() -> None:
    labelled = node(labels={"nvidia.com/gpu.count": "2"})
    other = {"metadata": {"namespace": "a", "name": "gpu-feature-discovery"}, "spec": {}}
    assert sharing.to_remove(found(nodes=[labelled], daemonsets=[other]), "hami") == []


def test_case_106_a_plugin_of_nobody_we_know_is_refused() -> None:
    state = found(daemonsets=[plugin("nvidia", release="")])
    (told,) = sharing.refusals(state, "hami", [WORKER])
    assert "kubectl -n kube-system delete daemonset nvidia-device-plugin" in told
    assert sharing.refusals(state, "none", [WORKER]) == []
    assert sharing.refusals(found(daemonsets=[plugin()]), "hami", [WORKER]) == []


def test_nothing_is_replaced_under_gpu_pods() -> None:
    pod = {
        "metadata": {"namespace": "team", "name": "train"},
        "spec": {"nodeName": "gpu1", "containers": [{"resources": {"limits": {"nvidia.com/gpumem": "1000"}}}]},
        "status": {"phase": "Running"},
    }
    state = found(releases=["hami"], pods=[pod])
    (told,) = sharing.refusals(state, "nvidia", [WORKER])
    assert "HAMi's device plugin is not replaced while GPU pods run (pod team/train uses a GPU on gpu1)" in told
    assert sharing.refusals(state, "nvidia", [{**WORKER, "disrupt": True}]) == []
    assert sharing.refusals(state, "hami", [WORKER]) == []


def test_daemonsets_that_hand_out_no_card_are_no_rivals() -> None:
    flannel = plugin("nvidia", release="")
    flannel["metadata"]["name"] = "kube-flannel-ds"
    flannel["spec"]["template"]["spec"]["containers"] = [{"name": "kube-flannel", "image": "flannel/flannel"}]
    assert sharing.refusals(found(daemonsets=[flannel]), "hami", [WORKER]) == []


def gpu_pod(name: str) -> Json:
    return {
        "metadata": {"namespace": "team", "name": name},
        "spec": {"nodeName": "gpu1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        "status": {"phase": "Running"},
    }


@pytest.mark.parametrize(("number", "end"), [(4, "pod team/p3 uses a GPU on gpu1)"), (5, "gpu1 and 1 more)")])
def test_of_many_gpu_pods_four_are_named(number: int, end: str) -> None:
    state = found(releases=["hami"], pods=[gpu_pod(f"p{index}") for index in range(number)])
    (told,) = sharing.refusals(state, "nvidia", [WORKER])
    assert f"{end}: end them" in told


# What is lacking


def healthy() -> tuple[list[Json], Gpu]:
    return [node(annotations={"hami.io/node-nvidia-register": REGISTER})], Gpu(plugins=[plugin()], lease=lease())


def test_all_cards_are_handed_out() -> None:
    assert lacking(*healthy()) == ""


def test_a_card_without_health_is_not_healthy() -> None:
    nodes, gpu = healthy()
    nodes[0]["metadata"]["annotations"]["hami.io/node-nvidia-register"] = REGISTER.replace(', "health": true', "")
    assert "not healthy" in lacking(nodes, gpu)


def test_the_older_form_of_the_annotation_counts_as_well() -> None:
    nodes, gpu = healthy()
    nodes[0]["metadata"]["annotations"]["hami.io/node-nvidia-register"] = "GPU-1,10,40960,100,NVIDIA-A100,0,true:"
    assert lacking(nodes, gpu) == ""


def test_nobody_leads() -> None:
    nodes, gpu = healthy()
    gpu.lease = {}
    assert "nobody holds the lease" in lacking(nodes, gpu)
    gpu.lease = lease(600)
    assert "has not renewed its lease" in lacking(nodes, gpu)


def test_cards_times_split() -> None:
    nodes, gpu = healthy()
    assert "wanted is 5" in lacking(nodes, gpu, split=5)


def test_case_104_a_node_without_its_label() -> None:
    nodes, gpu = healthy()
    nodes[0]["metadata"]["labels"] = {}
    gpu.plugins = [plugin(desired=0)]
    nodes[0]["status"]["allocatable"] = {}
    assert "gpu=on" in lacking(nodes, gpu)


def test_case_107_a_plugin_that_does_not_answer() -> None:
    nodes, gpu = healthy()
    nodes[0]["metadata"]["annotations"]["hami.io/node-handshake"] = "Requesting_2026.11.30 00:00:00"
    nodes[0]["status"]["allocatable"] = {}
    assert "has not answered the scheduler" in lacking(nodes, gpu)


def test_case_128_zero_of_zero_is_not_ready() -> None:
    nodes, gpu = [node(labels={})], Gpu(plugins=[plugin("nvidia", "nvidia-device-plugin", 0, {"a": "b"})])
    told = lacking(nodes, gpu, kind="nvidia", split=0)
    assert "wants a pod on 0 nodes, there are 1 GPU workers" in told


def test_a_pod_of_the_release_that_is_not_ready() -> None:
    nodes, gpu = healthy()
    meta = {"namespace": "kube-system", "name": "hami-scheduler-5d7"}
    pod = {"metadata": meta, "spec": {}, "status": {"phase": "Pending"}}
    gpu.pods = [pod]
    assert lacking(nodes, gpu) == "pod kube-system/hami-scheduler-5d7 is not ready"
    # What tells more comes alone.
    assert "hami-scheduler-5d7" not in lacking(nodes, gpu, split=5)
    for harmless in ({"name": "coredns-1"}, {"name": "hami-job", "deletionTimestamp": "2026-11-30T00:00:00Z"}):
        gpu.pods = [{**pod, "metadata": {"namespace": "kube-system", **harmless}}]
        assert lacking(nodes, gpu) == ""
    gpu.pods = [{**pod, "status": {"phase": "Succeeded"}}]
    assert lacking(nodes, gpu) == ""


def test_a_machine_that_is_not_ready() -> None:
    nodes, gpu = healthy()
    nodes[0]["status"]["conditions"][0]["status"] = "False"
    assert "gpu-1 is not Ready" in lacking(nodes, gpu)


def test_a_machine_that_is_away_is_not_waited_for() -> None:
    nodes, gpu = healthy()
    nodes[0]["status"]["conditions"][0]["status"] = "Unknown"
    meta = {"namespace": "kube-system", "name": "hami-device-plugin-5d7"}
    gpu.pods = [{"metadata": meta, "spec": {"nodeName": nodes[0]["metadata"]["name"]}, "status": {"phase": "Running"}}]
    assert lacking(nodes, gpu) == ""
    assert lacking([], Gpu(plugins=gpu.plugins, lease=gpu.lease)) == "", "nor one that has never joined"


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        ("v1.36.2", "v1.36.2"),
        ("v1.36.2+k3s1", "v1.36.2"),
        ("v1.36.0-eks-2d5f260", "v1.36.0"),
        ("v1.36.1-rc.0", "v1.36.1"),
        ("", ""),
    ],
)
def test_case_102_the_tag_of_kube_scheduler(version: str, tag: str) -> None:
    assert sharing.image_tag(version) == tag


def test_names_of_nodes_by_address() -> None:
    nodes = [node(), node("cpu1", "192.0.2.12")]
    assert sharing.names(nodes, [WORKER]) == {"192.0.2.11": "gpu1"}
