# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import nvidia_driver_info

RunModule = t.Callable[..., dict[str, t.Any]]
GPU: dict[str, t.Any] = {
    "needs": "either",
    "nvswitches": [],
    "kernel": {"running": "6.8.0-88-generic"},
    "headers": [],
    "modules": [],
    "packages": [],
    "loaded": {"nvidia": ""},
    "library": "",
    "secure_boot": "disabled",
    "problems": ["No NVIDIA driver is installed."],
}
LISTING = "nvidia-driver-580-server, (kernel modules provided by nvidia-dkms-580-server)"
POLICY = (
    '[ "$2" = linux-headers-6.8.0-88-generic ] && printf "%s:\\n  Installed: (none)\\n  Candidate: 1\\n" "$2"; exit 0'
)


@pytest.fixture
def run(run_module: RunModule, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> RunModule:
    for name, script in (
        ("apt-cache", POLICY),
        ("ubuntu-drivers", f"[ \"$*\" = 'list --gpgpu' ] && echo '{LISTING}'"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "etc").mkdir()

    def call(distribution: str, **args: t.Any) -> dict[str, t.Any]:
        (tmp_path / "etc/os-release").write_text(f"ID={distribution}\nVERSION_CODENAME=x\n")
        return run_module(functools.partial(nvidia_driver_info.main, str(tmp_path)), {"gpu": GPU, **args}, check=True)

    return call


def test_debian(run: RunModule) -> None:
    result = run("debian")
    assert result["name"] == "nvidia-driver-cuda with nvidia-kernel-open-dkms"
    assert (result["problem"], result["changed"], result["distribution"]) == ("", False, "debian")


def test_ubuntu(run: RunModule) -> None:
    result = run("ubuntu")
    assert result["packages"] == [
        "nvidia-headless-no-dkms-580-server",
        "nvidia-utils-580-server",
        "nvidia-dkms-580-server",
        "linux-headers-6.8.0-88-generic",
    ]


def test_case_55_secure_boot_stops_before_anything_is_installed(run: RunModule) -> None:
    result = run("debian", gpu={**GPU, "secure_boot": "enabled"})
    assert "Secure Boot is on" in result["problem"]
    assert "mokutil" in result["problem"]


def test_skip_is_a_problem(run: RunModule) -> None:
    result = run("ubuntu", wish="skip")
    assert result["packages"] == []
    assert result["problem"].startswith("No NVIDIA driver is installed. NVIDIA_DRIVER is skip")


def test_case_52_check_mode_before_ubuntus_tool_is_there(run: RunModule, tmp_path: pathlib.Path) -> None:
    (tmp_path / "ubuntu-drivers").unlink()
    result = run("ubuntu")
    assert (result["problem"], result["packages"]) == ("", [])


def test_secure_boot_takes_modules_that_ubuntu_signed(run: RunModule, tmp_path: pathlib.Path) -> None:
    (tmp_path / "apt-cache").write_text('#!/bin/sh\nprintf "%s:\\n  Installed: (none)\\n  Candidate: 1\\n" "$2"\n')
    result = run("ubuntu", gpu={**GPU, "secure_boot": "enabled"})
    assert (result["signed"], result["problem"]) == (True, "")


def test_a_driver_that_is_there_is_completed_in_its_version(run: RunModule) -> None:
    there = {"name": "nvidia-headless-no-dkms-570-server", "version": "570.86-1", "held": False}
    module = {"kernel": "6.8.0-88-generic", "version": "570.86.10", "open": False, "signer": ""}
    other = {**module, "kernel": "6.8.0-90-generic", "version": "570.99.99"}
    result = run("ubuntu", gpu={**GPU, "packages": [there], "modules": [other, module]})
    assert (result["packages"][0], result["pin"]) == ("nvidia-headless-no-dkms-570-server", "570.86.10")
    assert run("debian", gpu={**GPU, "loaded": {"nvidia": "570.86.10"}})["pin"] == "570.86.10"
    assert run("debian", gpu={**GPU, "library": "570.86.10"})["pin"] == "570.86.10"


def test_switches_need_their_manager(run: RunModule) -> None:
    assert "nvidia-fabricmanager" in run("debian", gpu={**GPU, "nvswitches": ["0000:87:00.0"]})["packages"]


def test_headers_that_are_there_or_that_apt_has_no_more(run: RunModule, tmp_path: pathlib.Path) -> None:
    kernel = {"running": "6.12.48+deb13-amd64"}
    assert run("debian", gpu={**GPU, "kernel": kernel})["problem"] == "", "apt has fetched no list yet"
    lists = tmp_path / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    (lists / "lock").write_text("")
    (lists / "deb.example.net_dists_trixie_main_binary-amd64_Packages").write_text("")
    assert (
        "apt has no package linux-headers-6.12.48+deb13-amd64"
        in run("debian", gpu={**GPU, "kernel": kernel})["problem"]
    )
    assert run("debian", gpu={**GPU, "kernel": kernel, "headers": [kernel["running"]]})["problem"] == ""
