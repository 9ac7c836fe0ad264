# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who runs: what tells one run of ansible-playbook from another, and what is said about it to a second one.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import multiprocessing
import os
import platform
import shlex
import subprocess
import typing as t
from pathlib import Path

from ansible_collections.gshare.cluster.plugins.plugin_utils._summary import clock

Json = dict[str, t.Any]
_ENDED = "ended"


def main_process() -> int:
    """The main process of this run. It has forked the workers in which tasks run, and may have been killed since."""
    parent = multiprocessing.parent_process()  # who adopts a worker is os.getppid() afterwards
    return (parent and parent.pid) or os.getpid()


def started(pid: int) -> str:
    """What tells a process from others of its number: when it was started. Empty if that cannot be seen."""
    if not Path("/proc/self/stat").exists():
        return _started_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # Behind the name, which may have blanks and brackets: the state, and as 20th the ticks from the boot to the start.
    # The time of day would not do: it changes when the clock is set.
    fields = stat.rpartition(")")[2].split()
    return _ENDED if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str:
    """Where there is no /proc, as on macOS."""
    done = subprocess.run(
        ["ps", "-o", "state=", "-o", "lstart=", "-p", str(pid)],
        check=False,
        capture_output=True,
        text=True,
        env={"LC_ALL": "C"},
    )
    state, _blank, begin = done.stdout.strip().partition(" ")
    return _ENDED if state.startswith("Z") else " ".join(begin.split())


def ended(pid: int, begin: str) -> bool:
    """Whether a process of this machine is known to have ended, also if its parent has not taken note of that."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's, which may also be hidden from us
    now = started(pid)
    return now == _ENDED or now not in ("", begin)


def machine() -> str:
    """Where the number of a process means the same one: this boot of this machine, and the container on it."""
    with contextlib.suppress(OSError):
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot_id}/{os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # containers run with numbers that no file knows
        return str(os.getuid())


def owner(pid: int, playbook: str) -> Json:
    """The run whose main process that is."""
    begin = started(pid)
    return {
        "id": f"{machine()}/{pid}/{begin}",
        "user": _user(),
        "host": platform.node(),
        "machine": machine(),
        "pid": pid,
        "started": begin,
        "playbook": playbook,
    }


def dead(other: Json) -> bool:
    """Whether an owner is a run on this machine that is known to have ended."""
    return other.get("machine") == machine() and ended(other["pid"], other["started"])


def sentence(other: Json, now: float) -> str:
    """What a second run is told. C(now) is the uptime of the machine that has the lock."""
    age = f", for {clock(now - other['since'])}" if "since" in other else ""
    return (
        f"Another run works on this cluster: {other.get('playbook') or 'a playbook'} by {other.get('user')} on "
        f"{other.get('host')} (process {other.get('pid')}){age}, last heard of {clock(other['silent'])} ago. This run "
        f"ends here. Wait for the other's end; if it hangs, end it there with kill {other.get('pid')}. If it is dead, "
        "its lock is taken over within a minute."
    )


def speak(path: str, mine: Json) -> str:
    """A shell command by which the owner says that it lives; also after a reboot that took the lock along."""
    name, new, text = shlex.quote(path), shlex.quote(f"{path}.new"), shlex.quote(json.dumps(mine))
    beat = "touch -d @$(cut -d. -f1 /proc/uptime)"
    return _guarded(
        path,
        f"if test -e {name}; then grep -qF {_own(mine)} {name} && {beat} {name}; "
        f"else printf %s {text} > {new} && {beat} {new} && mv {new} {name}; fi",
    )


def release(path: str, mine: Json) -> str:
    """A shell command by which the owner gives the lock back."""
    name = shlex.quote(path)
    return _guarded(path, f"grep -qF {_own(mine)} {name} && rm -f {name}")


def _guarded(path: str, command: str) -> str:
    """While nobody else looks at the lock, or takes it. The guard is root's alone, the lock may be read."""
    return f"umask 077; flock -w 5 {shlex.quote(path + '.guard')} sh -c {shlex.quote('umask 022; ' + command)}"


def _own(mine: Json) -> str:
    return shlex.quote(json.dumps({"id": mine["id"]})[1:-1])
