# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_use as use
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

UID = "0b1f7a32-9c55-4d6e-8a1b-2f3c4d5e6f70"
GPU = "GPU-11111111-2222-3333-4444-555555555555"


def put(root: pathlib.Path, name: str, text: str = "") -> None:
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def checkpoint(*entries: tuple[str, str]) -> str:
    found = [{"PodUID": uid, "ContainerName": "c", "ResourceName": resource} for uid, resource in entries]
    return json.dumps({"Data": {"PodDeviceEntries": found, "RegisteredDevices": {}}, "Checksum": 1})


@pytest.fixture
def host(tmp_path: pathlib.Path) -> Host:
    put(tmp_path, use.CHECKPOINT, checkpoint((UID, "nvidia.com/gpu"), ("gone", "nvidia.com/gpu"), ("nic", "a.b/nic")))
    (tmp_path / f"var/log/pods/team_train-1_{UID}").mkdir(parents=True)
    (tmp_path / f"var/lib/kubelet/pods/{UID}").mkdir(parents=True)
    put(tmp_path, "/proc/7/comm", "containerd-shim\n")
    return Host(str(tmp_path))


def silent(argv: t.Sequence[str], timeout: float) -> Answer:
    return Answer(0, "")


def test_after_a_boot_no_pod_runs_although_the_checkpoint_is_full_of_them(host: Host) -> None:
    (host.root / "proc/7/comm").unlink()
    assert use.gpu_use(host, ask=silent) == []


def test_a_pod_with_a_gpu_is_named_and_one_that_is_gone_is_not(host: Host) -> None:
    assert use.gpu_use(host, ask=silent) == ["pod team/train-1 uses a GPU"]
    assert use.pods(host) == [{"namespace": "team", "name": "train-1", "uid": UID}]


@pytest.mark.parametrize(
    "group",
    [
        f"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UID.replace('-', '_')}.slice",
        f"memory/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice",
        f"kubepods/burstable/pod{UID}",
        f"systemd/kubepods/pod{UID}",
        f"pids/kubepods/pod{UID}",
        f"cpu,cpuacct/kubepods/pod{UID}",
    ],
)
def test_a_pod_that_ended_has_no_control_group(host: Host, group: str) -> None:
    path = host.root / "sys/fs/cgroup" / group
    path.mkdir(parents=True)
    assert len(use.pods(host)) == 1
    path.rmdir()
    assert use.pods(host) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"Data": {"PodDeviceEntries": null}}', '{"Data": 3}'])
def test_a_checkpoint_that_says_nothing(text: str) -> None:
    assert use.checkpoint_uids(text) == []


def test_processes_of_nvidia_smi() -> None:
    text = f"4711, /usr/bin/python3, {GPU}, 1024\n12, a, b.sh, {GPU}, [N/A]\n"
    assert use.parse_processes(text) == [
        {"pid": 4711, "name": "/usr/bin/python3", "gpu": GPU, "memory_mib": 1024},
        {"pid": 12, "name": "a,b.sh", "gpu": GPU, "memory_mib": None},
    ]
    assert use.parse_processes("No devices were found\n") == []


def test_a_process_of_a_pod_is_told_once(host: Host) -> None:
    put(host.root, "/proc/driver/nvidia/version", "NVRM version\n")
    put(host.root, "/proc/4711/cgroup", f"0::/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/x\n")
    answer = Answer(0, f"4711, python, {GPU}, 5\n4712, /opt/render, {GPU}, 5\n")
    assert use.gpu_use(host, ask=lambda argv, timeout: answer) == [
        "pod team/train-1 uses a GPU",
        f"process 4712 (render) uses {GPU}",
    ]


def test_without_a_working_nvidia_smi_open_files_tell(host: Host) -> None:
    put(host.root, "/proc/driver/nvidia/version", "NVRM version\n")
    for pid, name, device in (
        ("31", "python", "nvidia-uvm"),
        ("32", "hami-plugin", "nvidia0"),
        ("33", "bash", "null"),
        ("34", "nvidia-persiste", "nvidia-uvm"),
        ("self", "python", "nvidia-uvm"),
    ):
        put(host.root, f"/proc/{pid}/comm", f"{name}\n")
        (host.root / f"proc/{pid}/fd").mkdir()
        (host.root / f"proc/{pid}/fd/3").symlink_to(f"/dev/{device}")
    found = use.gpu_use(host, ask=lambda argv, timeout: Answer(18, "Driver/library version mismatch"))
    assert found == ["pod team/train-1 uses a GPU", "process 31 (python) uses a GPU"]


def test_a_machine_without_a_driver_is_not_asked(tmp_path: pathlib.Path) -> None:
    def never(argv: t.Sequence[str], timeout: float) -> Answer:
        raise AssertionError(argv)

    assert use.gpu_use(Host(str(tmp_path)), ask=never) == []
