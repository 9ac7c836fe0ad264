# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tells a node's systemd which of its scopes have ended, for control groups of version 1.

The kernel reports an empty group only to the machine. Without such a report a node would keep the scope of each login
and of each container for ever, and its shutdown would wait for them.
"""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from nodelab.cgroups import TOP, Groups

# Where systemd waits for reports, each the path of a group.
AGENT = "run/systemd/cgroups-agent"


class Emptied:
    """Watches the groups below one node's own in the hierarchy that systemd uses."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._before: set[str] = set()

    @classmethod
    def of(cls, groups: Groups, node: str) -> Emptied | None:
        """Return the watcher of a node; with version 2 none is needed."""
        root = groups.hierarchies.get("systemd")
        if groups.unified or root is None:
            return None
        # systemd-nspawn makes the last part.
        return cls(root / TOP / groups.lab / node / "payload")

    def find(self) -> set[str]:
        """Return the scopes that have been empty at this and the last call: one just made may get its process yet."""
        now = {f"/{path.relative_to(self.root)}" for path in self._empty_scopes()}
        found = now & self._before
        self._before = now
        return found

    def report(self) -> None:
        """Report them to the node's systemd, if it runs."""
        scopes = self.find()
        init = self._init() if scopes else None
        if init is None:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.connect(f"/proc/{init}/root/{AGENT}")
            for scope in scopes:
                channel.send(scope.encode())

    def _empty_scopes(self) -> list[Path]:
        found = []
        for folder, below, _files in os.walk(self.root):
            if folder.endswith(".scope") and not below:
                with contextlib.suppress(OSError):
                    if not Path(folder, "cgroup.procs").read_text(encoding="ascii").strip():
                        found.append(Path(folder))
        return found

    def _init(self) -> int | None:
        """Return the node's process 1 by its number here."""
        with contextlib.suppress(OSError):
            for word in (self.root / "init.scope" / "cgroup.procs").read_text(encoding="ascii").split():
                lines = Path(f"/proc/{word}/status").read_text(encoding="utf-8").splitlines()
                if any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines):
                    return int(word)
        return None
