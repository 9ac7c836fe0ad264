# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_registry import directory_of
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import file_diff
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import effective
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_findings import findings, sentence
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import (
    ASIDE,
    File,
    HostsRefused,
    Plan,
    plan,
    wanted_files,
)

_USUAL = "/etc/containerd/certs.d"


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        self._task_vars = task_vars or {}
        self._options: dict[str, t.Any] = transform_to_native_types(dict(self._task.args))
        facts = self._step("read", _directory=_USUAL)
        if facts.get("failed"):
            return {**result, **facts}
        directory = directory_of(effective(facts["dump"])) if facts.get("dump") else None
        if not directory:
            return {**result, **self._nowhere(facts)}
        if directory != _USUAL:
            facts = self._step("read", _directory=directory)
        try:
            wanted = wanted_files(self._options["registries"], facts["version"])
        except HostsRefused as exc:
            return {**result, "failed": True, "msg": str(exc)}
        tree = {path: text for path, text in facts["tree"].items() if not path.endswith("/")}
        todo = plan(wanted, tree)
        found = findings(directory, facts["tree"], {path.partition("/")[0] for path in wanted})
        result.update(directory=directory, findings=found, warnings=[sentence(row) for row in found])
        result.update(written=sorted(todo.write), removed=todo.remove, changed=bool(todo.write or todo.remove))
        result["warnings"] += [
            f"{directory}/{path} was not written by this collection; it is kept as {ASIDE} beside the new one."
            for path in todo.aside
        ]
        if self._task.diff:
            result["diff"] = _diffs(directory, todo, wanted, tree)
        if result["changed"] and not self._task.check_mode:
            done = self._apply(directory, todo)
            result.update({"failed": True, "msg": done.get("msg", "")} if done.get("failed") else {})
        return result

    def _apply(self, directory: str, todo: Plan) -> dict[str, t.Any]:
        write = [
            {"path": path, "text": file.text, "mode": "0600" if file.secret else "0644"}
            for path, file in todo.write.items()
        ]
        return self._step("apply", _directory=directory, _write=write, _remove=todo.remove, _aside=todo.aside)

    def _nowhere(self, facts: dict[str, t.Any]) -> dict[str, t.Any]:
        """There is no directory to write to."""
        if self._task.check_mode and not facts.get("problem"):
            message = "containerd does not look for registries in one directory yet; they would be written after that."
            return {"changed": bool(self._options["registries"]), "msg": message}
        if not facts["installed"]:
            return {"failed": True, "msg": "containerd is not installed on this machine; install it before this task."}
        why = facts["problem"] or "its effective registry.config_path names no single directory"
        remedy = "set registry_directory of gshare.cluster.containerd_config first"
        return {"failed": True, "msg": f"containerd cannot be told about registries, because {why}: {remedy}."}

    def _step(self, name: str, **more: t.Any) -> dict[str, t.Any]:
        """One round trip to the machine."""
        return self._execute_module(
            module_name="gshare.cluster.containerd_hosts",
            module_args={**self._options, "_step": name, **more},
            task_vars=self._task_vars,
        )


def _diffs(directory: str, todo: Plan, wanted: t.Mapping[str, File], tree: t.Mapping[str, str]) -> list[dict[str, str]]:
    found = []
    for path in sorted({*todo.write, *todo.remove}):
        after = wanted[path].shown if path in todo.write else ""
        before = tree.get(path, "")
        # What an earlier run wrote may hold the same secrets.
        secret = path.endswith(".key") or "Authorization" in before
        found.append(file_diff(f"{directory}/{path}", File(before, secret).shown if before else "", after))
    return found
