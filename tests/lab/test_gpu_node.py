# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A GPU node without a card: bare, with a driver, with one that does not fit, bare again.

Needs root and what `lab build` makes. The tests build on each other, in this order, on one node.
"""

from __future__ import annotations

import os
import subprocess
import time
import typing as t
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NAME = "gpunode"
COMMAND = os.environ.get("GSHARE_LAB_COMMAND", str(HERE / "lab"))
REPOSITORY = "https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64"
APT = "sudo DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"
UNREACHABLE = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root")


def lab(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a lab command on the test's lab."""
    command, *rest = arguments
    done = subprocess.run(
        [COMMAND, command, "--name", NAME, *rest], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done


def run(script: str) -> str:
    """Run a shell script on the node and return what it prints; it must succeed."""
    return lab("ssh", "gpu1", f"set -e; {script}").stdout.strip()


def smi(*arguments: str) -> tuple[int, str]:
    done = lab("ssh", "gpu1", "timeout", "10", "nvidia-smi", *arguments, check=False)
    return done.returncode, done.stdout.strip()


def reboot() -> None:
    boot_id = ("ssh", "gpu1", "cat", "/proc/sys/kernel/random/boot_id")
    before = lab(*boot_id).stdout
    lab("ssh", "gpu1", "sudo", "systemctl", "reboot", check=False)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done = lab(*boot_id, check=False)
        if done.returncode == 0 and done.stdout not in ("", before):
            return
        time.sleep(0.5)
    pytest.fail("the node did not come back")


@pytest.fixture(scope="module", autouse=True)
def node() -> t.Iterator[None]:
    lab("down")
    lab("up", "--nodes", "control,gpu:1")
    yield
    lab("down")


def test_at_first_the_cards_are_bare() -> None:
    show = "for d in /sys/bus/pci/devices/*; do echo $(cat $d/vendor $d/device $d/class) $(readlink $d/driver); done"
    assert run(show).splitlines().count("0x10de 0x20b0 0x030200") == 2
    gone = "/dev/nvidiactl /proc/driver/nvidia /sys/module/nvidia /usr/bin/nvidia-smi"
    assert run(f"for p in {gone}; do test ! -e $p; done; echo none") == "none"
    # What the machine itself shows is still there.
    assert run("test -e /sys/module/kernel -o -e /sys/module/printk && echo yes") == "yes"


def test_a_new_driver_needs_headers_and_a_reboot() -> None:
    run(
        f"curl -fsSO {REPOSITORY}/cuda-keyring_1.1-1_all.deb; sudo dpkg --install cuda-keyring_*.deb; {APT} update;"
        f"{APT} install nvidia-driver-pinning-580.95.05; {APT} install nvidia-driver-cuda nvidia-kernel-open-dkms"
    )
    assert run("! sudo modinfo -F version nvidia 2>&1").endswith("Module nvidia not found.")
    run(f"{APT} install linux-headers-$(uname -r)")
    assert run("sudo modinfo -F version nvidia; sudo modinfo -F license nvidia; sudo modinfo -F signer nvidia") == (
        "580.95.05\nDual MIT/GPL"
    )
    status, text = smi()
    assert (status, text.startswith(UNREACHABLE)) == (9, True)
    reboot()
    status, text = smi("--query-gpu=index,name,memory.total,driver_version", "--format=csv,noheader")
    assert status == 0
    assert text.splitlines() == [f"{index}, NVIDIA A100-SXM4-40GB, 40960 MiB, 580.95.05" for index in (0, 1)]
    assert "Open Kernel Module for x86_64  580.95.05" in run("cat /proc/driver/nvidia/version")
    assert run("systemctl is-active nvidia-persistenced") == "active"


def test_the_toolkit_describes_the_cards() -> None:
    address = "https://nvidia.github.io/libnvidia-container"
    run(
        f"curl -fsS {address}/gpgkey | sudo tee /etc/apt/trusted.gpg.d/toolkit.asc > /dev/null;"
        f"curl -fsS {address}/stable/deb/nvidia-container-toolkit.list"
        " | sudo tee /etc/apt/sources.list.d/nvidia-container-toolkit.list;"
        f"{APT} update; {APT} install nvidia-container-toolkit"
    )
    names = run("sudo nvidia-ctk --quiet cdi list").splitlines()
    assert {"nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=all"} <= set(names)


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ("smi exit 9", 9, UNREACHABLE),
        ("smi exit 15", 15, "Unable to determine the device handle for GPU0"),
        ("smi hang", 124, ""),
        ("nvml 999", 255, "Failed to initialize NVML: Unknown Error"),
        ("card1.health lost", 15, "Unable to determine the device handle for GPU1"),
    ],
)
def test_trouble_while_it_runs(change: str, status: int, said: str) -> None:
    key = change.split()[0]
    before = run(f"sed -n 's/^{key}=//p' /etc/lab/gpu")
    run(f"sudo lab-gpu set {change}")
    found, text = smi("-L")
    run(f"sudo lab-gpu set {key} {before}")
    assert (found, text[: len(said)]) == (status, said)
    assert smi("-L")[0] == 0


def test_an_upgraded_driver_does_not_fit_until_the_reboot() -> None:
    run(f"{APT} install nvidia-driver-pinning-580; {APT} install nvidia-driver-cuda nvidia-kernel-open-dkms")
    assert smi() == (18, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.126")
    assert "580.95.05" in run("cat /proc/driver/nvidia/version")
    reboot()
    assert smi("--query-gpu=driver_version", "--format=csv,noheader") == (0, "580.126.20\n580.126.20")


def test_secure_boot_rejects_what_is_not_signed() -> None:
    run("sudo lab-gpu set secure_boot enabled")
    assert run("od -An -tx1 /sys/firmware/efi/efivars/SecureBoot-*") == "06 00 00 00 01"
    reboot()
    assert smi()[0] == 9
    assert "Key was rejected by service" in run("sudo journalctl --boot --unit lab-gpu --output cat")
    run("sudo lab-gpu sign 'lab key'")
    assert run("sudo modinfo -F signer nvidia") == "lab key"
    reboot()
    assert smi("-L")[0] == 0


def test_another_module_holds_the_cards() -> None:
    run("sudo lab-gpu set holder nova_core")
    reboot()
    assert run("basename $(readlink /sys/bus/pci/devices/0000:07:00.0/driver)") == "NovaCore"
    assert smi()[0] == 9
    run("echo blacklist nova_core | sudo tee /etc/modprobe.d/nova.conf")
    reboot()
    assert smi("-L")[0] == 0


def test_without_its_packages_the_node_is_bare_again() -> None:
    run(f"{APT} purge 'nvidia-driver-cuda' 'nvidia-kernel-*' 'libnvidia-ml1' 'libcuda1' > /dev/null")
    assert smi()[0] == 127
    reboot()
    gone = "/dev/nvidia0 /proc/driver/nvidia /sys/bus/pci/devices/0000:07:00.0/driver"
    assert run(f"for p in {gone}; do test ! -L $p -a ! -e $p; done; echo bare") == "bare"
