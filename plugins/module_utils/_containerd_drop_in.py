# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""The systemd drop-in that gives containerd the machine's proxy."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node, replace_file, unlink
from ansible_collections.gshare.cluster.plugins.module_utils._host import UNIT_FOLDERS, Host
from ansible_collections.gshare.cluster.plugins.module_utils._proxy import (
    assigned,
    claims,
    differs,
    of_environment,
    of_process,
)

ROOT = "/"  # tests put a machine of files here


class DropIn:
    def __init__(self, node: Node) -> None:
        self.node = node
        self.host = Host(ROOT)
        self.unit = node.service if node.service.endswith(".service") else f"{node.service}.service"
        self.path = f"/etc/systemd/system/{self.unit}.d/gshare-proxy.conf"
        # systemd reads no file that ends like this.
        self.temporary = f"{self.path}.new~"

    def facts(self) -> dict[str, t.Any]:
        """All that the controller needs to decide what stands in the drop-in."""
        return {
            "path": self.path,
            "text": self.text(),
            "environment": of_environment(self.host.text("/etc/environment")),
            "others": self.others(),
            "running": self.running(),
        }

    def text(self) -> str | None:
        return self.host.text(self.path) if self.host.exists(self.path) else None

    def others(self) -> list[str]:
        """The other files of the unit that say which proxy it has."""
        folders = [f"{folder}/{kind}.d" for kind in (self.unit, "service") for folder in UNIT_FOLDERS]
        found: dict[str, str] = {}
        for folder in folders:
            for name in self.host.names(folder, ".conf"):
                found.setdefault(name, f"{folder}/{name}")  # it hides those of its name further down
        paths = [self.host.unit_file(self.unit), *found.values()]
        return [path for path in paths if path not in ("", self.path) and claims(self.host.text(path), self.host.text)]

    def running(self) -> dict[str, str] | None:
        """The proxies of the running daemon; None where none runs."""
        environ = self.host.text(f"/proc/{self.node.unit.pid}/environ") if self.node.unit.pid else ""
        return of_process(environ) if environ else None

    def differs(self) -> bool:
        """Whether the running daemon has another proxy than the one that the file gives now."""
        return differs(self.running(), assigned(self.text() or ""))

    def put(self, text: str | None) -> None:
        """Replace the file, or remove it. systemd is told before the next start."""
        path = str(self.host.path(self.path))
        if text is None:
            unlink(path)
            return
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        replace_file(self.node.module, str(self.host.path(self.temporary)), path, text.encode("utf-8"))

    def clean(self) -> None:
        """Remove what a killed run left."""
        unlink(str(self.host.path(self.temporary)))
