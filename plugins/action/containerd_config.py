# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.plugin_utils import _containerd_proxy
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_absorb import plan as make_plan
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import not_imported, sentence
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_registry import directory_of, orphans
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import held_back, judge, refused
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    ConfigRefused,
    check_service,
    effective,
    schema_of,
    wishes,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._steps import StepFailed, step

_SPEC = {
    "path": {"type": "path", "default": "/etc/containerd/config.toml"},
    "settings": {
        "type": "dict",
        "default": {},
        "options": {"runtime": {"type": "dict", "default": {}}, "images": {"type": "dict", "default": {}}},
    },
    "registry_directory": {"type": "path"},
    "no_proxy": {"type": "list", "elements": "str"},
    "backup": {"type": "bool", "default": True},
    "service": {"type": "str", "default": "containerd"},
    "timeout": {"type": "int", "default": 60},
    "absorb": {"type": "list", "elements": "str", "default": []},
    "never_default": {"type": "list", "elements": "str", "default": []},
    "keep_gpu_work": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        # A copy: the validator writes the defaults of suboptions into the one of settings.
        _validated, args = self.validate_argument_spec(argument_spec=copy.deepcopy(_SPEC))
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
        wishes(self._args["settings"])
        facts = self._step("read")
        if not facts["installed"]:
            return self._not_installed()
        check_service(self._args["path"], facts["service_config"], self._args["service"], facts["stranger"])
        config = Config(self._args["path"], facts["content"], facts["dump"], facts["drop_ins"], facts["version"] or "")
        plan = make_plan(config, self._args, lambda text: self._probe(config, text)["dump"])
        wanted, written = wishes(plan.settings), plan.text != config.text
        verdict, dump = facts, plan.config.dump
        if written or plan.gone:
            verdict = self._probe(config, plan.candidate, plan.unread)
            dump = verdict.get("dump", "")
        if not dump and facts["dump_problem"]:
            raise refused(config, facts["dump_problem"])
        rows = judge(plan.config, plan.text, dump, wanted) + not_imported(config, facts["idle"], self._args["absorb"])
        proxy = _containerd_proxy.wish(facts["proxy"], self._args["no_proxy"])
        result: dict[str, t.Any] = {"written": written, "absorbed": plan.gone, "proxy_written": proxy.written}
        result.update(schema=schema_of(dump), registry_directory=directory_of(effective(dump)))
        result["restarted"] = verdict["restart"] or proxy.restart
        result["reason"] = verdict["reason"] if verdict["restart"] or not proxy.restart else _containerd_proxy.OTHER
        result["changed"] = any((written, plan.gone, proxy.written, result["restarted"], not facts["service_at_boot"]))
        in_use = self._step("use")["gpu_use"] if result["restarted"] and self._args["keep_gpu_work"] else []
        if in_use:
            result["registry_directory"] = directory_of(effective(facts["dump"]))
            return held_back(result, in_use, self._task_vars.get("inventory_hostname", ""))
        if result["changed"] and not self._task.check_mode:
            new = {"_content": plan.text if written else None, "_drop_in": proxy.after or "", "_absorbed": plan.gone}
            done = self._step("apply", **new, _digest=facts["digest"])
            result.update(restarted=done["restart"], reason=done["reason"])
            result.update({"backup_file": done["backup_file"]} if done.get("backup_file") else {})
        diffs = plan.diffs(config) + ([proxy.diff()] if proxy.written else [])
        result.update({"diff": diffs} if diffs and self._task.diff else {})
        lost = orphans(verdict.get("entries", {}), result["registry_directory"])
        result["warnings"] = [*plan.warnings, *map(sentence, rows), *lost, *proxy.warnings]
        return result

    def _probe(self, config: Config, text: str, folders: t.Iterable[str] = ()) -> dict[str, t.Any]:
        verdict = self._step("probe", _content=text, _folders=list(folders))
        if verdict.get("problem"):
            raise refused(config, verdict["problem"])
        return verdict

    def _not_installed(self) -> dict[str, t.Any]:
        if self._task.check_mode:
            message = "containerd is not installed yet; its configuration would be set after that."
            would = {"written": True, "restarted": True, "registry_directory": self._args["registry_directory"]}
            return {"changed": True, **would, "msg": message}
        raise ConfigRefused("containerd is not installed on this machine; install it before this task.")

    def _step(self, name: str, **more: t.Any) -> dict[str, t.Any]:
        """One round trip to the machine."""
        args = {**self._args, "_step": name, **more}
        return step(self, "gshare.cluster.containerd_config", args, self._task_vars, self._commands)
