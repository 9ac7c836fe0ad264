# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads apt's list of sources in both of its forms.

Note that this module util is **PRIVATE** to the collection. Text in, entries out: no I/O.
"""

from __future__ import annotations

import re
import typing as t

_QUOTED = '\\|{}[]<>"^~_=!@#$%&*'
INLINE_KEY = "(key inside the file)"


class Source(t.NamedTuple):
    """One enabled address and suite; C(signed_by) is empty where nothing is said."""

    file: str
    line: int
    uri: str
    suite: str
    signed_by: str


def parse(name: str, text: str) -> list[Source]:
    """The enabled entries of one file; its ending says which form it has."""
    return _deb822(name, text) if name.endswith(".sources") else _one_line(name, text)


def lists_prefix(uri: str, suite: str) -> str:
    """How the names of the files begin that apt fetches from there into /var/lib/apt/lists."""
    place = uri.partition("://")[2].rstrip("/") + (f"/{suite}" if suite.endswith("/") else f"/dists/{suite}/")
    place = place.partition("@")[2] or place
    quoted = "".join(f"%{ord(sign):02x}" if sign in _QUOTED else sign for sign in place)
    return re.sub("/+", "_", quoted)


def _one_line(name: str, text: str) -> list[Source]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        hit = re.match(r"\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)", line.partition("#")[0])
        if hit:
            options = {}
            for word in (hit.group(1) or "").split():
                key, _sep, value = word.partition("=")
                options[key.lower()] = value
            found.append(Source(name, number, hit.group(2), hit.group(3), _keys(options.get("signed-by", ""))))
    return found


def _stanzas(text: str) -> t.Iterator[dict[str, tuple[int, str]]]:
    """Fields by lower-case name, each with its line; continued lines are joined by newlines."""
    fields: dict[str, tuple[int, str]] = {}
    key = ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        line = line.rstrip("\r")
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, key = {}, ""
        elif line[0] in " \t":
            if key:
                start, value = fields[key]
                fields[key] = (start, value + "\n" + line.strip())
        else:
            key, _sep, value = line.partition(":")
            key = key.strip().lower()
            fields[key] = (number, value.strip())


def _deb822(name: str, text: str) -> list[Source]:
    found = []
    for fields in _stanzas(text):
        enabled = fields.get("enabled", (0, "yes"))[1].lower()
        if enabled in ("no", "false", "0", "off", "without", "disable"):
            continue
        line, uris = fields.get("uris", (0, ""))
        signed_by = fields.get("signed-by", (0, ""))[1]
        keys = INLINE_KEY if "BEGIN PGP" in signed_by else _keys(signed_by)
        suites = fields.get("suites", (0, ""))[1].split()
        found += [Source(name, line, uri, suite, keys) for uri in uris.split() for suite in suites]
    return found


def _keys(value: str) -> str:
    """Several keyrings in an order that can be compared."""
    return ",".join(sorted(word for word in re.split(r"[,\s]+", value) if word))
