# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes what machines have told into one archive on the controller."""

from __future__ import annotations

import io
import os
import platform
import tarfile
import time
import typing as t
from pathlib import Path

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as ansible_version
from ansible.utils.display import Display
from ansible.utils.path import unfrackpath

from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact

display = Display()


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(
            argument_spec={
                "path": {"type": "str", "default": ""},
                "gathered": {"type": "dict", "required": True},
                "inventory": {"type": "list", "elements": "str", "default": []},
            }
        )
        name = f"gshare-support-{time.strftime('%Y%m%d-%H%M%S')}"
        path = Path(unfrackpath(args["path"] or f"{name}.tar.gz", follow=False))
        files, silent = _collected(args["gathered"])
        files |= {f"controller/{one}": text for one, text in _controller(args["inventory"]).items()}
        files["README"] = _readme(args["gathered"], silent)
        if self._task.check_mode:
            return {"changed": False, "path": str(path), "silent": silent}
        try:
            _write(path, name, files)
        except OSError as exc:
            raise AnsibleActionFail(f"The archive {path} cannot be written: {exc.strerror}.") from exc
        display.display(
            f"\n{path}: {path.stat().st_size // 1024} KiB, {len(files)} files of {len(args['gathered'])} machines. "
            "Passwords, keys and tokens were taken out; look through it all the same before you give it away.\n"
        )
        return {"changed": False, "path": str(path), "silent": silent}


def _collected(gathered: dict[str, t.Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Files by name, and the machines that told nothing, with the reason."""
    files: dict[str, str] = {}
    silent = {}
    for host, result in gathered.items():
        found = (result or {}).get("files")
        if not found:
            silent[host] = redact(str((result or {}).get("msg") or "it was not asked"))
            continue
        files |= {f"{host.replace('/', '_')}/{name}": text for name, text in found.items()}
    return files, silent


def _controller(inventory: t.Iterable[str]) -> dict[str, str]:
    found = {"versions": f"ansible-core {ansible_version}\nPython {platform.python_version()}\n{platform.platform()}\n"}
    collection = Path(__file__).resolve().parents[2]
    settings = os.environ.get("ANSIBLE_CONFIG", "ansible.cfg")
    for path in (*inventory, settings, str(collection / "galaxy.yml"), str(collection / "MANIFEST.json")):
        file = Path(path)
        if file.is_file():
            found[file.name] = redact(file.read_text(encoding="utf-8", errors="replace"))
    return found


def _readme(gathered: t.Mapping[str, t.Any], silent: t.Mapping[str, str]) -> str:
    lines = [f"Gathered {time.strftime('%Y-%m-%d %H:%M:%S %z')} by gshare.cluster.support.", ""]
    lines += [f"{host}: {f'nothing, {silent[host]}' if host in silent else 'see its folder'}" for host in gathered]
    return "\n".join([*lines, "", "What looked like a password, a key or a token says REDACTED.", ""])


def _write(path: Path, folder: str, files: t.Mapping[str, str]) -> None:
    """Whole or not at all, for the user alone."""
    temporary = path.with_name(f".{path.name}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name in sorted(files):
            data = files[name].encode("utf-8", "replace")
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
            archive.addfile(entry, io.BytesIO(data))
    os.replace(temporary, path)
