# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What this machine looks like in all the places where a lab could leave something behind.

Take a snapshot before and after; ``difference`` of the two must be empty once the lab is down. What belongs to other
labs, which may come and go meanwhile, can be left out of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing as t
from pathlib import Path

from nodelab import process
from nodelab.cgroups import TOP, find_hierarchies
from nodelab.network import Network

Snapshot = dict[str, list[str]]
# Where services keep what they need while they run; only the first level counts, it is enough to see a new entry.
_RUNTIME = ("/run", "/run/systemd", "/run/netns", "/run/lock")
# Folders that everybody uses all the time, so only names that the lab or its tools would choose count there.
_SHARED = ("/tmp", "/var/tmp", "/dev/shm")
_OURS = re.compile(r"nspawn|mmdebstrap|lab|gshare|systemd-private|nginx|dnsmasq")
_SYSCTL_ROOTS = ("kernel", "vm", "fs", "net/ipv4", "net/ipv6", "net/core", "net/netfilter", "net/bridge")
# Settings that are no settings: they count or change by themselves.
_UNSTEADY = re.compile(
    r"kernel/(random/|ns_last_pid|pty/nr|sched_domain|perf_event_max_sample_rate|tainted|printk$)|fs/(file-nr|inode-|dentry-state|aio-nr|epoll)"
    r"|vm/(stat|numa_stat)|fs/quota/|fs/lease|net/netfilter/nf_conntrack_count|net/ipv4/(tcp_fastopen_key|route/)|net/ipv[46]/(conf|neigh)/"
)


def snapshot(labs: Path) -> Snapshot:
    """Return the state of the machine; ``labs`` is the folder of all labs."""
    return {
        "processes": sorted(_processes()),
        "mounts": sorted(_mounts()),
        "links": _lines(["ip", "-oneline", "link"], r"^\d+: ([^:@]+)[:@].*\bmtu (\d+)"),
        "addresses": _lines(["ip", "-oneline", "address"], r"^\d+: (\S+)\s+(inet6? \S+)"),
        "routes": _lines(["ip", "route", "show", "table", "all"], r"^(.*)$"),
        "firewall": list(_firewall(process.run(["nft", "--stateless", "list", "ruleset"]))),
        "cgroups": sorted(_cgroups()),
        "files": sorted(_temporary()),
        # Two levels are enough to see a lab that is still there; below them are the disks of nodes.
        "labs": sorted(str(path) for pattern in ("*", "*/*") for path in labs.glob(pattern)),
        "settings": sorted(_settings()),
        "swap": sorted(Path("/proc/swaps").read_text(encoding="ascii").splitlines()[1:]),
    }


def difference(before: Snapshot, after: Snapshot) -> Snapshot:
    """Return what came (with a plus) and what went (with a minus), by place; empty if nothing did."""
    found: Snapshot = {}
    for place in before:
        first, second = set(before[place]), set(after[place])
        came = [f"+ {line}" for line in after[place] if line not in first]
        went = [f"- {line}" for line in before[place] if line not in second]
        if came or went:
            found[place] = came + went
    return found


def leave_out(found: Snapshot, labs: t.Collection[Network]) -> Snapshot:
    """Return a difference without the lines that name one of these labs, its folder, groups, bridge or table.

    While there are others, kernel settings do not count either: their nodes change them, the last lab puts them back.
    """
    names = [rf"{TOP}/{net.lab}\b(?!-)|/labs/{net.lab}\b(?!-)|\b{net.bridge}\b|\b{net.table}\b" for net in labs]
    pattern = re.compile("|".join(names) or r"(?!)")
    kept = {place: [line for line in lines if not pattern.search(line)] for place, lines in found.items()}
    return {place: lines for place, lines in kept.items() if lines and not (labs and place == "settings")}


def _processes() -> t.Iterator[str]:
    """Name the processes of labs: those in a lab's control group, or started by one."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            groups = (folder / "cgroup").read_text(encoding="utf-8")
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            group = re.search(rf":/({TOP}/\S+)", groups)
            if group or b"GSHARE_LAB=" in environment:
                yield f"{folder.name} {group[1] if group else '-'} {command}"


def _mounts() -> t.Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields = line.split(" ")
        yield " ".join(fields[3:6] + fields[fields.index("-") + 1 :])


def _cgroups() -> t.Iterator[str]:
    """Name the first level of groups, and all below the lab's."""
    hierarchies, _unified = find_hierarchies(Path("/proc/self/mounts").read_text(encoding="utf-8"))
    for root in hierarchies.values():
        for item in root.iterdir():
            if item.is_dir():
                yield from (path for path, _dirs, _files in os.walk(item)) if item.name == TOP else [str(item)]


def _temporary() -> t.Iterator[str]:
    for folder in (*_RUNTIME, *_SHARED):
        with contextlib.suppress(OSError):
            names = [item.name for item in os.scandir(folder)]
            yield from (f"{folder}/{name}" for name in names if folder in _RUNTIME or _OURS.match(name))


def _settings() -> t.Iterator[str]:
    root = Path("/proc/sys")
    for part in _SYSCTL_ROOTS:
        for path in sorted((root / part).rglob("*")):
            name = str(path.relative_to(root))
            if _UNSTEADY.match(name):
                continue
            with contextlib.suppress(OSError, UnicodeDecodeError):
                if path.is_file():
                    yield f"{name} = {' '.join(path.read_text(encoding='utf-8').split())}"


def _firewall(rules: str) -> t.Iterator[str]:
    """Put the table's name before each of its lines."""
    table = ""
    for line in rules.splitlines():
        if line.startswith("table "):
            table = line.removesuffix(" {")
        if line.strip(" \t}"):
            yield f"{table}: {line.strip()}"


def _lines(argv: list[str], pattern: str) -> list[str]:
    found = [match for line in process.run(argv).splitlines() if (match := re.search(pattern, line))]
    return sorted(" ".join(match.groups()).strip() for match in found)
