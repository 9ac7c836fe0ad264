# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import findings, why_unmet
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    ConfigRefused,
    check_service,
    check_types,
    edit,
    effective,
    schema_of,
    unmet,
    wishes,
)

_SPEC = {
    "path": {"type": "path", "default": "/etc/containerd/config.toml"},
    "settings": {
        "type": "dict",
        "default": {},
        "options": {"runtime": {"type": "dict", "default": {}}, "images": {"type": "dict", "default": {}}},
    },
    "backup": {"type": "bool", "default": True},
    "service": {"type": "str", "default": "containerd"},
    "timeout": {"type": "int", "default": 60},
}


class StepFailed(Exception):
    def __init__(self, result: dict[str, t.Any]) -> None:
        super().__init__()
        self.result = result


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(argument_spec=_SPEC)
        self._task_vars = task_vars or {}
        self._commands: list[str] = []
        self._args = transform_to_native_types(args)
        result["path"] = self._args["path"]
        try:
            result.update(self._configure())
        except ConfigRefused as exc:
            result.update(failed=True, msg=str(exc))
        except StepFailed as exc:
            result.update(exc.result)
        result["commands"] = self._commands
        return result

    def _configure(self) -> dict[str, t.Any]:
        settings = self._args["settings"]
        wanted = wishes(settings)
        facts = self._step("read")
        if not facts["installed"]:
            return self._not_installed()
        check_service(self._args["path"], facts["service_config"], self._args["service"])
        config = Config(self._args["path"], facts["content"], facts["dump"], facts["drop_ins"])
        text = edit(config, settings)
        result: dict[str, t.Any] = {"written": text != config.text, "schema": schema_of(config.dump)}
        verdict, dump = facts, config.dump
        if text != config.text:
            verdict = self._step("probe", _content=text)
            dump = verdict.get("dump", "")
        problem = verdict.get("problem") or facts["dump_problem"] if not dump else ""
        if problem:
            raise ConfigRefused(f"containerd cannot read {config.path}, which was not changed: {problem}")
        missing = unmet(effective(dump), wanted)
        if missing:
            raise ConfigRefused(why_unmet(config, text, missing, effective(dump)))
        check_types(config.path, effective(dump), wanted)
        result.update(changed=result["written"] or verdict["restart"], restarted=verdict["restart"])
        result.update(reason=verdict["reason"], schema=schema_of(dump))
        if result["changed"] and not self._task.check_mode:
            done = self._step("apply", _content=text if result["written"] else None, _digest=facts["digest"])
            result.update(restarted=done["restart"], reason=done["reason"])
            if done.get("backup_file"):
                result["backup_file"] = done["backup_file"]
        if result["written"] and self._task.diff:
            result["diff"] = {"before": config.text or "", "after": text}
            result["diff"].update(before_header=config.path, after_header=config.path)
        after = Config(config.path, text, dump, config.drop_ins)
        result["warnings"] = [f"{row['file']}, line {row['line']}: {row['message']}" for row in findings(after)]
        return result

    def _not_installed(self) -> dict[str, t.Any]:
        if self._task.check_mode:
            message = "containerd is not installed yet; its configuration would be set after that."
            return {"changed": True, "written": True, "restarted": True, "msg": message}
        raise ConfigRefused("containerd is not installed on this machine; install it before this task.")

    def _step(self, name: str, **more: t.Any) -> dict[str, t.Any]:
        """One round trip to the machine."""
        result: dict[str, t.Any] = self._execute_module(
            module_name="gshare.cluster.containerd_config",
            module_args={**self._args, "_step": name, **more},
            task_vars=self._task_vars,
        )
        self._commands += result.get("commands", [])
        if result.get("failed"):
            raise StepFailed(result)
        return result
