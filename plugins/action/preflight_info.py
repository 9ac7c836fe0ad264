# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the module preflight_info and tells why it could not, instead of failing."""

from __future__ import annotations

import re
import time
import typing as t

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.common.text.converters import to_text
from ansible.plugins.action import ActionBase

from ansible_collections.gshare.cluster.plugins.plugin_utils._reboot_probe import reset

# What is heard of machines whose reboot is under way, and how many seconds they get: those that say so are up and not
# ready for logins yet, or on their way down; one without a trace may also be off.
_REBOOTS = (
    (re.compile(r"Connection refused|System is (?:booting up|going down)|kex_exchange_identification", re.I), 60.0),
    (re.compile(r"No route to host", re.I), 15.0),
)
# The machine is there, and what it says is a mistake of somebody's.
_REFUSED = re.compile(
    r"Permission denied|Host key verification|REMOTE HOST IDENTIFICATION|Too many authentication", re.I
)
_SUDO = re.compile(
    r"password is required|Missing \S+ password|not in the sudoers|not allowed to|sudo: |privilege escalation", re.I
)


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(
            argument_spec={
                "ports": {"type": "list", "elements": "int", "default": []},
                "paths": {"type": "list", "elements": "path", "default": ["/var/lib"]},
                "leave_out": {"type": "bool", "default": False},
            }
        )
        leave_out = args.pop("leave_out")
        answer = self._when_up(args, task_vars)
        if self._connection.become and answer["problem"].get("name") in ("sudo", "gather_failed"):
            # Without root there is still much to see; and if that works, root was the problem.
            self._connection.become = None
            second = self._attempt(args, task_vars)
            if not second["problem"]:
                answer = {**second, "problem": {**answer["problem"], "name": "sudo"}}
        problem = answer["problem"]
        if leave_out and problem.get("name") == "unreachable" and not _REFUSED.search(problem["text"]):
            answer["problem"] = {**problem, "name": "worker_away"}
            return {"changed": False, "unreachable": True, "msg": problem["text"], **answer}
        return {"changed": False, **answer}

    def _when_up(self, args: dict[str, t.Any], task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        """The answer of a machine, which gets some time if it reboots, as after a run that was killed meanwhile."""
        begin = time.monotonic()
        while True:
            answer = self._attempt(args, task_vars)
            text = answer["problem"].get("text", "")
            patience = max((seconds for sign, seconds in _REBOOTS if sign.search(text)), default=0.0)
            if time.monotonic() - begin >= patience:
                return answer
            reset(self._connection)
            time.sleep(2)

    def _attempt(self, args: dict[str, t.Any], task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        before = time.time()
        facts: t.Any = {}
        try:
            result = self._execute_module(module_args=dict(args), task_vars=task_vars)
        except AnsibleConnectionFailure as exc:
            problem = {"name": "unreachable", "text": _short(exc.message)}
        except AnsibleError as exc:
            problem = _classify(exc.message)
        else:
            facts = result.get("facts") or {}
            problem = {} if facts else _classify(_output(result))
        return {"facts": facts, "problem": problem, "clock": {"before": before, "after": time.time()}}


def _output(result: dict[str, t.Any]) -> str:
    """What the failed module left, the most telling last."""
    parts = [result.get("msg"), result.get("module_stdout"), result.get("module_stderr")]
    return "\n".join(to_text(part).strip() for part in parts if part)


def _classify(text: str) -> dict[str, str]:
    if re.search(r"interpreter .* was not found|python\S*: (?:not found|No such file)", text, re.I):
        return {"name": "python_missing", "text": _short(text)}
    if _SUDO.search(text):
        return {"name": "sudo", "text": f"The login user cannot become root: {_short(text)}"}
    return {"name": "gather_failed", "text": _short(text)}


def _short(text: str) -> str:
    """The last line that says something: what ssh and sudo print before it is banners."""
    lines = [line.strip() for line in to_text(text).strip().split("\n") if line.strip()]
    lines = [line for line in lines if not line.startswith(("Warning: Permanently added", "OpenSSH_", "debug"))]
    return lines[-1][:300] if lines else "no reason was given"
