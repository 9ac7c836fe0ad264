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
import os
import platform
import shlex
import subprocess
import typing as t
from pathlib import Path

from ansible_collections.gshare.cluster.plugins.plugin_utils._summary import clock

Json = dict[str, t.Any]


def started(pid: int) -> str:
    """When a process was started, as ps says it; empty if there is none."""
    done = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], check=False, capture_output=True, text=True, env={"LC_ALL": "C"}
    )
    return " ".join(done.stdout.split())


def machine() -> str:
    """What tells this machine from others. A network address would not do: interfaces come and go."""
    with contextlib.suppress(OSError):
        return f"{platform.node()}/{Path('/etc/machine-id').read_text(encoding='ascii').strip()}"
    return platform.node()


def owner(pid: int, playbook: str) -> Json:
    """The run whose main process that is."""
    begin = started(pid)
    return {
        "id": f"{machine()}/{pid}/{begin}",
        "user": getpass.getuser(),
        "host": platform.node(),
        "machine": machine(),
        "pid": pid,
        "started": begin,
        "playbook": playbook,
    }


def dead(other: Json) -> bool:
    """Whether an owner is a run on this machine that is known to have ended."""
    return other.get("machine") == machine() and started(int(other.get("pid") or 0)) != other.get("started")


def sentence(other: Json, now: float) -> str:
    """What a second run is told. C(now) is the clock of the machine that has the lock."""
    age, silent = clock(max(0.0, now - other.get("since", now))), clock(other.get("silent", 0.0))
    return (
        f"Another run works on this cluster: {other.get('playbook') or 'a playbook'} by {other.get('user')} on "
        f"{other.get('host')} (process {other.get('pid')}), for {age}, last heard of {silent} ago. Nothing was "
        f"changed. Wait for its end; if it hangs, end it there with kill {other.get('pid')}. If it is dead, its lock "
        "is taken over within a minute."
    )


def speak(path: str, mine: Json) -> str:
    """A shell command by which the owner says that it lives; also after a reboot that took the lock along."""
    name, text = shlex.quote(path), shlex.quote(json.dumps(mine))
    return _guarded(
        path, f"grep -qF {_own(mine)} {name} && touch {name} || {{ test -e {name} || printf %s {text} > {name}; }}"
    )


def release(path: str, mine: Json) -> str:
    """A shell command by which the owner gives the lock back."""
    name = shlex.quote(path)
    return _guarded(path, f"grep -qF {_own(mine)} {name} && rm -f {name}")


def _guarded(path: str, command: str) -> str:
    return f"flock -w 5 {shlex.quote(path + '.guard')} sh -c {shlex.quote(command)}"


def _own(mine: Json) -> str:
    return shlex.quote(json.dumps({"id": mine["id"]})[1:-1])


def running(pid: int, begin: str) -> bool:
    """Whether the main process of a run is still there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started(pid) == begin
