# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_smi as smi
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "gpu"
LISTING = (FIXTURES / "smi.txt").read_text()


def test_cards() -> None:
    found = smi.gpus(LISTING)
    assert [one["name"] for one in found] == ["NVIDIA A100-SXM4-40GB", "NVIDIA H200,NVL", "Tesla T4"]
    assert [one["memory_mib"] for one in found] == [40960, 143771, None]
    assert [one["mig"] for one in found] == ["Disabled", "Enabled", ""]
    assert found[0] == {
        "index": 0,
        "uuid": "GPU-6f3b1a52-0c8e-4d7f-9a44-8f1e3b2c5d60",
        "name": "NVIDIA A100-SXM4-40GB",
        "memory_mib": 40960,
        "driver": "580.95.05",
        "mig": "Disabled",
    }


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (0, LISTING, smi.WORKS),
        (0, "", smi.NO_DEVICES),
        (6, "No devices were found", smi.NO_DEVICES),
        (
            9,
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
            "NVIDIA driver is installed and running.",
            smi.NOT_LOADED,
        ),
        (9, "", smi.NOT_LOADED),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", smi.NO_LIBRARY),
        (
            15,
            "Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover",
            smi.OFF_BUS,
        ),
        (
            18,
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.178",
            smi.MISMATCH,
        ),
        (255, "Failed to initialize NVML: Driver/library version mismatch", smi.MISMATCH),
        (255, "Failed to initialize NVML: Unknown Error", smi.BROKEN),
        (14, "infoROM is corrupted", smi.BROKEN),
    ],
)
def test_kinds_of_answers(status: int, text: str, kind: str) -> None:
    assert smi.kind(Answer(status, text)) == kind


def test_no_program_and_no_end_are_two_things() -> None:
    assert smi.kind(Answer(None, "", present=False)) == smi.ABSENT
    assert smi.kind(Answer(None, "", 120.0, timed_out=True)) == smi.HANGS


def test_data() -> None:
    assert smi.data(Answer(0, LISTING, 0.4))["gpus"] == smi.gpus(LISTING)
    assert smi.data(Answer(6, "No devices\n were found\n", 0.4)) == {
        "present": True,
        "status": 6,
        "timed_out": False,
        "seconds": 0.4,
        "kind": smi.NO_DEVICES,
        "gpus": [],
        "message": "No devices were found",
    }
