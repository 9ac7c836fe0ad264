# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What dpkg says of packages.

Note that this module util is **PRIVATE** to the collection. Text in, packages out: no I/O.
"""

from __future__ import annotations

import typing as t

JOURNAL = "/var/lib/dpkg/updates"


class Package(t.NamedTuple):
    """An installed package."""

    version: str
    held: bool


def query(names: t.Sequence[str]) -> list[str]:
    """The command that asks. It ends with 1 if one of the names is not known, and lists the others."""
    form = "${Package} ${db:Status-Want} ${db:Status-Status} ${Version}\\n"
    return ["dpkg-query", "-W", "-f", form, *names]


def parse(text: str) -> dict[str, Package]:
    """What it prints, by name; what is not installed is left out."""
    words = [line.split() for line in text.splitlines()]
    return {
        entry[0]: Package(entry[3], entry[1] == "hold")
        for entry in words
        if len(entry) == 4 and entry[2] == "installed"
    }


def interrupted(journal: t.Iterable[str]) -> bool:
    """Whether a dpkg was cut off: it leaves numbered files in its journal, and apt does nothing until they are gone."""
    return any(name.isdigit() for name in journal)
