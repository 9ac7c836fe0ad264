# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kernel settings that nodes share with the machine: what a lab changes is put back when the last lab goes.

A node's kubelet sets some of them for the whole machine, since they are not part of any namespace.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import typing as t
from pathlib import Path

PROC_SYS = Path("/proc/sys")
# One for the machine, wherever labs keep their files.
RECORD = Path("/run/gshare-lab.json")
BOOT_ID = PROC_SYS / "kernel/random/boot_id"
WANTED = {"net.ipv4.ip_forward": "1"}
# The number of watches is counted for root on the machine and in all nodes together.
AT_LEAST = {"fs.inotify.max_user_instances": 2048, "fs.inotify.max_user_watches": 262144}
# Written by the kubelet and by systemd-sysctl in the nodes.
TOUCHED_BY_NODES = (
    "kernel.keys.root_maxbytes",
    "kernel.keys.root_maxkeys",
    "kernel.panic",
    "kernel.panic_on_oops",
    "kernel.pid_max",
    "kernel.sysrq",
    "kernel.core_pattern",
    "fs.protected_fifos",
    "fs.protected_hardlinks",
    "fs.protected_regular",
    "fs.protected_symlinks",
    "fs.file-max",
    "fs.nr_open",
    "vm.max_map_count",
    "vm.overcommit_memory",
    "vm.panic_on_oom",
    "vm.swappiness",
)


# What a node cannot load by itself and nothing else loads on demand.
MODULES = ("overlay", "br_netfilter")


def load_modules() -> None:
    """Load what nodes need; where it is built in, or the machine has no modules, there is nothing to do."""
    for name in MODULES:
        if not Path("/sys/module", name).exists() and shutil.which("modprobe"):
            subprocess.run(["modprobe", "--quiet", name], check=False, capture_output=True)


def read(name: str) -> str | None:
    """Return the value of a setting, None where the kernel has none."""
    try:
        return _path(name).read_text(encoding="ascii").strip()
    except OSError:
        return None


def save(record: Path) -> None:
    """Write the present values down, unless a lab of this boot did so before, and set what labs need."""
    if _recorded(record) is None:
        names = [*WANTED, *AT_LEAST, *TOUCHED_BY_NODES]
        values = {name: value for name in names if (value := read(name)) is not None}
        text = json.dumps({"boot_id": _boot_id(), "values": values}, indent=1)
        temporary = record.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.rename(record)
    for name, value in WANTED.items():
        _write(name, value)
    for name, least in AT_LEAST.items():
        if int(read(name) or least) < least:
            _write(name, str(least))


def restore(record: Path) -> None:
    """Put the recorded values back; those from before a reboot of the machine mean nothing any more."""
    for name, value in (_recorded(record) or {}).items():
        if read(name) != value:
            _write(name, value)
    record.unlink(missing_ok=True)
    record.with_suffix(".new").unlink(missing_ok=True)


def _recorded(record: Path) -> dict[str, str] | None:
    try:
        content: dict[str, t.Any] = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content["values"] if content["boot_id"] == _boot_id() else None


def _boot_id() -> str:
    return BOOT_ID.read_text(encoding="ascii").strip()


def _path(name: str) -> Path:
    return PROC_SYS.joinpath(*name.split("."))


def _write(name: str, value: str) -> None:
    with contextlib.suppress(OSError):
        _path(name).write_text(value, encoding="ascii")
