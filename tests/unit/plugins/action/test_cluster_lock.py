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
from ansible import context

from ansible_collections.gshare.cluster.plugins.action import cluster_lock
from ansible_collections.gshare.cluster.plugins.modules.cluster_lock import uptime

PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - gshare.cluster.cluster_lock: &lock {path: "{{ path }}"}
    - gshare.cluster.cluster_lock: *lock
    - ansible.builtin.command: sleep {{ seconds }} # the work of the run
"""
# As playbooks/_lock.yml asks, before work on two machines.
DELEGATED = """
- hosts: all
  gather_facts: false
  tasks:
    - gshare.cluster.cluster_lock: {path: "{{ path }}", required: "{{ required }}"}
      delegate_to: control1
      run_once: true
    - ansible.builtin.debug: {msg: work on the machines}
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def start(tmp_path: Path, lock: Path) -> t.Iterator[t.Callable[..., subprocess.Popen[str]]]:
    (tmp_path / "hosts.yml").write_text("all: {hosts: {worker1: {}, worker2: {}, control1: {}}}")
    with contextlib.ExitStack() as stack:

        def run(seconds: float = 0, *more: str, playbook: str = PLAYBOOK, hosts: str = "h1,") -> subprocess.Popen[str]:
            (tmp_path / "up.yml").write_text(playbook)
            program = str(Path(sys.executable).parent / "ansible-playbook")
            words = ["-i", hosts, "-c", "local", str(tmp_path / "up.yml"), *more]
            words += ["-e", f"path={lock} seconds={seconds} ansible_python_interpreter={sys.executable}"]
            process = subprocess.Popen(
                [program, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                env={**os.environ, "RUN_OF": str(tmp_path)},
            )
            return stack.enter_context(process)

        yield run
        for process in of_runs(tmp_path):  # workers are in sessions of their own, and outlive a run that is killed
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


@pytest.fixture
def delegated(start, tmp_path: Path) -> t.Callable[..., str]:
    """What a run shows that asks as playbooks do."""

    def run(*more: str, required: bool = True) -> str:
        words = ("-e", f"required={required}", *more)
        shown, _error = start(0, *words, playbook=DELEGATED, hosts=str(tmp_path / "hosts.yml")).communicate(timeout=60)
        return " ".join(shown.split())

    return run


def until(condition: t.Callable[[], bool], limit: float = 30) -> bool:
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.mark.parametrize(
    ("words", "shown"),
    [(("/srv/playbooks/up.yml", "other.yml"), "up.yml"), (("gshare.cluster.up",), "gshare.cluster.up"), ((), "")],
)
def test_a_run_is_known_by_its_first_playbook(
    words: tuple[str, ...], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "CLIARGS", {"args": words, "inventory": ("hosts.yml",)})
    assert cluster_lock._playbook() == shown


def of_runs(folder: Path) -> list[int]:
    """All processes of a test's runs."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"RUN_OF={folder}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def speakers(folder: Path) -> list[int]:
    """Those that hold nothing but /dev/null."""
    found = []
    for process in of_runs(folder):
        with contextlib.suppress(OSError):
            if {os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir()} == {"/dev/null"}:
                found.append(process)
    return found


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


def test_a_run_that_was_killed_gives_the_lock_back(start, lock: Path, tmp_path: Path) -> None:
    first = start(300)
    assert until(lambda: lock.exists() and bool(speakers(tmp_path)))
    os.kill(first.pid, signal.SIGKILL)  # and not waited for
    assert until(lambda: not lock.exists(), 10)
    assert until(lambda: not speakers(tmp_path), 10)


def test_a_run_that_was_killed_is_followed_at_once(start, lock: Path) -> None:
    first = start(300)
    assert until(lock.exists)
    os.kill(first.pid, signal.SIGKILL)
    second = start()
    shown, _error = second.communicate(timeout=60)
    assert second.returncode == 0, shown
    assert until(lambda: not lock.exists(), 10)


def test_check_mode_needs_none(start, lock: Path) -> None:
    start(300)
    assert until(lock.exists)
    assert start(0, "--check").wait(timeout=60) == 0


def test_one_takes_it_for_all_also_if_a_limit_leaves_the_control_plane_out(delegated, lock: Path) -> None:
    shown = delegated("--limit", "worker2")
    assert "worker2 -> control1" in shown
    assert "work on the machines" in shown
    assert until(lambda: not lock.exists(), 10)
    lock.write_text('{"id": "x", "playbook": "reset.yml", "user": "bob", "host": "desk", "pid": 7}')
    os.utime(lock, (uptime(), uptime()))
    shown = delegated(required=False)
    assert "Another run works on this cluster: reset.yml by bob on desk (process 7)" in shown
    assert "work on the machines" not in shown, "on any of them"


def test_a_control_plane_that_cannot_be_asked(delegated, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.yml"
    hosts.write_text(
        "all: {hosts: {worker1: {}, worker2: {}, control1: "
        "{ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}}}"
    )
    assert "work on the machines" not in delegated(), "on any of them"
    assert "work on the machines" in delegated(required=False)


def test_a_control_plane_whose_sudo_wants_a_password(delegated, lock: Path, tmp_path: Path) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    sudo.chmod(0o755)
    become = ("--become", "-e", f"ansible_become_exe={sudo} ansible_become_user=nobody")
    assert "work on the machines" not in delegated(*become), "on any of them"
    assert "work on the machines" in delegated(*become, required=False)
    assert not lock.exists()
