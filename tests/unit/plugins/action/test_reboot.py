# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.gshare.cluster.plugins.action import reboot as action
from ansible_collections.gshare.cluster.plugins.plugin_utils._reboot import Probe

OLD = "0b1f7a32-9c55-4d6e-8a1b-2f3c4d5e6f70"
NEW = "1c2e8b43-0d66-4e7f-9b2c-3a4d5e6f7081"
PENDING: dict[str, t.Any] = {
    "repair": "reboot",
    "problems": ["It was not rebooted since."],
    "remedy": "Reboot.",
    "in_use": [],
    "smi": {"kind": "not_loaded"},
}
WORKS = {**PENDING, "repair": "nothing", "problems": []}
Act = t.Callable[..., dict[str, t.Any]]


class Machine:
    """Its answers by command, one a call; the module's answers; what was shown."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Probe]] = {}
        self.gpu: list[dict[str, t.Any]] = []
        self.commands: list[str] = []
        self.shown: list[str] = []
        self.now = 1000.0

    def probe(self, _action: t.Any, command: str) -> Probe:
        self.commands.append(command)
        left = self.answers.get(command) or [Probe(0)]
        return left.pop(0) if len(left) > 1 else left[0]

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def act(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Act:
    monkeypatch.setattr(action.ActionBase, "run", lambda self, tmp, task_vars: {})
    monkeypatch.setattr(action, "probe", machine.probe)
    monkeypatch.setattr(action, "time", types.SimpleNamespace(time=lambda: machine.now, sleep=machine.sleep))
    monkeypatch.setattr(action.display, "display", lambda text, **_options: machine.shown.append(text))
    monkeypatch.setattr(action.display, "warning", machine.shown.append)

    def run(check: bool = False, **args: t.Any) -> dict[str, t.Any]:
        plugin = action.ActionModule.__new__(action.ActionModule)
        plugin._task = types.SimpleNamespace(args=args, async_val=0, check_mode=check)
        plugin._connection = object()
        monkeypatch.setattr(plugin, "_execute_module", lambda **_options: machine.gpu.pop(0), raising=False)
        return plugin.run(None, {"inventory_hostname": "gpu1"})

    return run


def test_nothing_to_do_asks_nothing(act: Act, machine: Machine) -> None:
    result = act(phase="ask", gpu={**WORKS, "problems": ["A hint."]})
    assert (result["asked"], result["changed"], machine.commands) == (False, False, [])
    assert machine.shown == ["gpu1: A hint."]
    assert act(phase="wait", gpu=WORKS, asked=result) == {"changed": False, "phase": "", "seconds": 0, "gpu": WORKS}


def test_ask_and_wait(act: Act, machine: Machine) -> None:
    ids = [Probe(0, OLD), Probe(0, OLD), Probe(None, err="refused"), Probe(0, NEW), Probe(0, NEW)]
    machine.answers[action.BOOT_ID] = ids
    asked = act(phase="ask", gpu=PENDING)
    assert (asked["asked"], asked["changed"], asked["boot_id"]) == (True, True, OLD)
    assert machine.commands == [action.BOOT_ID, "systemctl reboot"]
    machine.gpu = [{"msg": "gone"}, {**PENDING, "repair": "load"}, WORKS]
    result = act(phase="wait", gpu=PENDING, asked=asked)
    assert (result["phase"], result["gpu"], result["changed"]) == ("driver works", WORKS, False)
    assert machine.shown == ["gpu1: asked to reboot", "gpu1: down", "gpu1: back", "gpu1: driver works"]


def test_without_an_id_from_before_there_is_no_reboot(act: Act, machine: Machine) -> None:
    machine.answers[action.BOOT_ID] = [Probe(1, err="no")]
    with pytest.raises(AnsibleActionFail, match="was not rebooted"):
        act(phase="ask", gpu=PENDING)
    assert "systemctl reboot" not in machine.commands


def test_a_machine_in_use_is_left_alone(act: Act, machine: Machine) -> None:
    used = {**PENDING, "in_use": ["pod a/b uses a GPU"]}
    result = act(phase="ask", gpu=used)
    assert result["held_back"] == machine.shown
    assert (result["asked"], machine.commands) == (False, [])
    machine.answers[action.BOOT_ID] = [Probe(0, OLD)]
    assert act(phase="ask", gpu=used, disrupt="gpu1")["asked"]


def test_check_mode_only_tells(act: Act, machine: Machine) -> None:
    result = act(phase="ask", gpu=PENDING, check=True)
    assert (result["changed"], result["asked"], machine.commands) == (True, False, [])
    assert result["msg"].startswith("gpu1 would be rebooted")


@pytest.mark.parametrize("repair", ["install", "load", "person"])
def test_what_no_reboot_repairs_is_a_failure(act: Act, repair: str) -> None:
    with pytest.raises(AnsibleActionFail, match="gpu1: It was not rebooted since. Reboot."):
        act(phase="ask", gpu={**PENDING, "repair": repair})


def test_the_next_command_and_who_holds_it_up(act: Act, machine: Machine) -> None:
    machine.answers = {
        action.BOOT_ID: [Probe(0, OLD)],
        "systemctl reboot": [Probe(127, err="not found")],
        "shutdown -r now": [Probe(1, err="inhibited")],
        "systemd-inhibit --list --no-pager --no-legend": [Probe(0, "unattended-upgr")],
    }
    with pytest.raises(AnsibleActionFail, match="`shutdown -r now` ended with 1: inhibited"):
        act(phase="ask", gpu=PENDING)


def test_a_driver_that_never_works(act: Act, machine: Machine) -> None:
    machine.answers = {
        action.BOOT_ID: [Probe(0, NEW)],
        action._LOG: [Probe(0, "NVRM: No NVIDIA devices probed.\nother\n")],
    }
    machine.gpu = [{**PENDING, "repair": "load"} for _unused in range(40)]
    asked = {"asked": True, "boot_id": OLD, "asked_at": 1000.0}
    with pytest.raises(AnsibleActionFail, match="NVRM: No NVIDIA devices probed") as failure:
        act(phase="wait", gpu=PENDING, asked=asked, driver_timeout=60)
    assert "gpu1: The machine is back" in str(failure.value)


def test_a_machine_that_never_comes_back(act: Act, machine: Machine) -> None:
    machine.answers[action.BOOT_ID] = [Probe(None, err="No route to host")]
    asked = {"asked": True, "boot_id": OLD, "asked_at": 1000.0}
    with pytest.raises(AnsibleActionFail, match="gpu1: The machine went down and did not come back within"):
        act(phase="wait", gpu=PENDING, asked=asked, tries=12)
