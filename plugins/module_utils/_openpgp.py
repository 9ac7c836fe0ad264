# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fingerprints of OpenPGP keys, without gpg, which machines may lack.

Note that this module util is **PRIVATE** to the collection. Bytes in, text out: no I/O.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import typing as t

_ARMOUR = re.compile(rb"-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(.*?)\r?\n-----END PGP PUBLIC KEY BLOCK-----", re.S)
_PUBLIC_KEY = 6


def fingerprints(data: bytes) -> list[str]:
    """Those of the primary keys in a file, armoured or not; nothing if it holds no key."""
    blocks = [_unarmoured(hit) for hit in _ARMOUR.findall(data)] or [data]
    return [
        hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()
        for block in blocks
        for tag, body in _packets(block)
        if tag == _PUBLIC_KEY and body[:1] == b"\x04"
    ]


def normal(fingerprint: str) -> str:
    """As people write them, with blanks and in small letters."""
    return re.sub(r"[\s:]", "", fingerprint).upper()


def _unarmoured(block: bytes) -> bytes:
    """Without the headers before the empty line, and without the checksum at the end."""
    lines = block.replace(b"\r", b"").split(b"\n")
    start = next((index + 1 for index, line in enumerate(lines) if not line.strip()), 0)
    text = b"".join(line for line in lines[start:] if not line.startswith(b"="))
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def _packets(data: bytes) -> t.Iterator[tuple[int, bytes]]:
    """Tag and body of each packet, in the old and the new form; stops where the data makes no sense."""
    at = 0
    while at + 1 < len(data) and data[at] & 0x80:
        head = data[at]
        if head & 0x40:
            tag, start, size = head & 0x3F, *_new_length(data, at + 1)
        else:
            tag, width = head >> 2 & 0xF, (1, 2, 4, 0)[head & 3]
            start = at + 1 + width
            size = int.from_bytes(data[at + 1 : start], "big") if width else len(data) - start
        if start + size > len(data):
            return
        yield tag, data[start : start + size]
        at = start + size


def _new_length(data: bytes, at: int) -> tuple[int, int]:
    """Where the body begins, and its size."""
    first = data[at]
    if first < 192:
        return at + 1, first
    if first < 224:
        return at + 2, (first - 192 << 8) + data[at + 1] + 192 if at + 1 < len(data) else len(data)
    return at + 5, int.from_bytes(data[at + 1 : at + 5], "big")
