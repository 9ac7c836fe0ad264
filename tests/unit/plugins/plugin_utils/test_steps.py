# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._steps import StepFailed, step


def action(answer: dict[str, t.Any]) -> t.Any:
    return types.SimpleNamespace(_execute_module=lambda module_name, module_args, task_vars: {**answer, **module_args})


def test_a_step_gives_its_answer_and_its_commands() -> None:
    commands = ["before"]
    answer = {"commands": ["systemctl restart containerd"]}
    assert step(action(answer), "x", {"_step": "apply"}, {}, commands) == {**answer, "_step": "apply"}
    assert commands == ["before", "systemctl restart containerd"]


def test_one_that_fails_ends_with_its_result_and_still_tells_its_commands() -> None:
    commands: list[str] = []
    with pytest.raises(StepFailed) as caught:
        step(action({"failed": True, "msg": "no space left", "commands": ["cp"]}), "x", {}, {}, commands)
    assert caught.value.result["msg"] == "no space left"
    assert commands == ["cp"]
