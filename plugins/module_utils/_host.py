# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the machine's files below a root folder, which is another one in tests.

Note that this module util is **PRIVATE** to the collection. The thin layer between the files and the pure functions.
"""

from __future__ import annotations

import os
import typing as t
from pathlib import Path

from ansible_collections.gshare.cluster.plugins.module_utils import _swap

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

# In systemd's order: the first file of a name counts.
UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)
# Unit and the name of its process, cut to 15 characters as the kernel does.
_TIME_SERVICES = (
    ("chrony.service", "chronyd"),
    ("systemd-timesyncd.service", "systemd-timesyn"),
    ("ntpsec.service", "ntpd"),
    ("ntp.service", "ntpd"),
    ("openntpd.service", "ntpd"),
)
_GENERATOR_FOLDERS = (
    "/usr/local/lib/systemd/system-generators",
    "/usr/lib/systemd/system-generators",
    "/lib/systemd/system-generators",
)


class Host:
    """The machine's files; everything that is absent or unreadable is empty."""

    def __init__(self, root: str = "/") -> None:
        self.root = Path(root)
        self._processes: dict[str, list[int]] | None = None

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def data(self, name: str, limit: int = -1) -> bytes:
        try:
            with open(self.path(name), "rb") as file:
                return file.read(limit)
        except OSError:
            return b""

    def text(self, name: str, limit: int = -1) -> str:
        return self.data(name, limit).decode("utf-8", "surrogateescape")

    def exists(self, name: str) -> bool:
        return os.path.lexists(self.path(name))

    def names(self, folder: str, suffix: str = "") -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.path(folder)) if name.endswith(suffix))
        except OSError:
            return []

    def masked(self, name: str) -> bool:
        """A link to /dev/null hides the unit or generator."""
        try:
            return os.readlink(self.path(name)) == "/dev/null"
        except OSError:
            return False

    def container(self) -> str:
        """Kind of container, or an empty text on a machine of its own."""
        kind = self.text("/run/systemd/container").strip()
        if not kind:
            for entry in self.text("/proc/1/environ").split("\0"):
                if entry.startswith("container="):
                    kind = entry[len("container=") :] or "unknown"
        if not kind and self.exists("/.dockerenv"):
            kind = "docker"
        return kind

    def unit_file(self, name: str) -> str:
        """The file that defines a unit, or an empty text."""
        for folder in UNIT_FOLDERS:
            if self.exists(f"{folder}/{name}"):
                return f"{folder}/{name}"
        return ""

    def processes(self) -> dict[str, list[int]]:
        """Process ids by name; read once."""
        if self._processes is None:
            self._processes = {}
            for pid in self.names("/proc"):
                if pid.isdigit():
                    self._processes.setdefault(self.text(f"/proc/{pid}/comm", 64).rstrip("\n"), []).append(int(pid))
        return self._processes

    def time_sync(self) -> tuple[str, bool]:
        """The unit that keeps the clock and whether it is running and starts at boot."""
        if self.container():
            return "outside", True
        installed = [
            pair for pair in _TIME_SERVICES if self.unit_file(pair[0]) and not self.masked(self.unit_file(pair[0]))
        ]
        for unit, process in sorted(installed, key=lambda pair: pair[1] not in self.processes()):
            wants = self.names("/etc/systemd/system", ".wants")
            enabled = any(self.exists(f"/etc/systemd/system/{folder}/{unit}") for folder in wants)
            return unit, enabled and process in self.processes()
        return "", False

    def swap_units(self) -> list[_swap.Unit]:
        found: dict[str, _swap.Unit] = {}
        for folder in UNIT_FOLDERS:
            for name in self.names(folder, ".swap"):
                path = f"{folder}/{name}"
                found.setdefault(name, _swap.Unit(name, path, "SourcePath=/etc/fstab" in self.text(path)))
        return list(found.values())

    def swap_masked(self) -> set[str]:
        names = {name for name in self.names(_swap.UNIT_FOLDER) if self.masked(f"{_swap.UNIT_FOLDER}/{name}")}
        return names | {
            name for name in self.names(_swap.GENERATOR_FOLDER) if self.masked(f"{_swap.GENERATOR_FOLDER}/{name}")
        }

    def swap_plan(self) -> _swap.Plan:
        fstab = self.text("/etc/fstab")
        return _swap.plan(
            active=_swap.areas(self.text("/proc/swaps")),
            fstab=fstab,
            fstab_areas=[self.real(name) for name in _swap.fstab_devices(fstab)],
            units=self.swap_units(),
            services=[
                name
                for name in _swap.SERVICES
                if self.unit_file(name) or self.exists("/etc/init.d/" + name.partition(".")[0])
            ],
            zram_generator=any(self.exists(f"{folder}/zram-generator") for folder in _GENERATOR_FOLDERS),
            masked=self.swap_masked(),
        )

    def real(self, name: str) -> str:
        """Where the links below /dev/disk lead, inside this root."""
        real = os.path.realpath(self.path(name))
        root = os.path.realpath(self.root)
        return real if root == "/" else "/" + os.path.relpath(real, root)

    def swapoff(self, module: AnsibleModule, name: str) -> str:
        """Switch one area off; returns the error, empty if there is none."""
        rc, _out, err = module.run_command(["swapoff", name], environ_update={"LC_ALL": "C"})
        return err.strip() or f"swapoff ended with {rc}" if rc else ""
