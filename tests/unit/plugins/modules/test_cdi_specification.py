# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A machine of files, whose commands write the specification or do not."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.modules import cdi_specification

NEW = "- hostPath: /usr/lib/libcuda.so.580.95.05\n"
OLD = NEW.replace("95.05", "65.06")
PROC = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2026\n"


class Machine:
    def __init__(self, root: Path, run_module: t.Callable[..., dict[str, t.Any]]) -> None:
        self.root, self.run_module = root, run_module
        self.asked: list[str] = []
        self.answers: dict[str, Answer] = {}
        self.writes = "systemctl"
        self.put("proc/driver/nvidia/version", PROC)

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def ask(self, argv: list[str], timeout: float) -> Answer:
        self.asked.append(" ".join(argv).replace(str(self.root), ""))
        if argv[0] == self.writes:
            self.put("var/run/cdi/nvidia.yaml", NEW)
        return self.answers.get(argv[0], Answer(0, ""))

    def run(self, *, check: bool = False) -> dict[str, t.Any]:
        return self.run_module(cdi_specification.main, {"timeout": 5}, check=check)


@pytest.fixture
def machine(tmp_path: Path, run_module: t.Callable[..., dict[str, t.Any]], monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path, run_module)
    monkeypatch.setattr(cdi_specification, "Host", lambda: Host(str(tmp_path)))
    monkeypatch.setattr(cdi_specification, "ask", machine.ask)
    return machine


def test_the_service_of_the_toolkit_writes_it_once(machine: Machine) -> None:
    machine.put("var/run/cdi/nvidia.yaml", OLD)
    result = machine.run()
    assert (result["changed"], result["driver"]) == (True, "580.95.05")
    assert result["diff"] == {"before": "driver 580.65.06\n", "after": "driver 580.95.05\n"}
    assert result["reason"] == "it is of driver 580.65.06, and 580.95.05 is loaded"
    assert machine.run()["changed"] is False
    assert machine.asked == ["systemctl start nvidia-cdi-refresh.service"]


def test_check_mode_predicts(machine: Machine) -> None:
    assert machine.run(check=True)["changed"]
    assert machine.asked == []


def test_without_a_driver_there_is_nothing_to_describe(machine: Machine) -> None:
    (machine.root / "proc/driver/nvidia/version").unlink()
    assert machine.run()["changed"] is False
    assert machine.asked == []


def test_the_program_writes_it_where_the_service_does_not(machine: Machine) -> None:
    machine.writes = "nvidia-ctk"
    assert machine.run()["changed"]
    assert machine.asked == [
        "systemctl start nvidia-cdi-refresh.service",
        "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml",
    ]


def test_what_went_wrong_is_told(machine: Machine) -> None:
    machine.writes = ""
    machine.answers = {
        "systemctl": Answer(5, "Unit nvidia-cdi-refresh.service not found.\n"),
        "nvidia-ctk": Answer(None, "", 5.0, timed_out=True),
    }
    message = machine.run()["msg"]
    assert "ended with 5: Unit nvidia-cdi-refresh.service not found." in message
    assert "did not end in 5 seconds" in message
    machine.answers["nvidia-ctk"] = Answer(None, "", present=False)
    assert "there is no nvidia-ctk" in machine.run()["msg"]
