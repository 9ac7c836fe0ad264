# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _apt_lock

HOLD = """
import fcntl, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def held(tmp_path: Path) -> t.Iterator[tuple[Path, int]]:
    """A lock file that another process holds, as apt does."""
    lock = tmp_path / "lock-frontend"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield lock, process.pid
        process.terminate()


def test_the_holder_is_named(held: tuple[Path, int]) -> None:
    lock, pid = held
    (holder,) = _apt_lock.holders([str(lock), str(lock)])
    assert (holder.pid, holder.paths) == (pid, [str(lock), str(lock)])
    assert holder.process.startswith("python")
    assert 0 <= holder.seconds < 60
    assert str(holder).endswith(f"(pid {pid}, running for {holder.seconds} s)")


def test_a_free_or_absent_lock_has_no_holder(tmp_path: Path) -> None:
    free = tmp_path / "lock"
    free.touch()
    assert _apt_lock.holders([str(free), str(tmp_path / "absent"), str(free / "below")]) == []


def test_asking_does_not_take_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    _apt_lock.holders([str(lock)])
    take = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    assert subprocess.run([sys.executable, "-c", take, str(lock)], check=False).returncode == 0


@pytest.mark.parametrize(
    ("cmdline", "comm", "name"),
    [
        (b"/usr/bin/python3\0/usr/bin/unattended-upgrade\0--download-only\0", "unattended-upgr", "unattended-upgrade"),
        (b"apt-get\0install\0foo\0", "apt-get", "apt-get"),
        (b"/usr/bin/perl\0-w\0/usr/sbin/needrestart\0", "needrestart", "needrestart"),
        (b"python3\0-c\0open('/x/y')\0", "python3", "python3"),
        (b"/bin/sh\0./postinst\0configure\0", "postinst", "postinst"),
        (b"nginx: master process\0", "nginx", "nginx"),
        (b"", "kworker\n", "kworker"),
        (b"", "", "?"),
    ],
)
def test_a_script_goes_by_its_own_name(cmdline: bytes, comm: str, name: str) -> None:
    assert _apt_lock.process_name(cmdline, comm) == name


def test_the_start_is_found_behind_an_odd_name() -> None:
    rest = " ".join(str(number) for number in range(4, 50))
    assert _apt_lock.started_ticks(f"12 (a) b (c) S {rest}") == 22


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h")]
)
def test_spans_as_people_say_them(seconds: int, text: str) -> None:
    assert _apt_lock.spoken(seconds) == text


def test_a_process_outside_the_container_is_said_to_be_there() -> None:
    assert str(_apt_lock.Holder(0, "?", 0, ["/x"])) == "a process outside this container"


def test_a_process_that_ended_is_no_error() -> None:
    assert _apt_lock.describe(2**22 + 1) == ("?", 0)
    assert _apt_lock.describe(os.getpid())[1] >= 0
