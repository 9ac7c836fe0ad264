# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.modules import cluster_lock
from ansible_collections.gshare.cluster.plugins.plugin_utils import _run_lock as lock

Json = dict[str, t.Any]
ALICE = {"id": "a/1/x", "user": "alice"}
BOB = {"id": "b/2/y", "user": "bob"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def take(path: Path, run_module: t.Callable[..., Json]) -> t.Callable[..., Json]:
    def run(owner: Json, *dead: str, check: bool = False) -> Json:
        args = {"path": str(path), "owner": owner, "dead": list(dead)}
        return run_module(cluster_lock.main, args, check=check)

    return run


def silent(path: Path, seconds: float) -> None:
    moment = cluster_lock.uptime() - seconds
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
    after = take(BOB, ALICE["id"])
    assert (after["new"], after["changed"], after["taken_over"]["user"]) == (True, False, "alice")
    assert take(ALICE)["owner"]["user"] == "bob"


def test_a_lock_that_nobody_speaks_for_is_taken_over(take, path: Path) -> None:
    take(ALICE)
    silent(path, cluster_lock.STALE - 5)
    assert not take(BOB)["taken"]
    silent(path, cluster_lock.STALE + 5)
    assert take(BOB)["taken_over"]["user"] == "alice"


def test_the_machine_counts_by_its_uptime(take, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_lock, "uptime", lambda: 1000.0)
    take(ALICE)
    monkeypatch.setattr(cluster_lock, "uptime", lambda: 1030.0)
    second = take(BOB)
    assert (second["owner"]["since"], second["owner"]["silent"], second["now"]) == (1000.0, 30.0, 1030.0)
    monkeypatch.setattr(cluster_lock, "uptime", lambda: 20.0)
    assert take(BOB)["taken"], "a lock from before the machine's start"


def test_everybody_may_read_the_lock_and_only_root_can_hold_the_guard(take, path: Path) -> None:
    take(ALICE)
    assert [file.stat().st_mode & 0o777 for file in (path, Path(f"{path}.guard"))] == [0o644, 0o600]
    assert sorted(file.name for file in path.parent.iterdir()) == ["lock", "lock.guard"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"id": '])
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
    for _round in range(50):
        gate, results = context.Barrier(3), context.Queue()
        runs = [context.Process(target=_race, args=(str(path), name, gate, results)) for name in "abc"]
        for run in runs:
            run.start()
        taken = [results.get(timeout=20) for _run in runs]
        for run in runs:
            run.join()
        assert taken.count(True) == 1
        path.unlink()


@pytest.mark.parametrize("command", [lock.speak, lock.release])
def test_who_is_followed_meanwhile_leaves_the_lock_alone(path: Path, command: t.Callable[[str, Json], str]) -> None:
    for _round in range(30):
        cluster_lock.take(str(path), ALICE, ())
        with subprocess.Popen(["sh", "-c", command(str(path), ALICE)]):
            assert cluster_lock.take(str(path), BOB, (ALICE["id"],))["taken"]
        assert cluster_lock.read(str(path))["id"] == BOB["id"]
        path.unlink()
