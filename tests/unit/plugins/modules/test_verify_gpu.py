# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_look, _verify_run
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import (
    bad,
    moment,
    not_ready,
    waiting,
)
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import (
    GPU,
    GPU_HOSTS,
    plugin,
    plugin_pod,
    registration,
    told,
)


def test_all_is_well(gpus, tried):
    result = tried()
    assert bad(result) == set(), result["checks"]
    details = {name: result["by_name"][name]["detail"] for name in GPU | {"ingress"}}
    assert details == {
        "gpu_driver": "driver 580.95.05 on gpu-1 (2 x NVIDIA A100-SXM4-40GB), gpu-2 (1 x NVIDIA A100-SXM4-40GB)",
        "gpu_capacity": "nvidia.com/gpu: gpu-1 20 (2 cards x 10), gpu-2 1 (1 card x 1)",
        "gpu_registration": "2 x 40960 MiB on gpu-1; 1 x 40960 MiB on gpu-2",
        "gpu_slice": "a pod gets 1024 MiB of a card on gpu-1, gpu-2; 81920 MiB stay Pending: "
        "2 nodes CardInsufficientMemory(gpu-1,gpu-2)",
        "ingress": "port 30080 serves an Ingress of class nginx on 3 nodes",
    }
    assert [row["gpu"] for row in result["nodes"]] == ["", "580.95.05, 2 cards x 10", "580.95.05, 1 card x 1"]
    assert gpus.namespaces == {}


def test_check_mode_looks_at_objects_only(gpus, tried):
    result = tried(check=True)
    assert bad(result) == {"traffic"}
    assert {"gpu_capacity", "gpu_registration"} == set(result["by_name"]) & GPU
    assert not [line for line in gpus.log if line.startswith(("POST", "DELETE"))]


def test_no_gpu_workers_no_word_of_gpus(gpus, tried):
    hosts = [{**host, "labels": {}} for host in GPU_HOSTS]
    result = tried(hosts=hosts, ingress="none")
    assert not set(result["by_name"]) & (GPU | {"ingress"})
    assert not any("gpu-driver" in line for line in gpus.log)
    assert "ingress-nginx" not in result["by_name"]["system_pods"]["detail"]


def test_a_worker_that_is_away_is_told_once(gpus, tried):
    not_ready(gpus.worker("gpu-2"))
    assert bad(tried()) == {"nodes"}


def test_a_worker_that_goes_away_meanwhile_is_not_waited_for(gpus, tried, monkeypatch):
    gpus.driver["gpu-2"] = {"phase": "Pending", "containerStatuses": []}
    gpus.last_heard["gpu-2"] = 30
    monkeypatch.setattr(_verify_look.time, "sleep", lambda seconds: not_ready(gpus.worker("gpu-2"), age=0))
    assert bad(tried()) == {"nodes"}
    assert sum("app%3Dgpu-driver" in line for line in gpus.log) < 3, "nobody answers for a pod there"


def test_a_worker_that_dies_under_the_probes_is_told_once_and_soon(gpus, tried, monkeypatch):
    # The API counts a node as Ready for 50 s after its last word.
    gpus.untouched = gpus.no_kubelet = {"gpu-2"}
    gpus.driver["gpu-2"] = gpus.slice["gpu-2"] = {"phase": "Pending", "containerStatuses": []}
    naps = []

    def nap(_seconds):
        naps.append(1)
        if len(naps) == 60:
            not_ready(gpus.worker("gpu-2"), age=0)

    monkeypatch.setattr(_verify_run.time, "sleep", nap)
    result = tried(timeout=120)
    assert bad(result) == {"nodes"}
    assert "it does not answer on 10250/tcp either" in told(result, "nodes")
    assert len(naps) < 100


# -- driver and runtime


@pytest.mark.parametrize(
    ("code", "said", "cause", "remedy"),
    [
        (18, "Failed to initialize NVML: Driver/library version mismatch", "the node needs a reboot", "gshare_disrupt"),
        (9, "", "the kernel module nvidia is not loaded ()", "up finds out"),
        (137, "", "nvidia-smi did not answer in time", "nvidia-persistenced"),
        (126, "", "gave the pod no nvidia-smi", "cdi list"),
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "not loaded", "modprobe"),
        (6, "No devices were found", "finds no card", "dmesg"),
        (15, "Unable to determine the device handle for GPU 0000:07:00.0: GPU is lost.", "does not answer", "xid"),
        (12, "", "the driver's library was not found", "up finds out"),
        (124, "", "nvidia-smi did not answer in time", "nvidia-persistenced"),
        (127, "timeout: failed to run command 'nvidia-smi'", "gave the pod no nvidia-smi", "cdi list"),
        (255, "Failed to initialize NVML: Unknown Error", "Unknown Error", "exit status 255"),
    ],
)
def test_case_49_and_what_else_nvidia_smi_says(gpus, tried, code, said, cause, remedy):
    gpus.driver["gpu-1"] = (code, said)
    result = tried()
    assert bad(result) == {"gpu_driver"}
    assert told(result, "gpu_driver").startswith("gpu-1: ")
    assert cause in told(result, "gpu_driver")
    assert remedy in told(result, "gpu_driver")


def test_case_60_a_slow_nvidia_smi_has_its_time(gpus, tried):
    bodies: list[dict[str, t.Any]] = []
    create = gpus.create
    gpus.create = lambda path, body: bodies.append(body) or create(path, body)
    tried()
    commands = [body["spec"]["containers"][0]["command"][-1] for body in bodies if body["kind"] == "Pod"]
    assert [c for c in commands if "timeout -k 5 90 nvidia-smi" in c]


def test_driver_pods_take_no_share_and_are_placed_by_themselves(gpus, tried):
    bodies: list[dict[str, t.Any]] = []
    create = gpus.create
    gpus.create = lambda path, body: bodies.append(body) or create(path, body)
    tried()
    pods = [body for body in bodies if body["metadata"]["name"].startswith("gpu-driver")]
    assert [body["spec"]["nodeName"] for body in pods] == ["gpu-1", "gpu-2"]
    for body in pods:
        assert "limits" not in body["spec"]["containers"][0]["resources"]
        assert body["spec"]["tolerations"] == [{"operator": "Exists"}]
        assert body["metadata"]["labels"]["hami.io/webhook"] == "ignore"


def test_no_runtime_class(gpus, tried):
    gpus.runtime_classes = []
    for name in ("gpu-1", "gpu-2"):
        gpus.offers(name, 0)
    result = tried()
    assert {"gpu_driver", "gpu_capacity"} <= bad(result)
    assert "there is no RuntimeClass nvidia" in told(result, "gpu_driver")
    assert "asks for RuntimeClass nvidia, which does not exist" in told(result, "gpu_capacity")


def test_the_runtime_is_not_configured(gpus, tried):
    gpus.driver["gpu-1"] = {"phase": "Pending", "containerStatuses": [], "conditions": []}
    gpus.events["gpu-driver-0"] = [("FailedCreatePodSandBox", 'no runtime for "nvidia" is configured')]
    result = tried()
    assert bad(result) == {"gpu_driver"}
    assert "containerd has no runtime nvidia" in told(result, "gpu_driver")


def test_a_container_that_cannot_start(gpus, tried):
    ended = {"reason": "StartError", "exitCode": 128, "message": "nvml error: driver not loaded"}
    gpus.driver["gpu-1"] = {"phase": "Failed", "containerStatuses": [{"name": "probe", "state": {"terminated": ended}}]}
    assert "the kernel module nvidia is not loaded" in told(tried(), "gpu_driver")


def test_a_probe_that_hangs_for_good(gpus, tried):
    gpus.driver["gpu-1"] = {"phase": "Running"}
    assert "nvidia-smi did not answer in time" in told(tried(), "gpu_driver")


# -- capacity


def test_case_104_label_missing(gpus, tried):
    gpus.worker("gpu-1")["metadata"]["labels"].pop("gpu")
    gpus.pods["kube-system"] = [item for item in gpus.pods["kube-system"] if "plugin-gpu-1" not in str(item)]
    gpus.offers("gpu-1", 0)
    gpus.own()["status"]["desiredNumberScheduled"] = 1
    result = tried()
    assert {"labels", "gpu_capacity"} <= bad(result)
    assert "gpu-1 offers no nvidia.com/gpu: DaemonSet kube-system/hami-device-plugin" in told(result, "gpu_capacity")
    assert "lacks the label gpu=on" in told(result, "gpu_capacity")
    assert "kubectl label node gpu-1 gpu=on" in told(result, "gpu_capacity")


def test_case_104_label_taken_away_later(gpus, tried):
    gpus.worker("gpu-1")["metadata"]["labels"].pop("gpu")
    assert "lacks the label gpu=on" in told(tried(), "gpu_capacity")


def test_case_105_plugin_without_the_runtime(gpus, tried):
    gpus.offers("gpu-1", 0)
    gpus.plugin_log = (
        "I1130 starting\nE1130 Incompatible strategy detected auto\n"
        "E1130 If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n"
    )
    crashed = waiting("CrashLoopBackOff", restarts=7, last={"exitCode": 1})
    next(item for item in gpus.pods["kube-system"] if "plugin-gpu-1" in str(item))["status"].update(crashed)
    result = tried()
    assert "does not run under the runtime nvidia" in told(result, "gpu_capacity")
    assert [line for line in gpus.log if "hami-device-plugin-gpu-1/log?container=device-plugin" in line]


def test_case_106_two_device_plugins(gpus, tried):
    other = plugin("nvidia-device-plugin", "nvidia", nodeSelector={})
    gpus.daemonsets["nvidia"] = [other]
    gpus.pods["nvidia"] = [plugin_pod(other, "gpu-1")]
    result = tried()
    assert bad(result) == {"gpu_capacity"}
    assert "(DaemonSet nvidia/nvidia-device-plugin) runs on gpu-1, gpu-2 beside" in told(result, "gpu_capacity")
    assert "both claim nvidia.com/gpu" in told(result, "gpu_capacity")


def test_feature_discovery_is_no_second_plugin(gpus, tried):
    gfd = plugin("nvidia-gpu-feature-discovery", "nvidia", nodeSelector={})
    gfd["spec"]["template"]["spec"]["containers"][0]["name"] = "gpu-feature-discovery-ctr"
    gpus.daemonsets["nvidia"] = [gfd]
    assert bad(tried()) == set()


def test_case_128_zero_of_zero(gpus, tried):
    rule = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    gpus.own()["spec"]["template"]["spec"] |= {
        "nodeSelector": {},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
    }
    gpus.own()["status"] = {"desiredNumberScheduled": 0, "currentNumberScheduled": 0}
    for name in ("gpu-1", "gpu-2"):
        gpus.offers(name, 0)
    result = tried()
    assert "gpu-1, gpu-2 offer no nvidia.com/gpu" in told(result, "gpu_capacity")
    assert "wants a pod on 0 nodes" in told(result, "gpu_capacity")
    assert "lacks the label nvidia.com/gpu.present=true" in told(result, "gpu_capacity")


def test_no_plugin_at_all(gpus, tried):
    gpus.daemonsets["kube-system"].pop()
    gpus.offers("gpu-1", 0)
    assert "HAMi's device plugin is not installed -> Install it" in told(tried(), "gpu_capacity")


def test_another_split(gpus, tried):
    result = tried(gpu_split=4)
    assert bad(result) == {"gpu_capacity"}
    assert "gpu-1 offers 20 nvidia.com/gpu, wanted is 8 (2 cards x 4)" in told(result, "gpu_capacity")
    assert bad(tried(gpu_split=0)) == set()


def test_a_card_that_is_not_healthy(gpus, tried):
    gpus.note("gpu-1", "node-nvidia-register", registration("gpu-1", health=False))
    gpus.offers("gpu-1", 10)
    result = tried()
    assert bad(result) == {"gpu_capacity", "gpu_registration"}
    assert "wanted is 20 (2 cards x 10): card 1 (GPU-2222) is registered" in told(result, "gpu_capacity")
    assert "gpu-1: card 1 (GPU-2222) is registered and not healthy" in told(result, "gpu_registration")
    gpus.offers("gpu-1", 0)
    assert "not healthy" in told(tried(), "gpu_capacity")


def test_a_plugin_that_runs_and_hands_out_nothing(gpus, tried):
    gpus.offers("gpu-1", 0)
    result = tried()
    assert bad(result) == {"gpu_capacity"}
    assert "the device plugin runs and says nothing of a card" in told(result, "gpu_capacity")


def test_a_young_plugin_is_waited_for(gpus, tried, monkeypatch):
    gpus.offers("gpu-1", 0)
    mine = next(item for item in gpus.pods["kube-system"] if "plugin-gpu-1" in str(item))
    mine["status"]["conditions"][0]["lastTransitionTime"] = moment(3)
    monkeypatch.setattr(_verify_look.time, "sleep", lambda seconds: gpus.offers("gpu-1", 20))
    assert bad(tried()) == set()


# -- registration


def test_case_107_stale_handshake(gpus, tried):
    asked = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 600))
    gpus.note("gpu-1", "node-handshake", f"Requesting_{asked}")
    assert bad(tried()) == set()
    gpus.offers("gpu-1", 0)
    result = tried()
    assert bad(result) == {"gpu_capacity", "gpu_registration"}
    assert "HAMi's plugin on gpu-1 has not answered the scheduler for 10 min" in told(result, "gpu_registration")


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ("", "no card of gpu-1 is registered"),
        ("GPU-1,2", "cannot be read: GPU-1,2"),
        ('[{"id":"GPU-1111","count":20,"devmem":40960,"health":true}]', "the driver has card 1 (GPU-2222)"),
    ],
)
def test_registration_that_is_not_whole(gpus, tried, annotation, said):
    gpus.note("gpu-1", "node-nvidia-register", annotation)
    result = tried()
    assert "gpu_registration" in bad(result)
    assert said in told(result, "gpu_registration")


def test_the_older_form_of_registration(gpus, tried):
    cards = [f"{card},10,40960,100,NVIDIA-A100,0,true" for card in ("GPU-1111", "GPU-2222")]
    gpus.note("gpu-1", "node-nvidia-register", ":".join(cards) + ":")
    assert bad(tried()) == set()


def test_nobody_leads(gpus, tried):
    gpus.lease = None
    assert "no HAMi scheduler leads" in told(tried(), "gpu_registration")
    gpus.lease = {"spec": {"holderIdentity": "x", "renewTime": moment(600)}}
    assert "not renewed its lease for 10 min" in told(tried(), "gpu_registration")


# -- slices
