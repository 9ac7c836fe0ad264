# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import gpu_load

Run = t.Callable[..., dict[str, t.Any]]


@pytest.fixture
def run(run_module: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("modprobe", "systemctl", "journalctl"):
        program(tmp_path, name, '[ "$1" = is-active ] && exit 3; exit 0')
    return functools.partial(run_module, functools.partial(gpu_load.main, str(tmp_path)))


def program(root: pathlib.Path, name: str, script: str) -> None:
    path = root / "bin" / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> {root}/log\n{script}\n')
    path.chmod(0o755)


def unit(root: pathlib.Path, name: str) -> None:
    path = root / f"usr/lib/systemd/system/{name}.service"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def test_it_loads_and_starts_what_is_installed(run: Run, tmp_path: pathlib.Path) -> None:
    unit(tmp_path, "nvidia-persistenced")
    args = {"services": ["nvidia-persistenced", "nvidia-fabricmanager"]}
    wanted = ["modprobe nvidia", "start of nvidia-persistenced"]
    assert run(args, check=True)["done"] == wanted
    assert "modprobe" not in (tmp_path / "log").read_text()
    assert run(args)["done"] == wanted
    log = (tmp_path / "log").read_text()
    assert "modprobe nvidia\nmodprobe nvidia_uvm\n" in log
    assert "systemctl start nvidia-persistenced\n" in log


@pytest.mark.parametrize(("state", "started"), [("active", False), ("activating", False), ("inactive", True)])
def test_a_service_that_systemd_starts_by_itself_is_let_alone(
    run: Run, tmp_path: pathlib.Path, state: str, started: bool
) -> None:
    unit(tmp_path, "nvidia-persistenced")
    program(tmp_path, "systemctl", f'[ "$1" = is-active ] && echo {state}; [ "$1 {state}" != "is-active inactive" ]')
    assert ("start of nvidia-persistenced" in run({})["done"]) is started


def test_nothing_to_do(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/version").write_text("NVRM")
    assert run({}) == {**run({}), "changed": False, "done": []}


def test_a_module_that_never_loads(run: Run, tmp_path: pathlib.Path) -> None:
    program(tmp_path, "modprobe", "echo \"modprobe: ERROR: could not insert 'nvidia': No such device\"; exit 1")
    program(tmp_path, "journalctl", "echo 'NVRM: No NVIDIA devices probed.'; echo 'other'")
    assert run({})["msg"] == (
        "NVIDIA's kernel module cannot be loaded: modprobe nvidia: modprobe: ERROR: could not insert 'nvidia': "
        "No such device\n  NVRM: No NVIDIA devices probed."
    )


def test_a_service_that_does_not_start(run: Run, tmp_path: pathlib.Path) -> None:
    unit(tmp_path, "nvidia-persistenced")
    program(tmp_path, "systemctl", "echo failed; exit 1")
    program(tmp_path, "journalctl", "echo 'Failed to query NVIDIA devices.'")
    assert run({})["msg"] == "nvidia-persistenced does not start: failed\nFailed to query NVIDIA devices."
    assert "journalctl -u nvidia-persistenced -b " in (tmp_path / "log").read_text()


def test_without_the_module_of_unified_memory_the_driver_works_all_the_same(run: Run, tmp_path: pathlib.Path) -> None:
    program(tmp_path, "modprobe", '[ "$1" = nvidia ]')
    assert run({})["done"] == ["modprobe nvidia"]


def test_a_modprobe_that_hangs(run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_load, "_LIMIT", 0.3)
    program(tmp_path, "modprobe", "exec /bin/sleep 30")
    assert run({})["msg"] == "NVIDIA's kernel module cannot be loaded: modprobe nvidia: did not end"
