# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Read TOML texts: strictly into values, and loosely into the places where keys, values and tables stand.

The scanner relies on the text being valid, so ``load`` comes first.
"""

from __future__ import annotations

import re
import tomllib
import typing as t
from dataclasses import dataclass, field

Path = tuple[str, ...]

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
BOM = "\ufeff"


class TomlError(ValueError):
    """The text cannot be read, or not be changed in the way that was asked for."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Pair:
    """One ``key = value``; all positions are offsets into the text."""

    path: Path  # absolute: table header, dotted key
    own: int  # how many parts of the path the key itself has
    raw: tuple[str, ...]  # the key's parts as they are written
    start: int
    value_start: int
    value_end: int
    table: list[Pair] | None = None  # the pairs of an inline table
    items: list[tuple[int, int]] | None = None  # the elements of an array


@dataclass
class Section:
    """A table header with its pairs; the root table has the empty path."""

    path: Path
    raw: tuple[str, ...]
    start: int  # of the header's line
    body: int  # first offset after the header's line
    indent: str
    array: bool = False
    pairs: list[Pair] = field(default_factory=list)


def load(text: str) -> dict[str, t.Any]:
    """Parse a text strictly. A byte order mark is allowed, as containerd allows it."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as exc:
        found = re.search(r"\(at line (\d+), column \d+\)", str(exc))
        message = re.sub(r" \(at (line \d+, column \d+|end of document)\)$", "", str(exc))
        raise TomlError(message, int(found[1]) if found else text.count("\n") + 1) from exc


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 1 if text.startswith(BOM) else 0

    def peek(self, length: int = 1) -> str:
        return self.text[self.pos : self.pos + length]

    def blanks(self, lines: bool = False) -> None:
        """Go over spaces, and over line ends and comments too where they may stand."""
        text, end = self.text, len(self.text)
        while self.pos < end:
            char = text[self.pos]
            if char in " \t" or (lines and char in "\r\n"):
                self.pos += 1
            elif lines and char == "#":
                self.line_end()
            else:
                return

    def line_end(self) -> None:
        found = self.text.find("\n", self.pos)
        self.pos = len(self.text) if found < 0 else found

    def string(self) -> str:
        """Go over a string of any of the four kinds; the text between the quotes, unescaped for single-line ones."""
        quote = self.peek()
        if self.peek(3) == quote * 3:
            self.pos += 3
            while self.peek(3) != quote * 3:
                self.pos += 2 if quote == '"' and self.peek() == "\\" else 1
            self.pos += 3
            while self.peek() == quote:  # up to two quotes may stand before the closing three
                self.pos += 1
            return ""
        start = self.pos + 1
        self.pos = start
        while self.peek() != quote:
            self.pos += 2 if quote == '"' and self.peek() == "\\" else 1
        self.pos += 1
        inner = self.text[start : self.pos - 1]
        return _unescape(inner) if quote == '"' else inner

    def key(self) -> tuple[Path, tuple[str, ...]]:
        """A key, dotted or not: its parts, and how each is written."""
        parts: list[str] = []
        raw: list[str] = []
        while True:
            self.blanks()
            start = self.pos
            if self.peek() in ('"', "'"):
                parts.append(self.string())
            else:
                found = BARE_KEY.match(self.text, self.pos)
                if not found:
                    raise TomlError("a key was expected", line_of(self.text, self.pos))
                parts.append(found[0])
                self.pos = found.end()
            raw.append(self.text[start : self.pos])
            self.blanks()
            if self.peek() != ".":
                return tuple(parts), tuple(raw)
            self.pos += 1

    def value(self, pair: Pair) -> None:
        pair.value_start = self.pos
        char = self.peek()
        if char in ('"', "'"):
            self.string()
        elif char == "[":
            pair.items = self.array()
        elif char == "{":
            pair.table = self.inline(pair.path)
        else:
            found = re.compile(r"[^\s,#\]}]+( [0-9:.]+([Zz]|[+-][0-9:]+)?)?").match(self.text, self.pos)
            self.pos = found.end() if found else self.pos
        pair.value_end = self.pos

    def array(self) -> list[tuple[int, int]]:
        items: list[tuple[int, int]] = []
        self.pos += 1
        while True:
            self.blanks(lines=True)
            if self.peek() == "]":
                self.pos += 1
                return items
            if self.peek() == ",":
                self.pos += 1
                continue
            item = Pair((), 0, (), self.pos, self.pos, self.pos)
            self.value(item)
            items.append((item.value_start, item.value_end))

    def inline(self, base: Path) -> list[Pair]:
        pairs: list[Pair] = []
        self.pos += 1
        while True:
            self.blanks(lines=True)
            if self.peek() == "}":
                self.pos += 1
                return pairs
            if self.peek() == ",":
                self.pos += 1
                continue
            pairs.append(self.pair(base))

    def pair(self, base: Path) -> Pair:
        start = self.pos
        key, raw = self.key()
        self.pos += 1  # the equals sign
        self.blanks()
        pair = Pair(base + key, len(key), raw, start, self.pos, self.pos)
        self.value(pair)
        return pair

    def header(self) -> Section:
        start = self.text.rfind("\n", 0, self.pos) + 1
        indent = self.text[start : self.pos].removeprefix(BOM)
        array = self.peek(2) == "[["
        self.pos += 2 if array else 1
        path, raw = self.key()
        self.line_end()
        return Section(path, raw, start, min(self.pos + 1, len(self.text)), indent, array)


def scan(text: str) -> list[Section]:
    """All tables of a valid text in their order; the first is the root table."""
    scanner = _Scanner(text)
    sections = [Section((), (), scanner.pos, scanner.pos, "")]
    while True:
        scanner.blanks(lines=True)
        if scanner.pos >= len(text):
            return sections
        if scanner.peek() == "[":
            sections.append(scanner.header())
        else:
            sections[-1].pairs.append(scanner.pair(sections[-1].path))


def find(text: str, path: Path) -> int | None:
    """The line on which a value or a table of this path stands first."""
    sections = scan(text)
    pair = find_pair([pair for section in sections for pair in section.pairs], path)
    if pair:
        return line_of(text, pair.start)
    starts = [s.start for s in sections if s.path[: len(path)] == path and path]
    starts += [p.start for s in sections for p in s.pairs if p.path[: len(path)] == path]
    return line_of(text, min(starts)) if starts else None


def find_pair(pairs: list[Pair], path: Path) -> Pair | None:
    for pair in pairs:
        if pair.path == path:
            return pair
        if pair.table is not None and path[: len(pair.path)] == pair.path:
            return find_pair(pair.table, path)
    return None


def lookup(data: t.Any, path: Path) -> t.Any:
    """The value at a path, or None."""
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data


def same(left: t.Any, right: t.Any) -> bool:
    """Equal in TOML's eyes: true is not 1, and 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def _unescape(inner: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if code[0] in "uU" else ESCAPES[code]

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", one, inner)
