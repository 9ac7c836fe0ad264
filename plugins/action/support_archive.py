# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes what machines have told into one archive on the controller."""

from __future__ import annotations

import io
import os
import platform
import re
import tarfile
import time
import typing as t
from pathlib import Path

from ansible import constants as C
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as ansible_version
from ansible.utils.display import Display
from ansible.utils.path import unfrackpath

from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact
from ansible_collections.gshare.cluster.plugins.plugin_utils._support_text import collected, readme, sentence

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
                "cluster": {"type": "str", "default": "cluster"},
                "gathered": {"type": "dict", "required": True},
                "inventory": {"type": "list", "elements": "str", "default": []},
            }
        )
        now = time.time()
        cluster = re.sub(r"[^\w.-]", "_", args["cluster"])
        name = f"gshare-support-{cluster}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
        path = Path(unfrackpath(args["path"] or f"{name}.tar.gz", follow=False))
        files, silent = collected(args["gathered"])
        files |= {f"controller/{one}": text for one, text in _controller(args["inventory"]).items()}
        files["README"] = readme(args["gathered"], silent, time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(now)))
        if not self._task.check_mode:
            try:
                _write(path, name, files, now)
            except OSError as exc:
                raise AnsibleActionFail(
                    f"The archive {path} cannot be written: {exc.strerror}. Name another with -e support_file=PATH."
                ) from exc
            display.display(sentence(str(path), path.stat().st_size, len(files), len(args["gathered"]), silent))
        return {"changed": False, "path": str(path), "silent": silent}


def _controller(inventory: t.Iterable[str]) -> dict[str, str]:
    found = {"versions": f"ansible-core {ansible_version}\nPython {platform.python_version()}\n{platform.platform()}\n"}
    collection = Path(__file__).resolve().parents[2]
    about = [collection / name for name in ("galaxy.yml", "MANIFEST.json")]
    for file in [*map(Path, inventory), *map(Path, filter(None, [C.CONFIG_FILE])), *about]:
        name = file.name
        while name in found:
            name = f"_{name}"
        if file.is_file():
            try:
                found[name] = redact(file.read_text(encoding="utf-8", errors="replace"))
            except OSError as exc:
                found[name] = f"[cannot be read: {exc.strerror}]\n"
    return found


def _write(path: Path, folder: str, files: t.Mapping[str, str], now: float) -> None:
    """Whole or not at all, for the user alone."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as archive:
            for name in sorted(files):
                data = files[name].encode("utf-8", "replace")
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size, entry.mode, entry.mtime = len(data), 0o600, int(now)
                archive.addfile(entry, io.BytesIO(data))
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
