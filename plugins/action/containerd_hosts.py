# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.modules.containerd_hosts import SPEC
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_directory import chosen
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_findings import findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import (
    DIRECTORY,
    Plan,
    Tree,
    diffs,
    plan,
    tree_of,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import RegistriesRefused, wanted
from ansible_collections.gshare.cluster.plugins.plugin_utils._steps import StepFailed, step


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(argument_spec=SPEC)
        self._task_vars = task_vars or {}
        self._commands: list[str] = []
        self._args = transform_to_native_types(args)
        try:
            result.update(self._configure())
        except RegistriesRefused as exc:
            result.update(failed=True, msg=str(exc))
        except StepFailed as exc:
            result.update(exc.result)
        result["commands"] = self._commands
        return result

    def _configure(self) -> dict[str, t.Any]:
        asked = self._args["registries"]
        wanted(asked)
        guess = self._args["directory"] or DIRECTORY
        facts = self._step("read", guess)
        if not facts["installed"]:
            return self._not_installed(bool(asked))
        registries = wanted(asked, facts["version"])
        directory, notes = chosen(self._args["directory"], facts, bool(asked) and not self._task.check_mode)
        if directory != guess:
            facts = self._step("read", directory)
        tree = tree_of(facts["tree"])
        todo = plan(registries, tree)
        found = findings(directory, tree, {registry.name for registry in registries}, facts["version"])
        result = self._result(directory, todo, tree)
        result["findings"] = found
        if todo.changes and not self._task.check_mode:
            files = json.dumps([vars(file) for file in todo.write])
            done = self._step("apply", directory, _files=files, _remove=todo.remove, _keep=todo.keep)
            result.update({"backup_files": done["backup_files"]} if todo.keep else {})
        theirs = "was not written by this collection; a copy is kept beside it, and ours takes its place."
        notes += [f"{directory}/{path} {theirs}" for path in todo.keep]
        result["warnings"] = notes + [one["message"] for one in found]
        return result

    def _result(self, directory: str, todo: Plan, tree: Tree) -> dict[str, t.Any]:
        result: dict[str, t.Any] = {
            "changed": todo.changes,
            "directory": directory,
            "written": [f"{directory}/{file.path}" for file in todo.write],
            "removed": [f"{directory}/{path}" for path in todo.remove],
        }
        if todo.changes and self._task.diff:
            result["diff"] = diffs(directory, todo, tree)
        return result

    def _not_installed(self, asked: bool) -> dict[str, t.Any]:
        if not asked:
            return {"changed": False}
        if self._task.check_mode:
            return {"changed": True, "msg": "containerd is not installed yet; its registries would be set after that."}
        raise RegistriesRefused(["containerd is not installed on this machine; install it before this task."])

    def _step(self, name: str, directory: str, **more: t.Any) -> dict[str, t.Any]:
        """One round trip to the machine, which learns nothing of a registry but its files."""
        args = {"_step": name, "directory": directory, "service": self._args["service"], **more}
        return step(self, "gshare.cluster.containerd_hosts", args, self._task_vars, self._commands)
