# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.module_utils._swap import Unit


def write(root: Path, name: str, text: str = "") -> Path:
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def mask(root: Path, name: str) -> None:
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/null")


def test_what_is_absent_is_empty(tmp_path: Path) -> None:
    host = Host(str(tmp_path))
    assert (host.text("/etc/fstab"), host.names("/etc"), host.exists("/etc"), host.masked("/etc/x")) == (
        "",
        [],
        False,
        False,
    )
    assert host.container() == ""
    assert host.time_sync() == ("", False)
    assert not host.swap_plan()


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("/run/systemd/container", "lxc\n", "lxc"),
        ("/proc/1/environ", "A=1\0container=systemd-nspawn\0", "systemd-nspawn"),
        ("/proc/1/environ", "container=\0", "unknown"),
        ("/.dockerenv", "", "docker"),
    ],
)
def test_kinds_of_containers(tmp_path: Path, name: str, text: str, kind: str) -> None:
    write(tmp_path, name, text)
    assert Host(str(tmp_path)).container() == kind


def test_units_come_from_the_first_folder_and_fstab_s_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, "/etc/systemd/system/a.swap", "[Swap]\nWhat=/a\n")
    write(tmp_path, "/usr/lib/systemd/system/a.swap", "[Swap]\nWhat=/b\n")
    write(tmp_path, "/run/systemd/generator/dev-sda2.swap", "[Unit]\nSourcePath=/etc/fstab\n")
    write(tmp_path, "/run/systemd/generator.late/dev-sdb3.swap", "[Swap]\nWhat=/dev/sdb3\n")
    assert sorted(Host(str(tmp_path)).swap_units()) == [
        Unit("a.swap", "/etc/systemd/system/a.swap", False),
        Unit("dev-sda2.swap", "/run/systemd/generator/dev-sda2.swap", True),
        Unit("dev-sdb3.swap", "/run/systemd/generator.late/dev-sdb3.swap", False),
    ]


def test_fstab_areas_are_found_through_links(tmp_path: Path) -> None:
    write(tmp_path, "/dev/sda2")
    (tmp_path / "dev/disk/by-uuid").mkdir(parents=True)
    (tmp_path / "dev/disk/by-uuid/12-ab").symlink_to("../../sda2")
    write(tmp_path, "/etc/fstab", "UUID=12-ab none swap sw 0 0\n")
    write(tmp_path, "/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8 0 -2\n")
    plan = Host(str(tmp_path)).swap_plan()
    assert (plan.swapoff, plan.masks) == (["/dev/sda2"], [])


def test_masked_generator_and_services_count_as_done(tmp_path: Path) -> None:
    write(tmp_path, "/usr/lib/systemd/system-generators/zram-generator")
    write(tmp_path, "/usr/lib/systemd/system/zramswap.service")
    write(tmp_path, "/etc/init.d/dphys-swapfile")
    assert Host(str(tmp_path)).swap_plan().masks == [
        "/etc/systemd/system/dphys-swapfile.service",
        "/etc/systemd/system/zramswap.service",
        "/etc/systemd/system-generators/zram-generator",
    ]
    mask(tmp_path, "/etc/systemd/system/zramswap.service")
    mask(tmp_path, "/etc/systemd/system/dphys-swapfile.service")
    mask(tmp_path, "/etc/systemd/system-generators/zram-generator")
    assert not Host(str(tmp_path)).swap_plan()


def test_the_service_that_keeps_the_clock(tmp_path: Path) -> None:
    write(tmp_path, "/usr/lib/systemd/system/systemd-timesyncd.service")
    assert Host(str(tmp_path)).time_sync() == ("systemd-timesyncd.service", False)
    write(tmp_path, "/proc/77/comm", "systemd-timesyn\n")
    assert Host(str(tmp_path)).time_sync() == ("systemd-timesyncd.service", False)
    write(tmp_path, "/etc/systemd/system/sysinit.target.wants/systemd-timesyncd.service")
    assert Host(str(tmp_path)).time_sync() == ("systemd-timesyncd.service", True)


def test_the_running_one_of_two_services_counts(tmp_path: Path) -> None:
    write(tmp_path, "/lib/systemd/system/chrony.service")
    write(tmp_path, "/lib/systemd/system/systemd-timesyncd.service")
    write(tmp_path, "/etc/systemd/system/sysinit.target.wants/systemd-timesyncd.service")
    write(tmp_path, "/proc/77/comm", "systemd-timesyn\n")
    assert Host(str(tmp_path)).time_sync() == ("systemd-timesyncd.service", True)


def test_a_masked_service_is_none(tmp_path: Path) -> None:
    mask(tmp_path, "/etc/systemd/system/systemd-timesyncd.service")
    write(tmp_path, "/lib/systemd/system/systemd-timesyncd.service")
    assert Host(str(tmp_path)).time_sync() == ("", False)


def test_a_container_has_its_clock_from_outside(tmp_path: Path) -> None:
    write(tmp_path, "/run/systemd/container", "systemd-nspawn\n")
    assert Host(str(tmp_path)).time_sync() == ("outside", True)
