# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Actions whose module does one step after the other on the machine, while the plan is made here."""

from __future__ import annotations

import typing as t

if t.TYPE_CHECKING:
    from ansible.plugins.action import ActionBase

Json = dict[str, t.Any]


class StepFailed(Exception):
    """Ends an action with the result of the step."""

    def __init__(self, result: Json) -> None:
        super().__init__()
        self.result = result


def step(
    action: ActionBase, module: str, args: Json, task_vars: Json | None, commands: list[str] | None = None
) -> Json:
    """One round trip to the machine; C(commands) gets those that were run there, also by a step that fails."""
    answer: Json = action._execute_module(module_name=module, module_args=args, task_vars=task_vars)
    if commands is not None:
        commands += answer.get("commands", [])
    if answer.get("failed"):
        raise StepFailed(answer)
    return answer
