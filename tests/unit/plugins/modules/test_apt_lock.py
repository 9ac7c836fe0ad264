# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
import sys
import threading
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.modules import apt_lock

HOLD = """
import fcntl, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> t.Iterator[subprocess.Popen[str]]:
    script = tmp_path / "unattended-upgrade"
    script.write_text(HOLD)
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.terminate()


def test_a_free_lock_is_not_waited_for(tmp_path: Path, run_module: t.Any) -> None:
    result = run_module(apt_lock.main, {"paths": [str(tmp_path / "lock")]})
    assert (result["changed"], result["holders"], result["waited"]) == (False, [], 0)


def test_a_dpkg_that_was_cut_off_is_told_unless_one_is_at_work(
    tmp_path: Path, run_module: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apt_lock, "JOURNAL", str(tmp_path / "updates"))
    args = {"paths": [str(tmp_path / "lock")]}
    assert run_module(apt_lock.main, args)["interrupted"] is False
    (tmp_path / "updates").mkdir()
    (tmp_path / "updates/0000").touch()
    assert run_module(apt_lock.main, args)["interrupted"] is True
    busy = [apt_lock.Holder(7, "dpkg", 3, ["lock"])]
    monkeypatch.setattr(apt_lock, "holders", lambda paths: busy)
    assert run_module(apt_lock.main, args, check=True)["interrupted"] is False


def test_case_80_the_end_of_the_wait_names_the_holder(
    holder: subprocess.Popen[str], tmp_path: Path, run_module: t.Any
) -> None:
    lock = str(tmp_path / "lock")
    result = run_module(apt_lock.main, {"paths": [lock], "timeout": 1})
    assert result["failed"] is True
    assert result["msg"].startswith(f"unattended-upgrade (pid {holder.pid}, running for ")
    assert f"still holds {lock} after 1 s of waiting" in result["msg"]


def test_check_mode_tells_and_does_not_wait(holder: subprocess.Popen[str], tmp_path: Path, run_module: t.Any) -> None:
    result = run_module(apt_lock.main, {"paths": [str(tmp_path / "lock")]}, check=True)
    assert result["holders"][0]["pid"] == holder.pid
    assert "a real run waits for up to 10 min" in result["msg"]


def test_case_80_a_lock_that_comes_free_is_waited_for(
    holder: subprocess.Popen[str], tmp_path: Path, run_module: t.Any
) -> None:
    threading.Timer(1, holder.terminate).start()
    result = run_module(apt_lock.main, {"paths": [str(tmp_path / "lock")], "timeout": 30})
    assert result["holders"][0]["process"] == "unattended-upgrade"
    assert result["msg"].startswith("Waited ")


@pytest.mark.parametrize("names", [[], ["deb.example_dists_stable_main_binary-amd64_Packages.lz4"]])
def test_it_tells_whether_apt_knows_any_package(
    names: list[str], tmp_path: Path, run_module: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*names, "lock"]:
        (tmp_path / name).touch()
    monkeypatch.setattr(apt_lock, "PACKAGE_LISTS", str(tmp_path / "*_Packages*"))
    result = run_module(apt_lock.main, {"paths": [str(tmp_path / "lock")]})
    assert result["package_lists"] is bool(names)
