# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import multiprocessing
import os
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.modules import cluster_lock

Json = dict[str, t.Any]
ALICE = {"id": "a/1/x", "user": "alice"}
BOB = {"id": "b/2/y", "user": "bob"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def take(path: Path, run_module: t.Callable[..., Json], monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., Json]:
    monkeypatch.setattr(cluster_lock, "DOUBT", 0)

    def run(owner: Json, *dead: str, check: bool = False) -> Json:
        args = {"path": str(path), "owner": owner, "dead": list(dead)}
        return run_module(cluster_lock.main, args, check=check)

    return run


def silent(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_the_first_has_it_and_the_second_learns_whose_it_is(take, path: Path) -> None:
    first = take(ALICE)
    assert (first["taken"], first["new"], first["changed"]) == (True, True, False)
    second = take(BOB)
    assert (second["taken"], second["owner"]["user"]) == (False, "alice")
    assert second["owner"]["since"] <= second["now"]
    again = take(ALICE)
    assert (again["taken"], again["new"]) == (True, False)


def test_check_mode_takes_nothing(take, path: Path) -> None:
    assert take(ALICE, check=True)["taken"] is False
    assert not path.exists()


def test_a_dead_owner_is_followed_at_once(take) -> None:
    take(ALICE)
    assert take(BOB, ALICE["id"])["new"]
    assert take(ALICE)["owner"]["user"] == "bob"


def test_a_lock_that_nobody_speaks_for_is_taken_over(take, path: Path) -> None:
    take(ALICE)
    silent(path, cluster_lock.STALE - 5)
    assert not take(BOB)["taken"]
    silent(path, cluster_lock.STALE + 5)
    assert take(BOB)["taken"]


def test_a_clock_that_jumped_makes_nobody_dead(take, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(ALICE)
    silent(path, 10_000)
    # The heartbeat comes while the lock is watched.
    monkeypatch.setattr(cluster_lock.time, "sleep", lambda _seconds: os.utime(path))
    assert not take(BOB)["taken"]
    silent(path, -10_000)
    assert not take(BOB)["taken"], "heard of in the future"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": '])
def test_half_a_lock_is_none(take, path: Path, text: str) -> None:
    path.write_text(text)
    assert take(ALICE)["new"]
    assert json.loads(path.read_text())["user"] == "alice"


def test_a_place_that_is_not_there(take, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.rmdir()
    assert take(ALICE)["msg"] == f"The lock {path} cannot be taken: No such file or directory."


def _race(path: str, name: str, gate: t.Any, results: t.Any) -> None:
    gate.wait()
    results.put(cluster_lock.take(path, {"id": name}, ())["taken"])


def test_of_two_that_come_together_one_has_it(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for _round in range(20):
        gate, results = context.Barrier(3), context.Queue()
        runs = [context.Process(target=_race, args=(str(path), name, gate, results)) for name in "abc"]
        for run in runs:
            run.start()
        taken = [results.get(timeout=20) for _run in runs]
        for run in runs:
            run.join()
        assert taken.count(True) == 1
        path.unlink()
