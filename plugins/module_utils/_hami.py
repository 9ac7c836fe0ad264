# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What HAMi writes on nodes: the cards that its device plugin registered, and the handshake with its scheduler.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
import typing as t

REGISTER = "hami.io/node-nvidia-register"
HANDSHAKE = "hami.io/node-handshake"
SCHEDULER = "hami-scheduler"
# The scheduler drops a node whose plugin has not answered for so long, if it has no nvidia.com/gpu left.
HANDSHAKE_LIMIT = 60.0
_MOMENT = re.compile(r"^Requesting_(\d{4})[.-](\d\d)[.-](\d\d)[ T](\d\d:\d\d:\d\d)")


@dataclasses.dataclass(frozen=True)
class Card:
    """A card as its node registered it."""

    id: str
    index: int = 0
    count: int = 0
    memory_mib: int = 0
    cores: int = 0
    type: str = ""
    mode: str = ""
    health: bool = False


def registered(annotation: str) -> list[Card]:
    """The cards in a node's annotation: JSON, or the fields with commas of older releases.

    Zero values are left out of the JSON: no C(health) is false, no C(index) is 0. What cannot be read is a ValueError.
    """
    text = annotation.strip()
    if not text:
        return []
    if text.startswith("["):
        entries = json.loads(text)
        if not all(isinstance(entry, dict) for entry in entries):
            raise ValueError(f"no list of cards: {text}")
        return [_from_object(entry) for entry in entries]
    return [_from_fields(part) for part in text.split(":") if part]


def _from_object(entry: dict[str, t.Any]) -> Card:
    return Card(
        id=str(entry.get("id", "")),
        index=int(entry.get("index") or 0),
        count=int(entry.get("count") or 0),
        memory_mib=int(entry.get("devmem") or 0),
        cores=int(entry.get("devcore") or 0),
        type=str(entry.get("type", "")),
        mode=str(entry.get("mode", "")),
        health=entry.get("health") is True,
    )


def _from_fields(part: str) -> Card:
    """One card of the older form: id,count,memory,cores,type,numa,health and perhaps index,mode."""
    fields = part.split(",")
    if len(fields) not in (7, 9):
        raise ValueError(f"a card has 7 or 9 fields, not {len(fields)}: {part}")
    index, mode = (int(fields[7]), fields[8]) if len(fields) == 9 else (0, "")
    return Card(
        id=fields[0],
        index=index,
        count=int(fields[1]),
        memory_mib=int(fields[2]),
        cores=int(fields[3]),
        type=fields[4],
        mode=mode,
        health=fields[6].lower() == "true",
    )


def handshake_age(text: str, now: float) -> float | None:
    """Seconds since the scheduler asked a node's plugin without an answer; None if it does not wait for one.

    It writes the time of its container's clock, which is UTC.
    """
    hit = _MOMENT.match(text)
    if not hit:
        return None
    try:
        asked = datetime.datetime.strptime("{}-{}-{} {}".format(*hit.groups()), "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    return max(0.0, now - asked.replace(tzinfo=datetime.timezone.utc).timestamp())
