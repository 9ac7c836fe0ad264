# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who holds apt's and dpkg's locks.

Note that this module util is **PRIVATE** to the collection. Used by the modules apt_lock and preflight_info; the
parsing is in functions that take text.
"""

from __future__ import annotations

import fcntl
import os
import struct
import typing as t

LOCKS = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/lib/apt/lists/lock",
    "/var/cache/apt/archives/lock",
)
# struct flock of Linux on 64 bit: type, whence, start, length, pid; the compiler's padding comes with "@".
_FLOCK = "@hhqqi"
_INTERPRETERS = ("bash", "dash", "perl", "sh")


class Holder(t.NamedTuple):
    """One process with the locks that it holds; pid 0 is a process that cannot be seen from here."""

    pid: int
    process: str
    seconds: int
    paths: list[str]

    def __str__(self) -> str:
        if not self.pid:
            return "a process outside this container"
        return f"{self.process} (pid {self.pid}, running for {spoken(self.seconds)})"


def spoken(seconds: int) -> str:
    """A span as people say it."""
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h"


def process_name(cmdline: bytes, comm: str) -> str:
    """The program's name; for a script that of the script, not of its interpreter."""
    words = [word for word in cmdline.decode("utf-8", "replace").split("\0") if word]
    if not words:
        return comm.strip() or "?"
    name = os.path.basename(words[0].split(" ")[0].rstrip(":"))
    if (name in _INTERPRETERS or name.startswith("python")) and not {"-c", "-e", "-m"} & set(words):
        scripts = [word for word in words[1:] if not word.startswith("-")]
        if scripts:
            return os.path.basename(scripts[0])
    return name or comm.strip() or "?"


def started_ticks(stat: str) -> int:
    """Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and brackets."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[19])


def describe(pid: int) -> tuple[str, int]:
    """Name and age in seconds of a process; it may end while we look."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            cmdline = file.read(4096)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stat = file.read()
        with open("/proc/uptime", encoding="utf-8") as file:
            uptime = float(file.read().split()[0])
    except OSError:
        return "?", 0
    comm = stat.partition("(")[2].rpartition(")")[0]
    age = uptime - started_ticks(stat) / os.sysconf("SC_CLK_TCK")
    return process_name(cmdline, comm), max(0, int(age))


def lock_owner(path: str) -> int | None:
    """Pid of the process that holds this file's lock; None if it is free or the file is absent.

    Asking does not take the lock. The kernel is asked, not /proc/locks: its device numbers are others on an overlay.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _whence, _start, _length, pid = struct.unpack(_FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    finally:
        os.close(fd)
    return None if kind == fcntl.F_UNLCK else pid


def holders(paths: t.Iterable[str] = LOCKS) -> list[Holder]:
    """Every process that holds one of the locks, each once."""
    found: dict[int, list[str]] = {}
    for path in paths:
        pid = lock_owner(path)
        if pid is not None:
            found.setdefault(pid, []).append(path)
    return [Holder(pid, *describe(pid), held) for pid, held in found.items()]
