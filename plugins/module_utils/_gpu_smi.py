# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nvidia-smi answered: the cards, or what its exit status and its words mean.

Note that this module util is **PRIVATE** to the collection. Text in, plain data out: no I/O.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer

QUERY = (
    "nvidia-smi",
    "--query-gpu=index,uuid,name,memory.total,driver_version,mig.mode.current",
    "--format=csv,noheader,nounits",
)
# Kinds of answers.
WORKS, ABSENT, HANGS, NO_DEVICES, NOT_LOADED, NO_LIBRARY, OFF_BUS, MISMATCH, BROKEN = (
    "works",
    "absent",
    "hangs",
    "no_devices",
    "not_loaded",
    "no_library",
    "off_bus",
    "mismatch",
    "broken",
)
_STATUS = {6: NO_DEVICES, 9: NOT_LOADED, 12: NO_LIBRARY, 15: OFF_BUS, 18: MISMATCH}
# Its words decide before its status: older releases end with 255 or 1 for several of these.
_WORDS = (
    (r"driver/library version mismatch", MISMATCH),
    (r"fallen off the bus|GPU is lost", OFF_BUS),
    (r"couldn't communicate with the NVIDIA driver|driver is not loaded", NOT_LOADED),
    (r"couldn't find libnvidia-ml|libnvidia-ml\.so.*(not found|cannot open)", NO_LIBRARY),
    (r"no devices were found", NO_DEVICES),
)


def gpus(text: str) -> list[dict[str, t.Any]]:
    """The lines of C(QUERY). A name may hold commas; memory and MIG may be N/A."""
    found = []
    for line in text.split("\n"):
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 6 or not parts[0].isdigit():
            continue
        memory = re.match(r"\d+", parts[-3])
        found.append(
            {
                "index": int(parts[0]),
                "uuid": parts[1],
                "name": ",".join(parts[2:-3]),
                "memory_mib": int(memory.group()) if memory else None,
                "driver": parts[-2],
                "mig": parts[-1] if parts[-1] in ("Enabled", "Disabled") else "",
            }
        )
    return found


def kind(answer: Answer) -> str:
    """One of the kinds above."""
    if not answer.present:
        return ABSENT
    if answer.timed_out:
        return HANGS
    if answer.status == 0:
        return WORKS if gpus(answer.text) else NO_DEVICES
    for pattern, found in _WORDS:
        if re.search(pattern, answer.text, re.I):
            return found
    return _STATUS.get(answer.status or 0, BROKEN)


def message(answer: Answer) -> str:
    """What it said, on one line; nothing if it listed cards."""
    return "" if kind(answer) == WORKS else " ".join(answer.text.split())[:400]


def data(answer: Answer) -> dict[str, t.Any]:
    return {
        "present": answer.present,
        "status": answer.status,
        "timed_out": answer.timed_out,
        "seconds": answer.seconds,
        "kind": kind(answer),
        "gpus": gpus(answer.text) if answer.status == 0 else [],
        "message": message(answer),
    }
