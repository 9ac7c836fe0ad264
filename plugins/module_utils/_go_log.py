# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reason in what skopeo, docker and crictl print when they fail.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

_MESSAGE = re.compile(r'msg="((?:[^"\\]|\\.)*)"')
# What crictl prints to a terminal.
_LEVEL = re.compile(r"^FATA\[\d+\] ")


def reason(text: str) -> str:
    """The last line, without what a log puts around it and without a full stop."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "it said nothing"
    found = _MESSAGE.search(lines[-1])
    said = re.sub(r"\\(.)", r"\1", found[1]) if found else _LEVEL.sub("", lines[-1])
    return said.rstrip(". ")


def cause(text: str) -> str:
    """The reason without the layers of gRPC in front of it."""
    return reason(text).split(" desc = ", 1)[-1]
