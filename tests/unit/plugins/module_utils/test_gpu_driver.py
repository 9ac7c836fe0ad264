# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_driver as driver

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "gpu"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


@pytest.mark.parametrize("name", ["version-closed.txt", "version-open.txt"])
def test_loaded_version_in_both_forms(name: str) -> None:
    assert driver.loaded_version(fixture(name)) == "580.173.02"


def test_no_file_means_not_loaded() -> None:
    assert driver.loaded_version("") == ""


def test_library_version() -> None:
    assert driver.library_version(["libnvidia-ml.so.580.178.04"]) == "580.178.04"
    assert driver.library_version(["libnvidia-ml.so.1", "libnvidia-ml.so.580.95.05", "libnvidia-ml.so.580.126.20"]) == (
        "580.126.20"
    )
    assert driver.library_version(["libnvidia-ml.so.1"]) == ""


def test_modinfo_of_an_open_module() -> None:
    assert driver.module("6.8.0-88-generic", fixture("modinfo-open.txt")) == {
        "kernel": "6.8.0-88-generic",
        "version": "580.95.05",
        "open": True,
        "signer": "",
        "file": "/lib/modules/6.8.0-88-generic/updates/dkms/nvidia.ko.zst",
    }


def test_modinfo_of_a_signed_closed_module() -> None:
    found = driver.module("6.8.0-88-generic", fixture("modinfo-signed.txt"))
    assert (found["open"], found["signer"]) == (False, "Canonical Ltd. Kernel Module Signing")


@pytest.mark.parametrize(
    ("kernels", "running", "wanted"),
    [
        (["6.8.0-88-generic", "6.8.0-90-generic", "6.8.0-9-generic"], "6.8.0-88-generic", "6.8.0-90-generic"),
        (["6.1.0-31-amd64", "6.1.0-32-cloud-amd64"], "6.1.0-31-amd64", "6.1.0-31-amd64"),
        (["6.12.6+deb13-amd64", "6.12.48+deb13-amd64"], "6.12.6+deb13-amd64", "6.12.48+deb13-amd64"),
        ([], "6.8.0-88-generic", "6.8.0-88-generic"),
    ],
)
def test_the_kernel_of_the_next_boot(kernels: list[str], running: str, wanted: str) -> None:
    assert driver.newest(kernels, running) == wanted


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        ("6.8.0-88-generic", "generic"),
        ("6.12.48+deb13-amd64", "amd64"),
        ("6.1.0-31-cloud-amd64", "cloud-amd64"),
    ],
)
def test_the_flavour_of_a_kernel_as_packages_name_it(kernel: str, wanted: str) -> None:
    assert driver.flavour(kernel) == wanted


@pytest.mark.parametrize(
    ("data", "efi", "wanted"),
    [
        (b"\x06\x00\x00\x00\x01", True, "enabled"),
        (b"\x06\x00\x00\x00\x00", True, "disabled"),
        (b"", True, "disabled"),
        (b"", False, "unsupported"),
    ],
)
def test_secure_boot(data: bytes, efi: bool, wanted: str) -> None:
    assert driver.secure_boot(data, efi) == wanted


def test_packages_of_the_driver_without_those_of_the_toolkit() -> None:
    listing = (
        "nvidia-utils-580-server install installed 580.95.05-0ubuntu1\n"
        "libnvidia-compute-580-server hold installed 580.95.05-0ubuntu1\n"
        "nvidia-container-toolkit hold installed 1.20.1-1\n"
        "libnvidia-container1 install installed 1.20.1-1\n"
        "nvidia-dkms-550 deinstall config-files 550.1-1\n"
    )
    assert driver.packages(listing) == [
        {"name": "nvidia-utils-580-server", "version": "580.95.05-0ubuntu1", "held": False},
        {"name": "libnvidia-compute-580-server", "version": "580.95.05-0ubuntu1", "held": True},
    ]


def test_when_the_machine_started() -> None:
    stat = "1 (systemd) S " + " ".join(["0"] * 18) + " 50000 1 1"
    assert driver.started(stat, "1000.5 3.2\n", 100, 10000.0) == 10000.0 - 1000.5 + 500
    assert driver.started("", "", 100, 1.0) == 0.0


def test_lines_of_the_log_that_explain() -> None:
    assert driver.explaining(fixture("journal.txt").split("\n")) == [
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "NVRM: GPU 0000:07:00.0 is already bound to nouveau.",
        "NVRM: The NVIDIA probe routine was not called for 1 device(s).",
        "NVRM: No NVIDIA devices probed.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "nvidia: loading out-of-tree module taints kernel.",
        "root : TTY=pts/0 ; COMMAND=/usr/sbin/modprobe nvidia",
        "Started nvidia-persistenced.service - NVIDIA Persistence Daemon, after modprobe nvidia.",
        "Finished modprobe@nvidia.service - modprobe nvidia.",
        "EXT4-fs (sda1): mounted filesystem",
    ],
)
def test_lines_that_explain_nothing_are_left_out(line: str) -> None:
    assert driver.explaining([line, "NVRM: No NVIDIA devices probed."]) == ["NVRM: No NVIDIA devices probed."]
