# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from nodelab.cgroups import Groups, find_hierarchies, is_member
from nodelab.errors import LabError

VERSION_1 = """\
tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
"""
VERSION_2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"


def test_a_tree_of_version_2_beside_version_1_is_one_more() -> None:
    folder = Path("/sys/fs/cgroup")
    names = ("cpu,cpuacct", "systemd", "unified")
    assert find_hierarchies(VERSION_1) == ({name: folder / name for name in names}, False)


def test_version_2_alone() -> None:
    elsewhere = "cgroup2 /var/lib/container/cgroup cgroup2 rw 0 0\n"
    assert find_hierarchies(elsewhere + VERSION_2) == ({"cgroup": Path("/sys/fs/cgroup")}, True)


def test_none() -> None:
    assert find_hierarchies("tmpfs /tmp tmpfs rw 0 0\n") == ({}, True)


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("4:memory:/gshare-lab/dev/cpu1\n", True),
        ("9:name=systemd:/gshare-lab/dev/cpu1/system.slice/ssh.service\n4:memory:/\n", True),
        ("4:memory:/gshare-lab/dev/cpu10\n", False),
        ("4:memory:/gshare-lab/dev\n", False),
        ("0::/\n", False),
    ],
)
def test_membership_is_by_whole_names(text: str, member: bool) -> None:
    assert is_member(text, "gshare-lab/dev/cpu1") is member


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    """Groups of the lab `dev` in two made-up hierarchies of version 1."""
    for name in ("cpuset", "memory"):
        (tmp_path / name).mkdir()
    for name in ("cpuset.cpus", "cpuset.mems"):
        (tmp_path / "cpuset" / name).write_text("0-1\n", encoding="ascii")
    return Groups({"cpuset": tmp_path / "cpuset", "memory": tmp_path / "memory"}, False, "dev")


def test_a_command_is_put_into_its_group_in_every_hierarchy(groups: Groups, tmp_path: Path) -> None:
    for parts in ("gshare-lab", "gshare-lab/dev", "gshare-lab/dev/dns"):
        folder = tmp_path / "cpuset" / parts
        folder.mkdir()
        for name in ("cpuset.cpus", "cpuset.mems"):
            (folder / name).write_text("", encoding="ascii")
    done = subprocess.run(groups.command("dns", ["echo", "two words"]), capture_output=True, text=True, check=True)
    assert done.stdout == "two words\n"
    for name in ("cpuset", "memory"):
        assert (tmp_path / name / "gshare-lab/dev/dns/cgroup.procs").read_text(encoding="ascii") == "0\n"
    assert (tmp_path / "cpuset/gshare-lab/dev/dns/cpuset.cpus").read_text(encoding="ascii") == "0-1\n"


def test_processes_below_a_group_count(groups: Groups, tmp_path: Path) -> None:
    folder = tmp_path / "memory/gshare-lab/dev/cpu1/kubepods"
    folder.mkdir(parents=True)
    (folder / "cgroup.procs").write_text("4711\n4712\n", encoding="ascii")
    assert groups.pids("cpu1") == {4711, 4712}
    assert groups.pids() == {4711, 4712}
    assert groups.pids("cpu2") == set()
    assert groups.names() == ["cpu1"]


def test_a_process_that_is_not_a_member_is_never_killed(groups: Groups, tmp_path: Path) -> None:
    folder = tmp_path / "memory/gshare-lab/dev/cpu1"
    folder.mkdir(parents=True)
    # This very process stands in the list, as if its number had been used again; its real groups are others.
    (folder / "cgroup.procs").write_text(f"{os.getpid()}\n", encoding="ascii")
    with pytest.raises(LabError, match="did not end"):
        groups.kill("cpu1", timeout=0.1)


def test_empty_groups_are_removed_up_to_the_top(groups: Groups, tmp_path: Path) -> None:
    (tmp_path / "memory/gshare-lab/dev/cpu1/kubepods/pod1").mkdir(parents=True)
    groups.remove("cpu1")
    assert (tmp_path / "memory/gshare-lab/dev").is_dir()
    groups.remove()
    assert not (tmp_path / "memory/gshare-lab").exists()


def test_other_labs_groups_stay(groups: Groups, tmp_path: Path) -> None:
    (tmp_path / "memory/gshare-lab/other").mkdir(parents=True)
    groups.remove()
    assert (tmp_path / "memory/gshare-lab/other").is_dir()


def test_memory_leaves_out_cache_that_could_be_dropped(groups: Groups, tmp_path: Path) -> None:
    folder = tmp_path / "memory/gshare-lab/dev/cpu1"
    folder.mkdir(parents=True)
    (folder / "memory.usage_in_bytes").write_text("1000\n", encoding="ascii")
    (folder / "memory.stat").write_text("inactive_file 10\ntotal_inactive_file 300\n", encoding="ascii")
    assert groups.memory("cpu1") == 700
    assert groups.memory("cpu2") == 0


def test_labs_weigh_more_than_one_process(tmp_path: Path) -> None:
    top = tmp_path / "memory" / "gshare-lab"
    top.mkdir(parents=True)
    (top / "cpu.shares").write_text("1024\n", encoding="ascii")
    Groups({"memory": tmp_path / "memory"}, False, "dev").command("dns", ["true"])
    assert (top / "cpu.shares").read_text(encoding="ascii") == "8192\n"
