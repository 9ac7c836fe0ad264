# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the run of verify that made something still goes on.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import os


def identity(pid: int) -> str:
    """A process by boot, number and start: a number alone is given out again."""
    try:
        with (
            open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot,
            open(f"/proc/{pid}/stat", encoding="utf-8") as stat,
        ):
            return f"{boot.read().strip()} {pid} {stat.read().rpartition(')')[2].split()[19]}"
    except OSError:
        return ""


def alive(owner: str) -> bool:
    """Whether the run that made a namespace may still go on. One of another boot or machine is left to its age."""
    mine = identity(os.getpid()).split()
    theirs = owner.split()
    if len(theirs) != 3 or not theirs[1].isdigit() or theirs[0] != mine[0]:
        return True
    return identity(int(theirs[1])) == owner
