# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes the lock of a cluster for this run, and leaves a process that speaks for it as long as the run lives."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import typing as t

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.gshare.cluster.plugins.plugin_utils import _run_lock as lock

display = Display()
_BEAT = 10.0
_LOOK = 1.0
# Seconds for one command to the machine, which may be rebooting.
_LIMIT = 20


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
        # Tasks run in processes of their own, which the main one has forked.
        mine = lock.owner(os.getppid(), _playbook())
        try:
            answer = self._take(args, mine, task_vars)
        except AnsibleError as exc:
            if args["required"] or not isinstance(exc, AnsibleConnectionFailure):
                raise
            return {"changed": False, "taken": False}
        if answer.get("failed") and not args["required"]:
            return {"changed": False, "taken": False}
        if answer.pop("new", False):
            self._speak(args["path"], mine)
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
        """Start the process that speaks for the lock. It has nothing of this run but the connection's settings."""
        if child := os.fork():
            os.waitpid(child, 0)
            return
        try:
            os.setsid()
            if os.fork():
                os._exit(0)
            _let_go()
            self._speak_until_the_end(path, mine)
        finally:
            os._exit(0)

    def _speak_until_the_end(self, path: str, mine: lock.Json) -> None:
        next_beat = time.monotonic() + _BEAT
        while lock.running(mine["pid"], mine["started"]):
            time.sleep(_LOOK)
            if time.monotonic() >= next_beat:
                self._say(lock.speak(path, mine))
                next_beat = time.monotonic() + _BEAT
        self._say(lock.release(path, mine))

    def _say(self, command: str) -> None:
        """A command on the machine, within its limit. One that cannot be reached now is asked again later."""
        signal.alarm(_LIMIT)
        with contextlib.suppress(AnsibleError, OSError, TimeoutError):
            self._low_level_execute_command(command, sudoable=True)
        signal.alarm(0)


def _playbook() -> str:
    """The playbook by which people know the run."""
    names = [word for word in sys.argv[1:] if word.endswith((".yml", ".yaml")) or word.startswith("gshare.cluster.")]
    return os.path.basename(names[0]) if names else ""


def _let_go() -> None:
    """Hold nothing of the run: who reads its output waits for the end of all that could write there."""

    def too_late(_number: int, _frame: t.Any) -> None:
        raise TimeoutError

    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.closerange(3, 4096)
    # What a worker shows goes to the main process, which need not be there any more.
    display._final_q = None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, too_late)
