# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import tempfile
import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import tree_hash
from ansible_collections.gshare.cluster.plugins.plugin_utils import _python_bundle as bundles


class ActionModule(ActionBase):
    """Collects the packages on the controller; the module of this name looks at the machine and unpacks."""

    TRANSFERS_FILES = True
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        _unused, args = self.validate_argument_spec(
            argument_spec={
                "name": {"type": "list", "elements": "str", "required": True},
                "dest": {"type": "path", "required": True},
            }
        )
        try:
            bundle = bundles.collect(args["name"])
            wanted = tree_hash(bundle.files)
        except (bundles.BundleError, OSError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        module_args = {
            "name": args["name"],
            "dest": args["dest"],
            "tree": wanted,
            "minimum_python": bundle.minimum_python,
            "needs_newest": bundle.needs_newest,
        }
        answer = self._module(module_args, task_vars)
        if answer.get("changed") and not answer.get("failed") and not self._task.check_mode:
            answer = self._module({**module_args, "src": self._transfer(bundle, task_vars)}, task_vars)
        self._remove_tmp_path(self._connection._shell.tmpdir)
        result.update(answer)
        result["versions"] = bundle.versions
        return result

    def _module(self, module_args: dict[str, t.Any], task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        return self._execute_module(
            module_name="gshare.cluster.python_library", module_args=module_args, task_vars=task_vars
        )

    def _transfer(self, bundle: bundles.Bundle, task_vars: dict[str, t.Any] | None) -> str:
        if not self._connection._shell.tmpdir:
            self._make_tmp_path()
        remote = self._connection._shell.join_path(self._connection._shell.tmpdir, "library.tar.gz")
        handle, local = tempfile.mkstemp(suffix=".tar.gz")
        os.close(handle)
        try:
            bundles.pack(bundle.files, local)
            self._transfer_file(local, remote)
        finally:
            os.unlink(local)
        self._fixup_perms2((self._connection._shell.tmpdir, remote))
        return remote
