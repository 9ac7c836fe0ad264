# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Control groups: each node and each helper process of a lab lives in a group of its own.

A group is named by a path below /gshare-lab (LAB, then a node or a service) and made in every hierarchy that the
machine has. Membership is how the lab knows its processes: nothing leaves its group, and a process whose number was
used before by one of the lab's is not in it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

from nodelab.errors import LabError

TOP = "gshare-lab"
WEIGHT = "8192\n"
# Moves itself into the groups whose files it is given, then becomes the command.
_ENTER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 125; shift; n=$((n - 1)); done; exec "$@"'


def find_hierarchies(mounts: str) -> tuple[dict[str, Path], bool]:
    """Return the cgroup mounts in the text of /proc/self/mounts, by name, and whether they are one tree of version 2.

    A tree of version 2 beside those of version 1 (as systemd calls it, hybrid) is one more of them: systemd-nspawn puts
    a node where its process is in that one.
    """
    first: dict[str, Path] = {}
    second: dict[str, Path] = {}
    for line in mounts.splitlines():
        _device, point, kind, *_rest = line.split(" ")
        if kind in ("cgroup", "cgroup2"):
            (first if kind == "cgroup" else second)[Path(point).name] = Path(point)
    # Of several mounts of the one tree the nearest to the root.
    tree = dict(sorted(second.items(), key=lambda item: len(item[1].parts))[:1])
    return {**first, **tree}, not first


@dataclass(frozen=True)
class Groups:
    """The groups of one lab in all hierarchies."""

    hierarchies: t.Mapping[str, Path]
    unified: bool
    lab: str

    @classmethod
    def detect(cls, lab: str) -> Groups:
        """Look at what this machine has mounted; the lab never changes it."""
        hierarchies, unified = find_hierarchies(Path("/proc/self/mounts").read_text(encoding="utf-8"))
        if not hierarchies:
            raise LabError(
                "This machine has no control groups mounted below /sys/fs/cgroup, which the lab's nodes need."
            )
        return cls(hierarchies, unified, lab)

    def command(self, group: str, argv: t.Sequence[str]) -> list[str]:
        """Make the group and return a command line that runs ``argv`` in it."""
        files = [str(folder / "cgroup.procs") for folder in self._make(group)]
        return ["/bin/sh", "-c", _ENTER, "sh", str(len(files)), *files, *argv]

    def names(self) -> list[str]:
        """Return the names of the groups directly below the lab's own."""
        found: set[str] = set()
        for root in self.hierarchies.values():
            with contextlib.suppress(FileNotFoundError):
                found |= {item.name for item in (root / TOP / self.lab).iterdir() if item.is_dir()}
        return sorted(found)

    def any_lab(self) -> bool:
        """Say whether there are groups of any lab."""
        return any((root / TOP).exists() for root in self.hierarchies.values())

    def pids(self, group: str = "") -> set[int]:
        """Return the processes in a group and below it, or of the whole lab."""
        found: set[int] = set()
        for folder in self._folders(group):
            for path, _dirs, _files in os.walk(folder):
                with contextlib.suppress(OSError):
                    text = Path(path, "cgroup.procs").read_text(encoding="ascii")
                    found |= {int(word) for word in text.split()}
        return found - {0}

    def kill(self, group: str = "", timeout: float = 20.0) -> None:
        """Kill everything in a group (as a power cut does) and wait until it is gone."""
        end = time.monotonic() + timeout
        while pids := self.pids(group):
            for pid in pids:
                self._kill_member(pid, group)
            if time.monotonic() > end:
                raise LabError(f"Processes of the lab did not end when killed: {', '.join(map(str, sorted(pids)))}.")
            time.sleep(0.05)

    def remove(self, group: str = "", timeout: float = 5.0) -> None:
        """Remove an empty group with what is below it; without a name all groups of the lab."""
        end = time.monotonic() + timeout
        for folder in self._folders(group):
            while not _remove_tree(folder):
                if time.monotonic() > end:
                    raise LabError(f"The control group {folder} cannot be removed; something is still in it.")
                time.sleep(0.05)
        if not group:
            for root in self.hierarchies.values():
                with contextlib.suppress(OSError):
                    (root / TOP).rmdir()

    def memory(self, group: str) -> int:
        """Return the bytes that the group uses, without file cache that could be dropped at once."""
        root = self.hierarchies.get("memory") or next(iter(self.hierarchies.values()))
        folder = root / TOP / self.lab / group
        name, key = (
            ("memory.current", "inactive_file") if self.unified else ("memory.usage_in_bytes", "total_inactive_file")
        )
        try:
            used = int((folder / name).read_text(encoding="ascii"))
            lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        except OSError:
            return 0
        droppable = [int(line.split()[1]) for line in lines if line.split()[0] == key]
        return max(0, used - sum(droppable))

    def _folders(self, group: str) -> list[Path]:
        return [root / TOP / self.lab / group for root in self.hierarchies.values()]

    def _make(self, group: str) -> list[Path]:
        made = []
        for name, root in self.hierarchies.items():
            folder = root
            for part in (TOP, self.lab, group):
                if self.unified:
                    _pass_controllers_on(folder)
                folder = folder / part
                folder.mkdir(exist_ok=True)
                if name == "cpuset" and not self.unified:
                    _inherit_cpuset(folder)
            _give_weight(root / TOP)
            made.append(folder)
        return made

    def _kill_member(self, pid: int, group: str) -> None:
        """Kill a process if it still is what was found: the number may have been given to another one."""
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                text = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
                if is_member(text, "/".join(filter(None, (TOP, self.lab, group)))):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def is_member(text: str, group: str) -> bool:
    """Say whether the text of /proc/PID/cgroup puts a process into a group or below it."""
    paths = [line.split(":", 2)[2].strip("/") for line in text.splitlines()]
    return any(path == group or path.startswith(f"{group}/") for path in paths)


def _give_weight(top: Path) -> None:
    """Let all labs together weigh as much as eight processes.

    In version 1 a group competes with every single process outside of groups: a build beside it would starve all nodes.
    """
    shares = top / "cpu.shares"
    if shares.exists() and shares.read_text(encoding="ascii") != WEIGHT:
        shares.write_text(WEIGHT, encoding="ascii")


def _inherit_cpuset(folder: Path) -> None:
    """A new cpuset group of version 1 has no processors; nothing can enter it before it got them."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not (folder / name).read_text(encoding="ascii").strip():
            (folder / name).write_text((folder.parent / name).read_text(encoding="ascii"), encoding="ascii")


def _pass_controllers_on(folder: Path) -> None:
    """Version 2: let groups below use every controller that the folder has."""
    for controller in (folder / "cgroup.controllers").read_text(encoding="ascii").split():
        with contextlib.suppress(OSError):
            (folder / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")


def _remove_tree(folder: Path) -> bool:
    """Remove group folders from the bottom; say whether all are gone."""
    for path, _dirs, _files in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(path)
    return not folder.exists()
