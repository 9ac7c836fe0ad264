# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_probes as probes


def ended(message: str, **more):
    return {"status": {"containerStatuses": [{"state": {"terminated": {"message": message, **more}}}]}}


def test_a_slice_asks_for_a_card_on_one_node():
    body = probes.slice_pod("debian", "gpu-1", 3, probes.RESOURCE, True)
    assert body["metadata"]["name"] == "gpu-slice-3"
    assert body["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1024"}
    assert "nodeName" not in body["spec"]
    assert "runtimeClassName" not in body["spec"], "HAMi's webhook sets it"
    terms = body["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["gpu-1"]


def test_a_slice_of_nvidias_plugin():
    body = probes.slice_pod("debian", "gpu-1", 0, "nvidia.com/gpu.shared", False)
    assert body["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu.shared": "1"}
    assert body["spec"]["runtimeClassName"] == "nvidia"


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (ended("@exit 0\n0, GPU-1, A, 1, 2\n"), {"exit": 0, "text": "0, GPU-1, A, 1, 2", "environment": {}}),
        (
            ended("NVIDIA_VISIBLE_DEVICES=void\nCUDA_DEVICE_MEMORY_LIMIT_0=1024m\n@exit 9\nno\n"),
            {
                "exit": 9,
                "text": "no",
                "environment": {"NVIDIA_VISIBLE_DEVICES": "void", "CUDA_DEVICE_MEMORY_LIMIT_0": "1024m"},
            },
        ),
        (ended("OCI runtime create failed", reason="StartError"), {"problem": "OCI runtime create failed"}),
        (ended("", reason="Error", exitCode=1), {"problem": "Error, exit code 1"}),
        ({"status": {"message": "Pod was rejected"}}, {"problem": "Pod was rejected"}),
        ({}, {"problem": "the pod ended without a word"}),
    ],
)
def test_last_words(item, said):
    assert probes.last_words(item) == said


def test_cards_in_csv_between_warnings():
    text = "WARNING: infoROM is corrupted at gpu 0000:07:00.0\n0, GPU-1, H100, 580.95.05\n1, GPU-2, X, 580\n"
    assert [(card["uuid"], card["driver"]) for card in probes.read_cards(text)] == [
        ("GPU-1", "580.95.05"),
        ("GPU-2", "580"),
    ]


def test_a_card_whose_name_holds_a_comma():
    assert probes.read_cards("2, GPU-9, NVIDIA H200, NVL, 580.95.05\n") == [
        {"index": 2, "uuid": "GPU-9", "name": "NVIDIA H200,NVL", "driver": "580.95.05"}
    ]


def test_mig_parts_are_no_cards():
    assert probes.count_listed("GPU 0: A (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\n") == 1


def test_devices_in_use():
    def pod(name, phase="Running", limit="2", note=""):
        container = {"resources": {"limits": {"nvidia.com/gpu": limit}}}
        meta = {"namespace": "team", "name": name, "annotations": {"hami.io/vgpu-devices-allocated": note}}
        return {"metadata": meta, "spec": {"containers": [container, {}]}, "status": {"phase": phase}}

    pods = [
        pod("one", note="GPU-1,NVIDIA,4096,30:GPU-2,NVIDIA,1024,0:;"),
        pod("done", "Succeeded"),
        pod("none", limit="0"),
        pod("plain"),
    ]
    assert probes.devices_in_use(pods, "nvidia.com/gpu") == [
        ("team/one", 2, [("GPU-1", 4096, 30), ("GPU-2", 1024, 0)]),
        ("team/plain", 2, []),
    ]


def test_the_filters_own_words_come_first():
    events = [
        {"reason": "FailedScheduling", "message": "0/4 nodes"},
        {"reason": "Pulling", "message": "x"},
        {"reason": "FilteringFailed", "message": "1 nodes CardInsufficientMemory(a)"},
        {"reason": "FailedScheduling", "message": "0/4 nodes"},
    ]
    assert probes.reasons(events) == ["1 nodes CardInsufficientMemory(a)", "0/4 nodes"]
