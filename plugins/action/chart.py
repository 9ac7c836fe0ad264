# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looks at a release with the module of this name; kubernetes.core.helm is called only where something must be done."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.plugin_utils._steps import StepFailed, step

Json = dict[str, t.Any]


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: Json | None = None) -> Json:
        result: Json = super().run(tmp, task_vars)
        self._task_vars = task_vars or {}
        # The module of this name knows the options, and their defaults.
        self._args = transform_to_native_types(dict(self._task.args))
        try:
            result.update(self._manage())
        except StepFailed as exc:
            result.update(exc.result)
        return result

    def _manage(self) -> Json:
        found = self._step("look")
        name = self._args["release"]
        if found["conflicts"]:
            message = (
                f"{name} cannot have its ports: {'; '.join(found['conflicts'])}. Change that, or other ports for it."
            )
            raise StepFailed({"failed": True, "msg": message})
        result: Json = {"changed": found["change"] != "nothing"}
        result.update({key: found[key] for key in ("change", "reasons")})
        if self._args.get("notice"):
            result["notice"] = self._args["notice"]
        if found["held_back"]:
            return self._held_back(found)
        if result["changed"] and self._task.diff:
            header = f"release {name}"
            texts = {"before": found["before"], "after": found["after"]}
            result["diff"] = {**texts, "before_header": header, "after_header": header}
        if self._task.check_mode:
            return result
        if found["pending"]:
            self._step("clear")
        if result["changed"]:
            self._helm(found["change"])
        if self._args.get("state", "present") == "present" and self._args.get("wait"):
            self._step("wait")
        return result

    def _held_back(self, found: Json) -> Json:
        users = found["held_back"]
        told = "; ".join(users[:4]) + (f" and {len(users) - 4} more" if len(users) > 4 else "")
        left = (
            f"The release {self._args['release']} was left as it is ({'; '.join(found['reasons'][:3])}): {told}. "
            "Run again when they have ended, or with -e gshare_disrupt=HOST for their machines."
        )
        return {"changed": False, "change": "nothing", "reasons": [], "held_back": [left], "warnings": [left]}

    def _helm(self, change: str) -> None:
        """Its warnings are about what was compared here already."""
        args = {
            "release_name": self._args["release"],
            "release_namespace": self._args["namespace"],
            "kubeconfig": self._args.get("kubeconfig", "/etc/kubernetes/admin.conf"),
        }
        if change == "remove":
            args.update(release_state="absent", wait=True)
        else:
            args.update(
                chart_ref=self._args["chart"],
                chart_version=self._args["version"],
                chart_repo_url=self._args["repository"],
                release_values=self._args.get("values") or {},
                create_namespace=True,
                history_max=5,
                # Only then helm is called although chart and values are as they were.
                force=change == "repair",
            )
            args["timeout"] = f"{self._args.get('timeout', 300)}s"
        step(self, "kubernetes.core.helm", args, self._task_vars)

    def _step(self, name: str) -> Json:
        return step(self, "gshare.cluster.chart", {**self._args, "_step": name}, self._task_vars)
