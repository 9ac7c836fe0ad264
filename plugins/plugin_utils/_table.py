# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plain text tables for the controller's screen.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import shutil
import textwrap
import typing as t

_GAP = "  "
_LAST_MIN = 24
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def render(headers: t.Sequence[str], rows: t.Sequence[t.Sequence[t.Any]], *, width: int | None = None) -> str:
    """Return a table with aligned columns, the last of which wraps at C(width).

    Words are never broken: commands and addresses in a cell can be copied. So a line is longer than C(width)
    where one word is, or where the other columns leave less than a readable rest.
    """
    if not headers:
        return ""
    count = len(headers)
    for row in rows:
        if len(row) > count:
            raise ValueError(f"a row has {len(row)} cells, the table {count} columns: {list(row)}")
    cells = [[_clean(cell) for cell in row] + [""] * (count - len(row)) for row in rows]
    flat = [[" ".join(cell.split("\n")) for cell in row[:-1]] + row[-1:] for row in cells]
    widths = [max(len(line[i]) for line in [list(headers), *flat]) for i in range(count - 1)]
    indent = sum(widths) + len(_GAP) * (count - 1)
    if width is None:
        width = shutil.get_terminal_size((120, 24)).columns
    rest = max(width - indent, _LAST_MIN, len(headers[-1]))

    lines = [_line([*headers[:-1]], widths, headers[-1])]
    wrapped = [_wrap(row[-1], rest) for row in flat]
    longest = max([len(headers[-1]), *(len(part) for parts in wrapped for part in parts)])
    lines.append(_line(["-" * w for w in widths], widths, "-" * min(longest, rest)))
    for row, parts in zip(flat, wrapped):
        lines.append(_line(row[:-1], widths, parts[0]))
        lines.extend((" " * indent + part).rstrip() for part in parts[1:])
    return "\n".join(lines)


def _clean(value: t.Any) -> str:
    """Text of a cell without what would move the cursor or colour the screen."""
    text = "" if value is None else str(value)
    return _CONTROL.sub(lambda hit: " " if hit.group() in "\t\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029" else "", text)


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.strip().split("\n"):
        lines.extend(
            textwrap.wrap(paragraph, width=width, break_long_words=False, break_on_hyphens=False)
            or ([""] if lines else [])
        )
    return lines or [""]


def _line(left: t.Sequence[str], widths: t.Sequence[int], last: str) -> str:
    return _GAP.join([cell.ljust(width) for cell, width in zip(left, widths)] + [last]).rstrip()
