# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import cri_images

Run = t.Callable[..., dict[str, t.Any]]
SOCKET = "--runtime-endpoint unix:///run/containerd/containerd.sock"
CRICTL = """#!/bin/sh
cd {root}; echo "$*" >> log
fatal() {{ echo "time=\\"x\\" level=fatal msg=\\"$1\\"" >&2; exit 1; }}
[ -e down ] && fatal 'validate service connection: rpc error: code = Unavailable desc = no such file or directory'
case "$3 $4" in
  inspecti*) grep -qx "$5" images || fatal 'no such image \\"x\\" present';;
  *slow*) exec sleep 60;;
  *gone*) fatal 'pulling image: rpc error: code = NotFound desc = gone:1: not found';;
  pull*) echo "$4" >> images;;
esac
"""


@pytest.fixture
def run(run_module: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    program = tmp_path / "crictl"
    program.write_text(CRICTL.format(root=tmp_path))
    program.chmod(0o755)
    (tmp_path / "images").write_text("there:1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return functools.partial(run_module, cri_images.main)


def pulls(root: pathlib.Path) -> list[str]:
    return [line for line in (root / "log").read_text().splitlines() if "inspecti" not in line]


def test_what_is_missing_is_pulled_once(run: Run, tmp_path: pathlib.Path) -> None:
    wanted = {"images": ["there:1", "new:1"]}
    predicted = run(wanted, check=True)
    assert (predicted["changed"], predicted["pulled"]) == (True, ["new:1"])
    assert pulls(tmp_path) == []
    assert run(wanted)["pulled"] == ["new:1"]
    assert pulls(tmp_path) == [f"{SOCKET} pull new:1"]
    again = run(wanted)
    assert (again["changed"], again["pulled"]) == (False, [])


def test_all_that_cannot_be_pulled_is_told(run: Run) -> None:
    result = run({"images": ["gone:1", "new:1", "slow:1"], "timeout": 1})
    assert result["msg"] == (
        "gone:1 cannot be pulled: gone:1: not found. "
        "slow:1 cannot be pulled: it did not come within 1 s; raise images_timeout, or see the network."
    )
    assert (result["changed"], result["pulled"]) == (True, ["new:1"])


def test_a_runtime_that_does_not_answer(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "down").touch()
    for check in (True, False):
        result = run({"images": ["new:1"]}, check=check)
        assert result["msg"] == "new:1 cannot be pulled: no such file or directory."


def test_a_machine_without_crictl(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "crictl").unlink()
    assert run({"images": ["new:1"]}, check=True)["pulled"] == ["new:1"]
    assert "crictl is not installed; run gshare.cluster.up first." in run({"images": ["new:1"]})["msg"]
