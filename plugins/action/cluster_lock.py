# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes the lock of a cluster for this run, and leaves a process that speaks for it as long as the run lives."""

from __future__ import annotations

import os
import time
import typing as t

from ansible import context
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.gshare.cluster.plugins.plugin_utils import _run_lock as lock
from ansible_collections.gshare.cluster.plugins.plugin_utils._beside import beside, within

display = Display()
_LOOK = 0.5
_BEAT = 10.0
# Seconds for a command to the machine, which may be rebooting: while the run lives, and after its end.
_LIMIT = 20.0
_LAST = 10.0


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(
            argument_spec={
                "required": {"type": "bool", "default": True},
                "path": {"type": "path", "default": "/run/gshare-cluster.lock"},
            }
        )
        if self._task.check_mode:
            return {"changed": False, "taken": False}
        mine = lock.owner(lock.main_process(), _playbook())
        try:
            answer = self._take(args, mine, task_vars)
        except AnsibleActionFail:
            raise
        except AnsibleError:
            if args["required"]:
                raise
            return {"changed": False, "taken": False}
        if answer.get("failed") and not args["required"]:
            return {"changed": False, "taken": False}
        if answer.get("new"):
            beside(lambda: self._speak(args["path"], mine))
        return answer

    def _take(self, args: dict[str, t.Any], mine: lock.Json, task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        dead: list[str] = []
        while True:
            answer: dict[str, t.Any] = self._execute_module(
                module_name="gshare.cluster.cluster_lock",
                module_args={"path": args["path"], "owner": mine, "dead": dead},
                task_vars=task_vars,
            )
            other = answer.get("owner")
            if not other:
                return answer
            if other["id"] in dead or not lock.dead(other):
                raise AnsibleActionFail(lock.sentence(other, answer["now"]))
            dead.append(other["id"])

    def _speak(self, path: str, mine: lock.Json) -> None:
        """Speak for the lock as long as the run lives, and give it back then."""
        # What a worker shows goes to the main process, which need not be there any more.
        display._final_q = None

        def lives() -> bool:
            return not lock.ended(mine["pid"], mine["started"])

        def say(command: str) -> None:
            self._low_level_execute_command(command, sudoable=True)

        next_beat = time.monotonic() + _BEAT
        while lives():
            time.sleep(_LOOK)
            if time.monotonic() >= next_beat:
                # If the machine cannot be reached now, it is tried again.
                within(_LIMIT, lambda: say(lock.speak(path, mine)), lives)
                next_beat = time.monotonic() + _BEAT
        within(_LAST, lambda: say(lock.release(path, mine)), lambda: True)


def _playbook() -> str:
    """The playbook by which people know the run."""
    return os.path.basename(next(iter(context.CLIARGS.get("args") or ()), ""))
