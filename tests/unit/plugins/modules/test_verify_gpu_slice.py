# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import bad
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import GPU, told


def test_case_103_webhook_fails_open(gpus, tried):
    gpus.webhook = False
    result = tried()
    assert bad(result) == {"gpu_slice"}
    assert "is given to default-scheduler, not to hami-scheduler" in told(result, "gpu_slice")


def test_webhook_that_refuses(gpus, tried):
    gpus.refused = "failed calling webhook vgpu.hami.io: connection refused"
    result = tried()
    assert "the API server takes no pod that asks for a GPU: failed calling webhook" in told(result, "gpu_slice")


def test_no_limit(gpus, tried):
    gpus.limit = ""
    assert "a pod on gpu-1 asked for 1024 MiB of a card, and it has no limit" in told(tried(), "gpu_slice")
    gpus.limit = "CUDA_DEVICE_MEMORY_LIMIT_0=4096m"
    assert "and its limit is 4096m" in told(tried(), "gpu_slice")


def test_more_than_there_is_must_wait(gpus, tried):
    gpus.too_big_on = "gpu-1"
    assert "a pod that asks for 81920 MiB, more than any card has, was placed on gpu-1" in told(tried(), "gpu_slice")
    gpus.too_big_on = ""
    gpus.events["gpu-too-big"] = [("FailedScheduling", "0/3 nodes are available: 3 Insufficient nvidia.com/gpumem.")]
    result = tried()
    assert result["by_name"]["gpu_slice"]["status"] == "warning"
    assert "for another reason: 0/3 nodes are available" in told(result, "gpu_slice")
    gpus.events["gpu-too-big"] = []
    assert "stays Pending and no scheduler says why" in told(tried(), "gpu_slice")


@pytest.mark.parametrize("devices", ["GPU-3333,NVIDIA,40960,100:;", "GPU-3333,NVIDIA,40000,0:;", ""])
def test_cards_in_use_are_left_alone(gpus, tried, devices):
    gpus.use("gpu-2", "train-1", devices)
    result = tried()
    assert bad(result) == {"gpu_slice"}
    assert result["by_name"]["gpu_slice"]["status"] == "warning"
    assert "gpu-2 was not tried, its cards are in use: team/train-1" in told(result, "gpu_slice")
    assert not any("gpu-slice-1" in line for line in gpus.log)


@pytest.mark.parametrize(
    "devices",
    [
        "GPU-1111,NVIDIA,40960,0:GPU-2222,NVIDIA,40000,0:;",
        "GPU-1111,NVIDIA,1024,100:GPU-2222,NVIDIA,1024,100:;",
    ],
)
def test_cards_without_memory_or_cores_left_are_in_use(gpus, tried, devices):
    gpus.use("gpu-1", "train-1", devices)
    result = tried()
    assert result["by_name"]["gpu_slice"]["status"] == "warning"
    assert "gpu-1 was not tried, its cards are in use: team/train-1" in told(result, "gpu_slice")


@pytest.mark.parametrize("said", ["1 nodes CardInsufficientMemory(gpu-1)", "1 Insufficient nvidia.com/gpu."])
def test_a_card_that_somebody_took_in_the_meantime(gpus, tried, said):
    gpus.use("gpu-1", "train-1", "GPU-1111,NVIDIA,4096,10:;")
    gpus.slice["gpu-1"] = {"phase": "Pending", "on": "", "containerStatuses": []}
    gpus.events["gpu-slice-0"] = [("FailedScheduling", said)]
    result = tried()
    assert result["by_name"]["gpu_slice"]["status"] == "warning"
    assert "gpu-1 was not tried, its cards are in use: team/train-1" in told(result, "gpu_slice")


def test_nvidia_smi_fails_in_a_pod_that_has_its_card(gpus, tried):
    gpus.slice["gpu-1"] = (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
    result = tried()
    assert "nvidia-smi in a pod with a card on gpu-1: the kernel module nvidia is not" in told(result, "gpu_slice")
    # HAMi's limit has proved that the card came.
    assert result["by_name"]["gpu_slice"]["status"] == "warning"
    gpus.__init__("nvidia")
    gpus.slice["gpu-1"] = (9, "")
    assert tried()["by_name"]["gpu_slice"]["status"] == "failed"


def test_a_card_with_room_is_tried(gpus, tried):
    gpus.use("gpu-1", "train-1", "GPU-1111,NVIDIA,40960,100:;")
    assert bad(tried()) == set()


def test_a_slice_that_nobody_places(gpus, tried):
    gpus.slice["gpu-1"] = {"phase": "Pending", "on": "", "containerStatuses": []}
    gpus.events["gpu-slice-0"] = [("FailedScheduling", "0/3 nodes are available: 1 node unregistered.")]
    result = tried()
    assert "does not run on gpu-1: 0/3 nodes are available: 1 node unregistered." in told(result, "gpu_slice")


def test_nvidias_plugin(gpus, tried, monkeypatch):
    gpus.__init__("nvidia")
    result = tried()
    assert bad(result) == set(), result["checks"]
    assert "gpu_registration" not in result["by_name"]
    assert result["by_name"]["gpu_slice"]["detail"] == "a pod gets one card on gpu-1, gpu-2"
    assert not [line for line in gpus.log if "dryRun" in line or "too-big" in line]
    gpus.slice["gpu-1"] = (0, "GPU 0: A (UUID: GPU-1)\nGPU 1: A (UUID: GPU-2)\n")
    assert "a pod on gpu-1 asked for one card and sees 2" in told(tried(), "gpu_slice")


def test_nobody_shares(gpus, tried):
    result = tried(gpu_sharing="none")
    assert set(result["by_name"]) & GPU == {"gpu_driver"}
    assert bad(result) == set()


# -- ingress
