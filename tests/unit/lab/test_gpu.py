# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pretended cards: NVIDIA's output and exit codes from the node's file, modules that Debian's tools understand."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from nodelab import gpu, versions

VERSION = "580.95.05"
UUIDS = [line.partition("=")[2] for line in gpu.settings("lab", "gpu1").splitlines() if ".uuid=" in line]
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on this machine")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one compiled version, with the link that a package brings."""
    folder = tmp_path_factory.mktemp("driver")
    gpu.compile_driver(folder, VERSION, versions.NVIDIA_DRIVERS[VERSION])
    (folder / "libnvidia-ml.so.1").symlink_to(f"libnvidia-ml.so.{VERSION}")
    return folder


@pytest.fixture
def lab_gpu(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Return the node's program as a module."""
    monkeypatch.syspath_prepend(str(gpu.NODE))
    return importlib.import_module("lab_gpu")


class Machine:
    """A folder that stands for a node: the file, the device nodes."""

    def __init__(self, driver: Path, folder: Path) -> None:
        self.driver = driver
        self.folder = folder
        self.loaded = VERSION
        self.changes: dict[str, str] = {}
        self.devices(0, 1)

    def devices(self, *minors: int) -> None:
        shutil.rmtree(self.folder / "dev", ignore_errors=True)
        (self.folder / "dev").mkdir()
        for minor in minors:
            (self.folder / "dev" / f"nvidia{minor}").touch()

    def smi(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Run nvidia-smi; return its status and what it printed."""
        path = self.folder / "gpu"
        text = gpu.settings("lab", "gpu1") + "".join(f"{key}={value}\n" for key, value in self.changes.items())
        path.write_text(text + (f"loaded={self.loaded}\n" if self.loaded else ""), encoding="utf-8")
        done = subprocess.run(
            [self.driver / "nvidia-smi", *arguments],
            env={
                "LD_LIBRARY_PATH": str(self.driver),
                "LAB_GPU": str(path),
                "LAB_GPU_DEV": str(self.folder / "dev"),
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
        return done.returncode, done.stdout


@pytest.fixture
def machine(driver: Path, tmp_path: Path) -> Machine:
    return Machine(driver, tmp_path)


def test_two_nodes_have_no_card_in_common() -> None:
    assert len(UUIDS) == 2
    assert not set(UUIDS) & {line.partition("=")[2] for line in gpu.settings("lab", "gpu2").splitlines()}


def test_the_list_of_cards(machine: Machine) -> None:
    assert machine.smi("-L") == (
        0,
        "".join(f"GPU {index}: NVIDIA A100-SXM4-40GB (UUID: {uuid})\n" for index, uuid in enumerate(UUIDS)),
    )


def test_the_table(machine: Machine) -> None:
    status, text = machine.smi()
    assert status == 0
    lines = text.splitlines()
    assert {len(line) for line in lines[1:] if line} == {91}
    assert "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |" in lines
    assert "|   1  NVIDIA A100-SXM4-40GB          On  |   00000000:0F:00.0 Off |                    0 |" in lines
    assert "|  No running processes found                                                             |" in lines


def test_a_query_of_cards(machine: Machine) -> None:
    machine.changes = {"card1.mig": "enabled", "card0.mig": "none", "card0.memory": "81920"}
    fields = "--query-gpu=index,uuid,name,memory.total,driver_version,mig.mode.current,pci.bus_id"
    assert machine.smi(fields, "--format=csv") == (
        0,
        "index, uuid, name, memory.total [MiB], driver_version, mig.mode.current, pci.bus_id\n"
        f"0, {UUIDS[0]}, NVIDIA A100-SXM4-40GB, 81920 MiB, 580.95.05, [N/A], 00000000:07:00.0\n"
        f"1, {UUIDS[1]}, NVIDIA A100-SXM4-40GB, 40960 MiB, 580.95.05, Enabled, 00000000:0F:00.0\n",
    )
    assert machine.smi("--query-gpu=memory.total", "--format=csv,noheader,nounits", "-i", "1") == (0, "40960\n")
    assert machine.smi("--query-gpu=colour", "--format=csv")[0] == 2


def test_processes(machine: Machine) -> None:
    machine.changes = {"process1": "4711 1 2048 /usr/bin/python3 train.py"}
    fields = "--query-compute-apps=pid,process_name,gpu_uuid,used_memory"
    assert machine.smi(fields, "--format=csv,noheader") == (
        0,
        f"4711, /usr/bin/python3 train.py, {UUIDS[1]}, 2048 MiB\n",
    )
    assert "    2048MiB /  40960MiB |" in machine.smi()[1]
    machine.changes = {}
    assert machine.smi(fields, "--format=csv,noheader") == (0, "")


def test_a_container_sees_the_cards_that_it_was_given(machine: Machine) -> None:
    machine.devices(1)
    machine.changes = {"process1": "7 0 100 other"}
    assert machine.smi("-L") == (0, f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: {UUIDS[1]})\n")
    assert machine.smi("--query-compute-apps=pid", "--format=csv,noheader") == (0, "")
    machine.devices()
    assert machine.smi() == (6, "No devices were found\n")


@pytest.mark.parametrize(
    ("loaded", "change", "status", "said"),
    [
        ("", {}, 9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."),
        (
            "580.82.07",
            {},
            18,
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95\n",
        ),
        (VERSION, {"nvml": "999"}, 255, "Failed to initialize NVML: Unknown Error\n"),
        (VERSION, {"nvml": "4"}, 4, "Failed to initialize NVML: Insufficient Permissions\n"),
        (
            VERSION,
            {"card1.health": "lost"},
            15,
            "Unable to determine the device handle for GPU1: 00000000:0F:00.0: GPU",
        ),
        (VERSION, {"smi": "exit 6"}, 6, "No devices were found\n"),
        (VERSION, {"smi": "exit 9"}, 9, "NVIDIA-SMI has failed because"),
        (VERSION, {"smi": "exit 15"}, 15, "Unable to determine the device handle for GPU0: 00000000:07:00.0"),
        (VERSION, {"smi": "exit 18"}, 18, "Failed to initialize NVML: Driver/library"),
        (VERSION, {"smi": "exit 255"}, 255, "Failed to initialize NVML: Unknown Error\n"),
        (VERSION, {"smi": "exit 42 All is lost"}, 42, "All is lost\n"),
    ],
)
def test_what_can_be_wrong(machine: Machine, loaded: str, change: dict[str, str], status: int, said: str) -> None:
    machine.loaded, machine.changes = loaded, change
    found, text = machine.smi()
    assert (found, text[: len(said)]) == (status, said)


def test_a_slow_card(machine: Machine) -> None:
    machine.changes = {"smi": "slow 1"}
    begin = time.monotonic()
    assert machine.smi("-L")[0] == 0
    assert time.monotonic() - begin >= 1


def test_without_the_library(machine: Machine) -> None:
    status, text = machine.smi(LD_LIBRARY_PATH="/nowhere")
    assert (status, text[:46]) == (12, "NVIDIA-SMI couldn't find libnvidia-ml.so libra")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not on this machine")
def test_the_module_is_a_file_that_tools_understand(driver: Path, lab_gpu: types.ModuleType) -> None:
    for kind, licence in (("open", "Dual MIT/GPL"), ("closed", "NVIDIA")):
        path = driver / kind / "nvidia.ko"
        done = subprocess.run(["readelf", "-p", ".modinfo", path], capture_output=True, text=True, check=True)
        assert f"license={licence}\n" in done.stdout
        info = lab_gpu.module_info(path)
        assert (info["version"], info["license"], info["name"]) == (VERSION, licence, "nvidia")


def test_signing(lab_gpu: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_gpu, "MODULES", tmp_path)
    path = lab_gpu.module_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\0version=1\0")
    assert not lab_gpu.is_signed(path)
    lab_gpu.sign("someone")
    signed = path.read_bytes()
    assert lab_gpu.is_signed(path)
    assert b"someone" in signed
    lab_gpu.sign("someone else")
    assert path.read_bytes() == signed
    assert lab_gpu.module_info(path)["version"] == "1"


def test_a_setting_is_changed_in_place(
    lab_gpu: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gpu"
    path.write_text(gpu.settings("lab", "gpu1"), encoding="utf-8")
    inode = path.stat().st_ino
    monkeypatch.setattr(lab_gpu.machine, "SETTINGS", path)
    lab_gpu.write_setting("smi", "exit 9")
    lab_gpu.write_setting("process1", "1 0 5 x")
    lab_gpu.write_setting("card1.xid", None)
    settings = lab_gpu.machine.read_settings()
    assert (settings["smi"], settings["process1"], settings.get("card1.xid")) == ("exit 9", "1 0 5 x", None)
    assert [card["bus"] for card in lab_gpu.machine.cards(settings)] == ["0000:07:00.0", "0000:0f:00.0"]
    assert path.stat().st_ino == inode
    for key in ("smi", "card3.name", "process9"):
        lab_gpu.check_key(key)
    for key in ("colour", "card0.colour", "cardx.name", "process"):
        with pytest.raises(SystemExit, match="there is no setting"):
            lab_gpu.check_key(key)


def test_a_blacklist(lab_gpu: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_gpu, "MODPROBE", (str(tmp_path),))
    (tmp_path / "a.conf").write_text("# blacklist nova_core\nblacklist nouveau\n", encoding="utf-8")
    assert lab_gpu.blacklisted("nouveau")
    assert not lab_gpu.blacklisted("nova_core")
    (tmp_path / "b.conf").write_text("blacklist nova-core\n", encoding="utf-8")
    assert lab_gpu.blacklisted("nova_core")


def test_the_node_needs_nothing_that_its_python_lacks() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in gpu.NODE.glob("*.py"))
    names = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert names <= {*sys.stdlib_module_names, "__future__", "lab_gpu_kernel"}


def test_a_node_gets_its_file_and_its_units(tmp_path: Path) -> None:
    gpu.furnish(tmp_path, "lab", "gpu1")
    assert (tmp_path / "etc/lab/gpu").read_text(encoding="utf-8") == gpu.settings("lab", "gpu1")
    assert (tmp_path / "usr/local/sbin/lab-gpu").stat().st_mode & 0o777 == 0o755
    units = tmp_path / gpu.UNITS
    wanted = {path.name for folder in units.glob("*.wants") for path in folder.iterdir()}
    assert wanted <= {path.name for path in units.iterdir()}
