# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
import sys
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
    assert lock.dead({**mine, "started": "1"})
    assert not lock.dead({**mine, "started": "1", "machine": "elsewhere"}), "nobody can know that from here"


def test_a_process_that_has_ended_is_dead_also_before_its_parent_knows() -> None:
    with subprocess.Popen(["sleep", "100"]) as process:
        mine = lock.owner(process.pid, "up")
        assert not lock.dead(mine)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert lock.dead(mine), "a zombie"
    assert lock.dead(mine)


ORPHAN = """
import multiprocessing, os, time
from ansible_collections.gshare.cluster.plugins.plugin_utils import _run_lock as lock
def work(main):
    while os.getppid() == main:
        time.sleep(0.05)
    mine = lock.owner(lock.main_process(), "up")
    print(mine["pid"], lock.ended(mine["pid"], mine["started"]), flush=True)
multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),)).start()
os.kill(os.getpid(), 9)
"""


def test_a_worker_whose_run_was_killed_does_not_take_its_adopter_for_the_run() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as run:
        # The run is not waited for, so that it is a zombie when the worker looks.
        assert run.stdout
        assert run.stdout.readline() == f"{run.pid} True\n"


def test_a_process_that_is_hidden_from_this_user_is_not_known_to_be_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    monkeypatch.setattr(lock, "started", lambda _pid: "")
    assert not lock.ended(4711, "1")


def test_a_start_by_ps_tells_processes_apart_too() -> None:
    begin = lock._started_by_ps(os.getpid())
    assert len(begin.split()) == 5, "such as Tue Dec 1 15:45:02 2026"
    with subprocess.Popen(["sleep", "100"]) as process:
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert lock._started_by_ps(process.pid) == "ended"
    assert lock._started_by_ps(process.pid) == ""


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(lock.getpass, "getuser", none)
    assert lock.owner(os.getpid(), "up")["user"] == str(os.getuid())


def test_the_owner_speaks_and_gives_it_back(path: Path) -> None:
    mine = lock.owner(os.getpid(), "it's")
    cluster_lock.take(str(path), mine, ())
    os.utime(path, (1, 1))
    shell(lock.speak(str(path), mine))
    assert 0 <= cluster_lock.read(str(path))["silent"] < 60
    shell(lock.release(str(path), mine))
    assert not path.exists()
    shell(lock.speak(str(path), mine))
    assert cluster_lock.read(str(path))["id"] == mine["id"], "a reboot of the machine took it along"
    assert not cluster_lock.take(str(path), {"id": "other"}, ())["taken"]


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
    assert lock.sentence(other, 1725.0) == (
        "Another run works on this cluster: up.yml by alice on desk (process 4711), for 12 min 05 s, last heard of "
        "3.2 s ago. This run ends here. Wait for the other's end; if it hangs, end it there with kill 4711. If it is "
        "dead, its lock is taken over within a minute."
    )
    del other["since"]
    assert "(process 4711), last heard of" in lock.sentence(other, 1725.0), "the machine was rebooted since"
