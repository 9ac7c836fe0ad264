# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""What programs say about containerd, and whether it has to be restarted. Text in, verdict out.

When does containerd need a restart? When the configuration that the running daemon started with differs from what
the files say now. The daemon does not tell what it started with, so:

- A record on tmpfs holds the fingerprint of the effective configuration of one invocation of the unit (systemd gives
  each start an id of its own). Same invocation: the fingerprints are compared. A comment in the file, or a value that
  equals a default, does not change the fingerprint.
- Without a record for this invocation (after a boot, or a restart by someone else), files that are all older than the
  start are what the daemon read. The fingerprint is then recorded.
- Otherwise nobody knows, and the daemon is restarted.

The record is written before a file is replaced. A run that is killed between replacing and restarting therefore leaves
a record that differs from the files, and the next run restarts.
"""

from __future__ import annotations

import calendar
import hashlib
import re
import time
import typing as t
from dataclasses import dataclass

# The clock that stamps files is some milliseconds behind the one that stamps the start of a unit.
_MARGIN = 0.02


@dataclass(frozen=True)
class Unit:
    """A systemd service, as C(systemctl show) tells it."""

    loaded: bool
    active: bool
    state: str
    at_boot: bool
    pid: int
    invocation: str
    started: float | None
    program: str | None
    config: str | None


@dataclass(frozen=True)
class Decision:
    """Whether to restart, why, and what the running daemon started with (None: not known)."""

    restart: bool
    reason: str
    running: str | None


def parse_version(text: str) -> str | None:
    """The version number out of C(containerd --version), which distributions decorate in many ways."""
    found = re.search(r"\sv?(\d+\.\d+(\.\d+)?)", text)
    return found[1] if found else None


def parse_unit(text: str) -> Unit:
    """C(systemctl show --timestamp=us+utc), one property per line."""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    program, arguments = exec_start(values.get("ExecStart", ""))
    state = values.get("ActiveState", "unknown")
    return Unit(
        loaded=values.get("LoadState") == "loaded",
        active=state == "active",
        state=state,
        at_boot=values.get("UnitFileState") != "disabled",
        pid=int(values.get("MainPID") or 0),
        invocation=values.get("InvocationID", ""),
        started=parse_time(values.get("ExecMainStartTimestamp", "")),
        program=program,
        config=config_argument(arguments),
    )


def exec_start(value: str) -> tuple[str | None, list[str]]:
    """The program and arguments of an ExecStart property."""
    program = re.search(r"path=(\S+)", value)
    arguments = re.search(r"argv\[\]=(.*?) ;", value)
    return (program[1] if program else None), (arguments[1].split() if arguments else [])


def config_argument(arguments: list[str]) -> str | None:
    """The value of --config, in each spelling that containerd takes."""
    for number, argument in enumerate(arguments):
        found = re.fullmatch(r"--?(?:config|c)(?:=(.*))?", argument)
        if found:
            return found[1] or (arguments[number + 1] if number + 1 < len(arguments) else None)
    return None


def parse_time(text: str) -> float | None:
    """A time as systemd prints it with us+utc: Mon 2026-11-30 14:43:24.123456 UTC."""
    found = re.search(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)? UTC", text)
    if not found:
        return None
    return calendar.timegm(time.strptime(found[1], "%Y-%m-%d %H:%M:%S")) + float(found[2] or 0)


def imports_of(text: str) -> list[str]:
    """The imports of a configuration file: file names and patterns, as they stand there."""
    root = re.split(r"^\s*\[", text, maxsplit=1, flags=re.M)[0]  # a root key stands before the first table
    found = re.search(r"""^\s*["']?imports["']?\s*=\s*\[(.*?)\]""", root.lstrip("\ufeff"), re.M | re.S)
    if not found:
        return []
    inner = re.sub(r"^\s*#.*$", "", found[1], flags=re.M)
    return [double or single for double, single in re.findall(r'"([^"]*)"|\'([^\']*)\'', inner)]


def fingerprint(dump: str) -> str:
    """A hash of an effective configuration. The imports are no setting, and 1.x puts the file itself there."""
    lines = [line.strip() for line in dump.splitlines() if not re.match(r"imports\s*=", line)]
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()


def socket_of(dump: str) -> str:
    """The address at which this configuration makes containerd listen."""
    section = re.search(
        r"""^[ \t]*\[(?:grpc|plugins\.["']io\.containerd\.server\.v1\.grpc["'])\](.*?)(?:^[ \t]*\[|\Z)""",
        dump,
        re.M | re.S,
    )
    found = re.search(r"""^\s*address\s*=\s*["']([^"']+)["']""", section[1], re.M) if section else None
    return found[1] if found else "/run/containerd/containerd.sock"


def decide(
    unit: Unit,
    record: t.Mapping[str, t.Any] | None,
    on_disk: str,
    newest: float,
    wanted: str | None = None,
) -> Decision:
    """Whether containerd has to be restarted.

    C(on_disk) is the fingerprint of what the files say now, C(newest) the time of the latest change to them, C(wanted)
    the fingerprint that is to be in force, if that differs from the files.
    """
    wanted = on_disk if wanted is None else wanted
    if not unit.active:
        return Decision(True, f"the service is not running ({unit.state})", None)
    if record and record.get("invocation") == unit.invocation and unit.invocation:
        running = record.get("configuration")
    elif unit.started is not None and newest < unit.started - _MARGIN:
        running = on_disk
    else:
        reason = "the configuration is newer than the running daemon, and what that started with is not recorded"
        return Decision(True, reason, None)
    if running == wanted:
        return Decision(False, "the running daemon has this configuration", running)
    return Decision(True, "the running daemon has another configuration", running)


def cri_ready(listing: str) -> tuple[bool, str]:
    """Whether the CRI plugin works, out of C(ctr plugins ls)."""
    states = {}
    for line in listing.splitlines():
        words = line.split()
        if len(words) >= 4 and (words[0].startswith("io.containerd.cri.") or words[1] == "cri"):
            states[f"{words[0]}.{words[1]}"] = words[-1]
    if not any(name.endswith(".cri") for name in states):
        return False, "the CRI plugin is not loaded"
    bad = [f"{name}: {state}" for name, state in states.items() if state != "ok"]
    return not bad, ", ".join(bad) or "the CRI plugin is ready"


def reasons(journal: str) -> str:
    """The telling errors in containerd's journal, each once; the shortest is the one that is nearest to the cause."""
    lines = [line.strip() for line in journal.splitlines() if line.strip()]
    telling = [
        line for line in lines if re.search(r"error|fatal|fail|invalid", line, re.I) and "skip plugin" not in line
    ]
    errors = []
    for line in telling:
        found = re.search(r'error="((?:[^"\\]|\\.)*)"', line) or re.search(r'msg="((?:[^"\\]|\\.)*)"', line)
        error = found[1].replace('\\"', '"') if found else line
        if error not in errors:
            errors.append(error)
    return "; ".join(sorted(errors, key=len)[:2] or lines[-2:]) or "the journal says nothing"
