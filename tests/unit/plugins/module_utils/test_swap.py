# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils import _swap
from ansible_collections.gshare.cluster.plugins.module_utils._swap import Area, Plan, Unit

FSTAB = Path(__file__).parent / "fixtures" / "fstab"
HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"


@pytest.mark.parametrize("name", sorted(path.name for path in (FSTAB / "input").iterdir()))
def test_fstab_keeps_all_bytes_but_the_swap_lines(name: str) -> None:
    before = (FSTAB / "input" / name).read_bytes()
    after = _swap.fstab_without_swap(before.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    assert after == (FSTAB / "golden" / name).read_bytes()


@pytest.mark.parametrize("name", sorted(path.name for path in (FSTAB / "golden").iterdir()))
def test_a_second_edit_changes_nothing(name: str) -> None:
    text = (FSTAB / "golden" / name).read_bytes().decode("utf-8", "surrogateescape")
    assert _swap.fstab_without_swap(text) == text
    assert _swap.fstab_devices(text) == []


LINES = st.lists(st.text(st.characters(blacklist_categories=["Cs"]), max_size=40))


@given(LINES)
def test_a_file_without_swap_comes_back_the_same(lines: list[str]) -> None:
    text = "\n".join(line.replace("swap", "data") for line in lines)
    assert _swap.fstab_without_swap(text) == text


@given(LINES, st.sampled_from(["/dev/sda2 none swap sw 0 0", "\tUUID=1 x swap defaults\r", "/a b swap pri=1"]))
def test_no_swap_is_left_and_nothing_else_is_touched(lines: list[str], swap: str) -> None:
    text = "\n".join([*lines, swap, *lines])
    after = _swap.fstab_without_swap(text)
    assert _swap.fstab_devices(after) == []
    assert _swap.fstab_without_swap(after) == after
    pairs = list(zip(text.split("\n"), after.split("\n"), strict=True))
    assert all(new in (old, "# " + old) for old, new in pairs)


def test_areas_are_read_from_the_kernel_not_from_fstab() -> None:
    text = HEADER + (
        "/dev/zram0                              partition\t8388604\t\t0\t\t100\n"
        "/dev/nvme0n1p3                          partition\t2097148\t\t12\t\t-2\n"
        "/swap\\040file                           file\t\t1024\t\t0\t\t-3\n"
    )
    assert _swap.areas(text) == [
        Area("/dev/zram0", "partition", 8388604, 0),
        Area("/dev/nvme0n1p3", "partition", 2097148, 12),
        Area("/swap file", "file", 1024, 0),
    ]


@pytest.mark.parametrize("text", [HEADER, "", "\n"])
def test_a_header_alone_means_off(text: str) -> None:
    assert _swap.areas(text) == []


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ("UUID=12-ab none swap sw", "/dev/disk/by-uuid/12-ab"),
        ('PARTLABEL="a" none swap sw', "/dev/disk/by-partlabel/a"),
        ("/swap\\040file none swap sw", "/swap file"),
        ("/dev/sda2 none swap sw", "/dev/sda2"),
    ],
)
def test_devices_of_fstab(line: str, device: str) -> None:
    assert _swap.fstab_devices(f"# x\n{line}\n") == [device]


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("/dev/nvme0n1p3", "dev-nvme0n1p3.swap"),
        ("/dev/disk/by-uuid/00-aa", "dev-disk-by\\x2duuid-00\\x2daa.swap"),
        ("/swap file", "swap\\x20file.swap"),
        ("/.hid", "\\x2ehid.swap"),
        ("//swap.img", "swap.img.swap"),
    ],
)
def test_unit_names_are_those_of_systemd_escape(path: str, unit: str) -> None:
    assert _swap.unit_name(path) == unit


def plan(**changes: object) -> Plan:
    found: dict[str, object] = {
        "active": [],
        "fstab": "UUID=0000-0001 / ext4 defaults 0 1\n",
        "fstab_areas": [],
        "units": [],
        "services": [],
        "zram_generator": False,
        "masked": set(),
    }
    return _swap.plan(**{**found, **changes})  # type: ignore[arg-type]  # a test's shorthand


def test_nothing_to_do_is_an_empty_plan() -> None:
    assert not plan()


def test_swap_of_fstab_needs_no_mask() -> None:
    found = plan(
        fstab="/dev/sda2 none swap sw\n",
        active=[Area("/dev/sda2", "partition", 1, 0)],
        fstab_areas=["/dev/sda2"],
        units=[Unit("dev-sda2.swap", "/run/systemd/generator/dev-sda2.swap", True)],
    )
    assert found == Plan(fstab="# /dev/sda2 none swap sw\n", aside=[], masks=[], swapoff=["/dev/sda2"])


def test_case_75_zram_and_a_partition_that_systemd_found() -> None:
    found = plan(
        active=[Area("/dev/zram0", "partition", 1, 0), Area("/dev/nvme0n1p3", "partition", 1, 0)],
        units=[
            Unit("dev-zram0.swap", "/run/systemd/generator/dev-zram0.swap", False),
            Unit("dev-nvme0n1p3.swap", "/run/systemd/generator.late/dev-nvme0n1p3.swap", False),
        ],
        zram_generator=True,
    )
    assert found.fstab is None
    assert found.swapoff == ["/dev/zram0", "/dev/nvme0n1p3"]
    assert found.masks == [
        "/etc/systemd/system/dev-zram0.swap",
        "/etc/systemd/system/dev-nvme0n1p3.swap",
        "/etc/systemd/system/swap.target",
        "/etc/systemd/system-generators/zram-generator",
    ]


def test_a_unit_file_of_the_owner_is_moved_not_lost() -> None:
    unit = Unit("data-swapfile.swap", "/etc/systemd/system/data-swapfile.swap", False)
    found = plan(units=[unit])
    assert found.aside == ["/etc/systemd/system/data-swapfile.swap"]
    assert found.masks == ["/etc/systemd/system/data-swapfile.swap", "/etc/systemd/system/swap.target"]


def test_what_is_masked_is_done() -> None:
    unit = Unit("data-swapfile.swap", "/etc/systemd/system/data-swapfile.swap", False)
    assert not plan(
        units=[unit],
        services=["zramswap.service"],
        zram_generator=True,
        masked={
            "data-swapfile.swap",
            "swap.target",
            "zramswap.service",
            "zram-generator",
        },
    )


def test_services_that_make_swap_are_masked() -> None:
    assert plan(services=["swapspace.service"]).masks == ["/etc/systemd/system/swapspace.service"]
