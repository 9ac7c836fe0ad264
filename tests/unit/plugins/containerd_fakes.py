# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A machine with stand-ins for containerd, systemctl, ctr and journalctl (modules/fixtures/containerd_fake)."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _containerd_drop_in,
    _containerd_node,
    _containerd_service,
)
from ansible_collections.gshare.cluster.plugins.module_utils._proxy import drop_in
from ansible_collections.gshare.cluster.plugins.modules import containerd_config

FAKES = Path(__file__).parent / "modules/fixtures" / "containerd_fake"
OLD = "# ours\nversion = 4\n"
NEW = "# ours\nversion = 4\noom_score = 1\n"
PROXY = drop_in({"HTTPS_PROXY": 'http://u%20s:p"\\w@a:1', "NO_PROXY": "a,b"})
OLD_PROXY = drop_in({"HTTPS_PROXY": "http://b:1"})


class Machine:
    def __init__(self, root: Path, run_module: t.Callable[..., dict[str, t.Any]]) -> None:
        self.run_module = run_module
        self.bin = root / "bin"
        shutil.copytree(FAKES, self.bin)
        self.file = root / "etc" / "containerd" / "config.toml"
        self.file.parent.mkdir(parents=True)
        self.records = root / "run" / "gshare"
        self.root = root / "root"
        self.units = self.root / "etc/systemd/system/containerd.service.d"
        self.put("proc/4194304/environ", "PATH=/bin\0")
        self.set_state()

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def set_state(self, state: str = "active", started: float | None = None) -> None:
        moment = datetime.datetime.fromtimestamp(started or time.time() + 10, datetime.UTC)
        (self.bin / "state").write_text(
            f"state={state}\ninvocation=1\nstarted='{moment:%a %F %T.%f UTC}'\nconfig={self.file}\n"
            f"root={self.root}\npid={4194304 if state == 'active' else 0}\n"
        )

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(self.bin), prepend=os.pathsep)
        monkeypatch.setattr(_containerd_node, "RECORDS", str(self.records))
        monkeypatch.setattr(_containerd_node, "SOCKET", str(self.root / "no.sock"))
        monkeypatch.setattr(_containerd_drop_in, "ROOT", str(self.root))
        monkeypatch.setattr(_containerd_service, "PAUSE", 0.01)

    @property
    def state(self) -> str:
        return (self.bin / "state").read_text().split()[0].partition("=")[2]

    @property
    def restarts(self) -> int:
        file = self.bin / "restarts"
        return len(file.read_text().splitlines()) if file.exists() else 0

    @property
    def record(self) -> dict[str, str]:
        return json.loads((self.records / "containerd.json").read_text())

    def step(self, name: str, content: str | None = None, *, check: bool = False, **more: t.Any) -> dict[str, t.Any]:
        args = {"path": str(self.file), "_step": name, "timeout": 2, **more}
        if content is not None:
            args["_content"] = content
        return self.run_module(containerd_config.main, args, check=check)

    def apply(self, content: str | None, **more: t.Any) -> dict[str, t.Any]:
        digest = hashlib.sha256(self.file.read_bytes()).hexdigest() if self.file.exists() else ""
        return self.step("apply", content, _digest=digest, **more)

    @property
    def drop_in(self) -> str | None:
        file = self.units / "gshare-proxy.conf"
        return file.read_text() if file.exists() else None

    @property
    def running(self) -> dict[str, str]:
        return self.step("read", check=True)["proxy"]["running"]

    def folder(self) -> list[str]:
        return sorted(path.name for path in self.file.parent.iterdir())


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def die(*_args: t.Any, **_more: t.Any) -> t.NoReturn:
    raise Killed
