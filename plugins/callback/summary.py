# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: summary
type: aggregate
short_description: One screen at the end of a run of this collection
version_added: 0.1.0
description:
  - At the end of a good run of C(gshare.cluster.up) it shows the nodes with roles, versions and time,
    the time of each phase (a play), where the kubeconfig is, and what to do next.
  - After a failure it says in which phase and on which hosts, and how to go on.
  - In both cases it lists what tasks left undone because somebody works there (their result C(held_back)).
  - It is silent where nothing of this collection ran.
author: gshare.cluster contributors (@gshare)
requirements:
  - enabled with C(callbacks_enabled = gshare.cluster.summary) in C(ansible.cfg)
options:
  timings_file:
    description:
      - File for the numbers as JSON.
      - For each phase the seconds, and for each host in it the seconds that it was busy,
        and the tasks executed, skipped and changed.
    type: str
    default: ""
    env:
      - name: GSHARE_TIMINGS_FILE
    ini:
      - section: callback_gshare_summary
        key: timings_file
  hosts_shown:
    description:
      - Longest table of nodes.
      - Of more nodes those that are not Ready, the control plane and the slowest are shown.
    type: int
    default: 20
    env:
      - name: GSHARE_HOSTS_SHOWN
    ini:
      - section: callback_gshare_summary
        key: hosts_shown
"""

import json
import shlex
import time
import typing as t
from pathlib import Path

from ansible import constants as C
from ansible import context
from ansible.plugins.callback import CallbackBase

from ansible_collections.gshare.cluster.plugins.plugin_utils._ssh_options import DEFAULT
from ansible_collections.gshare.cluster.plugins.plugin_utils._summary import COLLECTION, Record, screen

if t.TYPE_CHECKING:
    from ansible.executor.stats import AggregateStats
    from ansible.executor.task_result import TaskResult
    from ansible.playbook.handler import Handler
    from ansible.playbook.play import Play
    from ansible.playbook.task import Task


class CallbackModule(CallbackBase):
    """Hands what happens to a Record and shows its screen at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gshare.cluster.summary"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, display: t.Any = None, options: t.Any = None) -> None:
        super().__init__(display=display, options=options)
        self.record = Record(time.monotonic)
        self._play: Play | None = None

    def v2_playbook_on_play_start(self, play: Play) -> None:
        self._play = play
        self.record.play(play.get_name().strip())

    def v2_playbook_on_task_start(self, task: Task, is_conditional: bool) -> None:
        role = task._role
        collection = (role._role_collection or "") if role else ""
        self.record.task(
            task.resolved_action or task.action, collection, role._role_name.split(".")[-1] if role else ""
        )

    def v2_playbook_on_handler_task_start(self, task: Handler) -> None:
        self.v2_playbook_on_task_start(task, False)

    def v2_runner_on_start(self, host: t.Any, task: Task) -> None:
        self.record.begin(host.get_name(), task._uuid)

    def v2_runner_on_ok(self, result: TaskResult) -> None:
        self._finish(result, changed=bool(result.result.get("changed")))
        self._learn(result)

    def v2_runner_on_skipped(self, result: TaskResult) -> None:
        self._finish(result, skipped=True)

    def v2_runner_on_failed(self, result: TaskResult, ignore_errors: bool = False) -> None:
        self._finish(result)
        self._learn(result)
        if not ignore_errors:
            self._fail(result)

    def v2_runner_on_unreachable(self, result: TaskResult) -> None:
        self._finish(result)
        self._fail(result, unreachable=True)

    def v2_playbook_on_stats(self, stats: AggregateStats) -> None:
        self.record.close()
        hosts = sorted(stats.processed)
        summaries = {host: stats.summarize(host) for host in hosts}
        failed = [host for host in hosts if summaries[host]["failures"] or summaries[host]["unreachable"]]
        check = bool(context.CLIARGS.get("check"))
        text = screen(
            self.record, failed, check=check, shown=self.get_option("hosts_shown"), width=self._display.columns
        )
        if text:
            self._display.display(f"\n{text}\n", color=C.COLOR_ERROR if failed else None)
        path = self.get_option("timings_file")
        if path and self.record.ours:
            self._write(Path(path).expanduser())

    def _finish(self, result: TaskResult, *, skipped: bool = False, changed: bool = False) -> None:
        if (result.task.resolved_action or result.task.action) == "ansible.builtin.meta":
            # Nothing runs on the host, and the recap does not count it.
            return
        self.record.finish(result.host.get_name(), result.task._uuid, skipped=skipped, changed=changed)

    def _fail(self, result: TaskResult, unreachable: bool = False) -> None:
        message = result.result.get("msg") or result.result.get("stderr") or "see above"
        self.record.fail(result.host.get_name(), result.task.get_name(), str(message), unreachable)

    def _learn(self, result: TaskResult) -> None:
        """Keep what verify knows of the nodes, where the kubeconfig is, and what was left undone."""
        self.record.hold_back(result.result.get("held_back"))
        self.record.notice(result.result.get("notice"))
        action = result.task.resolved_action or result.task.action
        if action == f"{COLLECTION}.verify":
            self.record.verify = {key: result.result.get(key) for key in ("nodes", "checks")}
            self.record.places.update(self._login(result.host))
        if action.endswith(".fetch") and "kubeconfig" in str(result.result.get("dest", "")):
            self.record.places["kubeconfig"] = result.result["dest"]

    def _login(self, host: t.Any) -> dict[str, str]:
        """The login of the control plane, and the ssh command that Ansible's own settings for it come to."""
        manager = self._play.get_variable_manager() if self._play else None
        known = manager.get_vars(play=self._play, host=host) if manager else {}
        user, address = known.get("ansible_user"), known.get("ansible_host") or host.get_name()
        login = f"{user}@{address}" if user else str(address)
        key, port, more = (known.get(f"ansible_{name}") for name in ("ssh_private_key_file", "port", "ssh_common_args"))
        options = ["-i", shlex.quote(str(key))] if key else []
        options += ["-p", str(port)] if port else []
        # Our own default is what ssh asks about anyway.
        options += [str(more)] if more and more != DEFAULT else []
        return {"login": login, "ssh": " ".join(["ssh", *options, login])}

    def _write(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.record.as_dict(), indent=2) + "\n", encoding="utf-8")
        except OSError as exc:
            self._display.warning(f"The timings cannot be written to {path}: {exc.strerror}.")
