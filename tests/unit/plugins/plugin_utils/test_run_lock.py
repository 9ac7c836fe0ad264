# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.modules import cluster_lock
from ansible_collections.gshare.cluster.plugins.plugin_utils import _run_lock as lock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "the lock"


def shell(command: str) -> None:
    subprocess.run(["sh", "-c", command], check=False)


def test_this_process_lives_and_another_one_of_its_number_does_not() -> None:
    mine = lock.owner(os.getpid(), "up")
    assert not lock.dead(mine)
    assert lock.running(mine["pid"], mine["started"])
    assert lock.dead({**mine, "started": "Mon Jan 1 00:00:00 2024"})
    assert not lock.running(mine["pid"], "Mon Jan 1 00:00:00 2024")
    assert not lock.dead({**mine, "machine": "elsewhere"}), "nobody can know that from here"


def test_a_process_that_has_ended() -> None:
    with subprocess.Popen(["sleep", "100"]) as process:
        mine = lock.owner(process.pid, "up")
        process.kill()
    assert lock.dead(mine)
    assert not lock.running(mine["pid"], mine["started"])


def test_the_owner_speaks_and_gives_it_back(path: Path) -> None:
    mine = lock.owner(os.getpid(), "it's")
    cluster_lock.take(str(path), mine, ())
    os.utime(path, (1, 1))
    shell(lock.speak(str(path), mine))
    assert cluster_lock.read(str(path))["silent"] < 60
    shell(lock.release(str(path), mine))
    assert not path.exists()
    shell(lock.speak(str(path), mine))
    assert cluster_lock.read(str(path))["id"] == mine["id"], "a reboot of the machine took it along"


def test_nobody_touches_the_lock_of_another(path: Path) -> None:
    other, mine = {"id": "other"}, lock.owner(os.getpid(), "up")
    cluster_lock.take(str(path), other, ())
    os.utime(path, (1, 1))
    shell(lock.speak(str(path), mine))
    shell(lock.release(str(path), mine))
    assert cluster_lock.read(str(path))["id"] == "other"
    assert path.stat().st_mtime == 1


def test_what_a_second_run_is_told() -> None:
    other = {"user": "alice", "host": "desk", "pid": 4711, "playbook": "up.yml", "since": 1000.0, "silent": 3.2}
    told = lock.sentence(other, 1725.0)
    assert (
        "up.yml by alice on desk (process 4711), for 12 min 05 s, last heard of 3.2 s ago. Nothing was changed." in told
    )
    assert "end it there with kill 4711" in told
