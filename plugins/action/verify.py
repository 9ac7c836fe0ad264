# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import typing as t
from pathlib import Path

from ansible import constants as C
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.path import unfrackpath
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.filter.node_labels import node_labels
from ansible_collections.gshare.cluster.plugins.plugin_utils import _custom_checks as custom
from ansible_collections.gshare.cluster.plugins.plugin_utils import _verify_view as view

display = Display()


class ActionModule(ActionBase):
    """Says what the inventory expects, lets the module look, shows the verdicts."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        task_vars = task_vars or {}
        super().run(tmp, task_vars)
        args: dict[str, t.Any] = transform_to_native_types(dict(self._task.args))
        checks = args.get("checks") or []
        wrong = custom.problems(checks)
        if wrong:
            raise AnsibleActionFail(" ".join(wrong))
        if args.get("hosts") is None:
            args["hosts"] = self._hosts(task_vars)
        result: dict[str, t.Any] = self._execute_module(module_args=args, task_vars=task_vars)
        if result.get("failed") or "checks" not in result:
            return result

        objects = result.pop("objects", [])
        result["checks"] += custom.evaluate(checks, objects)
        self._report(result, args)
        error = view.sentence(result["checks"])
        result["failed_checks"] = view.failed(result["checks"])
        if error and (args.get("fail_in_check_mode", True) or not self._task.check_mode):
            # The table said it all: what is printed after it is one sentence.
            return {"failed": True, "changed": False, "msg": error, "failed_checks": result["failed_checks"]}
        return result

    def _hosts(self, task_vars: dict[str, t.Any]) -> list[dict[str, t.Any]]:
        groups = transform_to_native_types({name: list(hosts) for name, hosts in task_vars["groups"].items()})
        return transform_to_native_types(view.expected_hosts(groups, node_labels(groups, task_vars["hostvars"])))

    def _report(self, result: dict[str, t.Any], args: dict[str, t.Any]) -> None:
        failed = bool(view.sentence(result["checks"]))
        warned = any(check["status"] == "warning" for check in result["checks"])
        color = C.COLOR_ERROR if failed else C.COLOR_WARN if warned else C.COLOR_OK
        display.display("\n" + view.table(result["checks"], display.columns) + "\n", color=color)
        if args.get("json_path"):
            path = Path(unfrackpath(args["json_path"], follow=False))
            report = {"ok": not failed, "checks": result["checks"], "nodes": result["nodes"]}
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
            except OSError as exc:
                raise AnsibleActionFail(f"The verdicts cannot be written to {path}: {exc.strerror}.") from exc
