# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes machines into a cluster-info file on the controller, and takes them out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import typing as t
from pathlib import Path

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.gshare.cluster.plugins.plugin_utils import _cluster_info_edit as edit
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import ClusterInfoError, decode


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(
            argument_spec={
                "path": {"type": "path", "required": True},
                "machines": {"type": "list", "elements": "str", "required": True},
                "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            }
        )
        path = Path(os.path.realpath(args["path"]))
        change = edit.add if args["state"] == "present" else edit.remove
        try:
            # Not the file itself, which is replaced: a second run waits, and reads what this one has written.
            with _locked(path.parent):
                before = decode(path.read_bytes())
                after = before
                for machine in args["machines"]:
                    after = change(after, machine)
                if after != before and not self._task.check_mode:
                    _replace(path, after)
        except OSError as exc:
            raise AnsibleActionFail(f"{args['path']} cannot be changed: {exc.strerror}.") from exc
        except ClusterInfoError as exc:
            text = exc.report(str(args["path"]))
            raise AnsibleActionFail(
                f"Only a cluster-info file can be changed; write the entry by hand. {text}"
            ) from exc
        except edit.EditError as exc:
            raise AnsibleActionFail(f"{args['path']} is left as it is. {exc}") from exc
        return {"changed": after != before, "diff": {"before": before, "after": after, "before_header": args["path"]}}


@contextlib.contextmanager
def _locked(folder: Path) -> t.Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    """Whole or not at all, with the mode and owner of the file that was there."""
    was = path.stat()
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".gshare-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temporary, was.st_mode & 0o7777)
    if (was.st_uid, was.st_gid) != (os.geteuid(), os.getegid()):
        os.chown(temporary, was.st_uid, was.st_gid)
    os.replace(temporary, path)
