# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real runs of ansible-playbook on this machine, with a lock in a folder of the test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.action import cluster_lock

PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - gshare.cluster.cluster_lock: &lock {path: "{{ path }}"}
    - gshare.cluster.cluster_lock: *lock
    - ansible.builtin.command: sleep {{ seconds }} # the work of the run
"""
assert cluster_lock


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def start(tmp_path: Path, lock: Path) -> t.Iterator[t.Callable[..., subprocess.Popen[str]]]:
    (tmp_path / "up.yml").write_text(PLAYBOOK)
    with contextlib.ExitStack() as stack:

        def run(seconds: float = 0, *more: str) -> subprocess.Popen[str]:
            program = str(Path(sys.executable).parent / "ansible-playbook")
            words = [
                "-i",
                "h1,",
                "-c",
                "local",
                "-e",
                f"path={lock} seconds={seconds}",
                str(tmp_path / "up.yml"),
                *more,
            ]
            words += ["-e", f"ansible_python_interpreter={sys.executable}"]
            process = subprocess.Popen(
                [program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
            )
            stack.callback(_end, process)
            return stack.enter_context(process)

        yield run


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def until(condition: t.Callable[[], bool], limit: float = 30) -> bool:
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def test_a_second_run_ends_with_the_owner_and_the_lock_goes_with_the_first(start, lock: Path) -> None:
    first = start(8)
    assert until(lock.exists)
    second, _error = start().communicate(timeout=60)
    assert f"up.yml by {lock.owner()}" in " ".join(second.split())
    # Whoever reads what the first one prints is not kept waiting by the process beside it.
    shown, _error = first.communicate(timeout=60)
    assert first.returncode == 0, shown
    assert "changed=1" in shown
    assert until(lambda: not lock.exists(), 10)


def test_a_run_that_was_killed_is_followed_at_once(start, lock: Path) -> None:
    first = start(300)
    assert until(lock.exists)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    second = start()
    shown, _error = second.communicate(timeout=60)
    assert second.returncode == 0, shown
    assert until(lambda: not lock.exists(), 10)


def test_check_mode_needs_none(start, lock: Path) -> None:
    first = start(300)
    assert until(lock.exists)
    assert start(0, "--check").wait(timeout=60) == 0
    first.kill()
