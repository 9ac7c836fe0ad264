# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Applies objects by the server; the work on the machine is that of kubernetes.core.k8s."""

from __future__ import annotations

import re
import typing as t

from ansible.plugins.action import ActionBase

_NO_NAMESPACE = re.compile(r"namespaces .* not found")


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(
            argument_spec={
                "definition": {"type": "list", "elements": "dict", "required": True},
                "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
            }
        )
        answer = self._execute_module(
            module_name="kubernetes.core.k8s",
            module_args={
                **args,
                "apply": True,
                "server_side_apply": {"field_manager": "gshare", "force_conflicts": True},
            },
            task_vars=task_vars,
        )
        # Check mode cannot put anything into a namespace that would only be made now.
        if answer.get("failed") and self._task.check_mode and _NO_NAMESPACE.search(str(answer.get("msg", ""))):
            message = "The namespace is not there yet; the objects in it would come after it."
            answer = {"changed": True, "msg": message}
        result.update(answer)
        return result
