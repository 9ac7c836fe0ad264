# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_blacklist as blacklist
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_gather import Gather
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

KERNEL = "6.8.0-88-generic"
FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "gpu"


class Machine:
    """Files below a root, and the answers of programs."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.answers: dict[str, Answer] = {
            "nvidia-smi": Answer(None, "", present=False),
            "modinfo": Answer(1, "modinfo: ERROR: Module nvidia not found."),
            "dpkg-query": Answer(1, ""),
            "systemctl": Answer(3, "inactive\n"),
        }
        self.asked: list[str] = []

    def ask(self, argv: t.Sequence[str], timeout: float) -> Answer:
        command = " ".join(argv)
        self.asked.append(command)
        return self.answers.get(command, self.answers[argv[0]])

    def put(self, name: str, text: str = "") -> None:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def pci(self, address: str, vendor: str, device: str, kind: str, bound: str = "") -> None:
        folder = f"/sys/bus/pci/devices/{address}"
        for name, text in (("vendor", vendor), ("device", device), ("class", kind)):
            self.put(f"{folder}/{name}", text + "\n")
        if bound:
            (self.root / folder.lstrip("/") / "driver").symlink_to(f"../../../bus/pci/drivers/{bound}")

    def facts(self, driver: str = "auto") -> dict[str, t.Any]:
        return Gather(Host(str(self.root)), 30, self.ask, KERNEL).facts(driver)


@pytest.fixture
def machine(tmp_path: pathlib.Path) -> Machine:
    made = Machine(tmp_path)
    made.pci("0000:07:00.0", "0x10de", "0x20b0", "0x030200")
    made.pci("0000:00:02.0", "0x102b", "0x0538", "0x030000", "mgag200")
    made.put(f"/lib/modules/{KERNEL}/modules.builtin")
    return made


def test_a_bare_machine(machine: Machine) -> None:
    facts = machine.facts()
    assert facts["cards"] == [{"address": "0000:07:00.0", "device": "20b0", "class": "0302", "bound": ""}]
    assert (facts["repair"], facts["needs"], facts["secure_boot"]) == ("install", "either", "unsupported")
    assert facts["kernel"] == {"running": KERNEL, "newest": KERNEL}
    assert (facts["processes"], facts["pods"], facts["in_use"]) == ([], [], [])


def test_a_driver_that_was_just_installed(machine: Machine) -> None:
    name = f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko.zst"
    machine.put(name)
    machine.put("/proc/1/stat", "1 (systemd) S " + " ".join(["0"] * 18) + " 100 1 1")
    machine.put("/proc/uptime", "1000.5 3.2\n")
    machine.answers["modinfo"] = Answer(0, (FIXTURES / "modinfo-open.txt").read_text())
    machine.answers["dpkg-query"] = Answer(1, "nvidia-driver-cuda hold installed 580.95.05-1\n")
    machine.answers["nvidia-smi"] = Answer(9, "")
    machine.put("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05")
    (machine.root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").symlink_to("libnvidia-ml.so.580.95.05")
    facts = machine.facts()
    assert (facts["repair"], facts["library"]) == ("reboot", "580.95.05")
    assert facts["modules"] == [{"kernel": KERNEL, "version": "580.95.05", "open": True, "signer": ""}]
    assert facts["packages"] == [{"name": "nvidia-driver-cuda", "version": "580.95.05-1", "held": True}]


def test_a_driver_that_works_and_is_used(machine: Machine) -> None:
    machine.put("/proc/driver/nvidia/version", (FIXTURES / "version-open.txt").read_text())
    machine.answers["nvidia-smi"] = Answer(0, "0, GPU-1, A100, 40960, 580.173.02, Disabled\n")
    facts = machine.facts()
    assert (facts["repair"], facts["loaded"]["nvidia"]) == ("nothing", "580.173.02")
    assert len([line for line in machine.asked if line.startswith("nvidia-smi")]) == 2


def test_one_that_failed_is_asked_once(machine: Machine) -> None:
    machine.put("/proc/driver/nvidia/version", (FIXTURES / "version-open.txt").read_text())
    machine.answers["nvidia-smi"] = Answer(None, "", 30.0, timed_out=True)
    assert machine.facts()["repair"] == "person"
    assert len([line for line in machine.asked if line.startswith("nvidia-smi")]) == 1


def test_the_newest_kernel_is_one_that_can_boot(machine: Machine) -> None:
    machine.put(f"/boot/vmlinuz-{KERNEL}")
    machine.put("/boot/vmlinuz-6.8.0-90-generic")
    machine.put("/lib/modules/6.8.0-90-generic/modules.builtin")
    machine.put("/lib/modules/6.8.0-99-generic/updates/dkms/nvidia.ko")
    assert machine.facts()["kernel"]["newest"] == "6.8.0-90-generic"


def test_a_kernel_that_a_removed_package_left_behind_does_not_boot(machine: Machine) -> None:
    machine.put(f"/boot/vmlinuz-{KERNEL}")
    machine.put("/lib/modules/6.8.0-90-generic/modules.builtin")
    assert machine.facts()["kernel"]["newest"] == KERNEL


def test_kernels_of_a_machine_that_keeps_none_in_boot(machine: Machine) -> None:
    machine.put("/lib/modules/6.8.0-90-generic/modules.builtin")
    machine.put("/lib/modules/6.8.0-99-generic/updates/dkms/nvidia.ko")
    assert machine.facts()["kernel"]["newest"] == "6.8.0-90-generic"


def test_headers(machine: Machine) -> None:
    (machine.root / f"lib/modules/{KERNEL}/build").symlink_to("nowhere")
    assert machine.facts()["headers"] == []
    (machine.root / f"lib/modules/{KERNEL}/nowhere").mkdir()
    assert machine.facts()["headers"] == [KERNEL]


def test_secure_boot_and_nouveau(machine: Machine) -> None:
    path = machine.root / "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x06\x00\x00\x00\x01")
    machine.put("/sys/module/nouveau/refcnt")
    facts = machine.facts()
    assert (facts["secure_boot"], facts["loaded"]["nouveau"]) == ("enabled", True)


def test_switches_ask_for_the_fabric_manager(machine: Machine) -> None:
    machine.pci("0000:87:00.0", "0x10de", "0x22a3", "0x068000")
    machine.answers["dpkg-query"] = Answer(
        0,
        "nvidia-dkms-580-server install installed 570.1.1-1\n"
        "nvidia-fabricmanager-580 install installed 1:580.173.02-1\n",
    )
    facts = machine.facts()
    assert facts["nvswitches"] == ["0000:87:00.0"]
    assert facts["fabric_manager"] == {"needed": True, "version": "580.173.02", "active": False}
    machine.answers["systemctl is-active nvidia-fabricmanager"] = Answer(0, "active\n")
    assert machine.facts()["fabric_manager"]["active"]


def test_the_blacklist_counts_with_the_initramfs(machine: Machine) -> None:
    none = {"complete": False, "file": False, "time": 0.0}
    assert machine.facts()["blacklist"] == none
    machine.put(blacklist.FILE, blacklist.TEXT)
    machine.put(f"/boot/initrd.img-{KERNEL}")
    os.utime(machine.root / blacklist.FILE.lstrip("/"), (2000, 2000))
    os.utime(machine.root / f"boot/initrd.img-{KERNEL}", (1000, 1000))
    assert machine.facts()["blacklist"] == {"complete": False, "file": True, "time": 2000.0}
    os.utime(machine.root / f"boot/initrd.img-{KERNEL}", (3000, 3000))
    assert machine.facts()["blacklist"] == {"complete": True, "file": True, "time": 3000.0}


def test_only_an_initramfs_has_to_be_newer_than_the_blacklist(machine: Machine) -> None:
    """Otherwise an old kernel or a link that leads nowhere asks for a new initramfs in each run."""
    machine.put(blacklist.FILE, blacklist.TEXT)
    for name in (f"vmlinuz-{KERNEL}", f"config-{KERNEL}"):
        machine.put(f"/boot/{name}")
        os.utime(machine.root / f"boot/{name}", (1000, 1000))
    (machine.root / "boot/initrd.img-old").symlink_to("initrd.img-5.15.0-1-generic")
    assert machine.facts()["blacklist"]["complete"]


def test_system_as_nvidia_names_it(machine: Machine) -> None:
    machine.put("/etc/os-release", 'ID=ubuntu\nVERSION_ID="24.04"\n')
    assert machine.facts()["system"].startswith("ubuntu2404/")


def test_the_persistence_daemon_need_not_be_there(machine: Machine) -> None:
    assert machine.facts()["persistence"] == ""
    machine.put("/usr/lib/systemd/system/nvidia-persistenced.service")
    assert machine.facts()["persistence"] == "inactive"
    machine.answers["systemctl is-active nvidia-persistenced"] = Answer(0, "active\n")
    assert machine.facts()["persistence"] == "active"
