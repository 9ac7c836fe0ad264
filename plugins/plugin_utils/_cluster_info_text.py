# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The text of a cluster-info file: assignments as bash reads them, without running anything.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, what is wrong, and how to put it right."""

    line: int | None
    key: str
    entry: str
    what: str
    remedy: str

    def sentence(self, source: str = "cluster-info") -> str:
        """Give the mistake as one sentence that begins with the place."""
        place = source if self.line is None else f"{source}:{self.line}"
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {key}{self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Assignment:
    """KEY=VALUE and the places of its parts, as offsets into the text of the file.

    C(pieces) says which stretch of the value stands where: pairs of (offset in the value, offset in the file).
    What edits the file needs them: a list can lie in quotes, with escapes, and over several lines.
    """

    key: str
    value: str
    line: int
    key_start: int
    value_start: int
    value_end: int
    pieces: tuple[tuple[int, int], ...]
    broken: bool = False

    def offset(self, at: int) -> int:
        """Give the place in the file of the value's character number C(at)."""
        index = bisect_right(self.pieces, at, key=lambda piece: piece[0]) - 1
        inside, outside = self.pieces[index]
        return outside + at - inside


@dataclass(slots=True)
class Document:
    """What a file says: its assignments in order, and the lines that could not be read."""

    text: str
    assignments: list[Assignment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    line_starts: list[int] = field(default_factory=list)

    def line(self, offset: int) -> int:
        """Give the number, from 1, of the line that holds this place."""
        return bisect_right(self.line_starts, offset)


class _Mistake(Exception):
    def __init__(self, at: int, entry: str, what: str, remedy: str) -> None:
        super().__init__(what)
        self.at = at
        self.entry = entry
        self.what = what
        self.remedy = remedy


_NEWLINE = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"[ \t\f\v]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_HEAD = re.compile(r"[ \t\f\v]*(?:export[ \t]+)?(?P<key>[^\s=#'\"$`+]+)(?P<add>\+?)[ \t]*=")
_TOKEN = re.compile(
    r"""
      (?P<plain>[^\s\\'"$`;&|<>()\#]+)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^\\"$`]++|\\.)*+)"
    | (?P<space>(?:[ \t\f\v]|\\(?:\r\n|\n|\r))+)
    | \\(?P<escaped>[^\r\n])
    | (?P<placeholder><[\w ./:-]+>)
    | (?P<hash>\#)
    """,
    re.X | re.S | re.A,
)
_IN_DOUBLE = re.compile(r'[^\\]+|\\(?:\r\n|\n|\r)|\\(?P<escaped>["\\$`])|\\', re.S)
_OPEN_DOUBLE = re.compile(r'"(?:[^\\"$`]++|\\.)*+', re.S)
_EXPANSION = re.compile(r"`[^`\r\n]*`?|\$\([^\r\n)]*\)?|\$\{[^\r\n}]*\}?|\$\w*")
# A quote that is still open where the next setting begins was meant to end before it.
_NEXT_LINE_KEY = re.compile(r"[\r\n][ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]*\+?=")
_NEXT_WORD_KEY = re.compile(r"[A-Z][A-Z0-9_]{2,}\+?=")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]|[\u2018-\u201d]"
)
_QUOTE_ALL = "put the whole value into one pair of quotes"


class _Value:
    """A value while it is read, from the place behind the equals sign."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = self.start = self.end = at
        self.parts: list[str] = []
        self.pieces: list[tuple[int, int]] = []
        self.length = 0
        self.quoted = self.words = False

    def add(self, part: str, start: int) -> None:
        if part:
            self.parts.append(part)
            self.pieces.append((self.length, start))
            self.length += len(part)

    def read(self) -> None:
        """Go on to the end of the value: the end of its line, or a comment behind a space."""
        space = _TOKEN.match(self.text, self.at)
        if space and space["space"]:
            self.at = self.start = self.end = space.end()
            # Behind a mere continuation of the line, # is a letter of the value.
            if space.group().strip("\\\r\n") and self.text.startswith("#", self.at):
                return
        while token := _TOKEN.match(self.text, self.at):
            if token["space"]:
                if self.ends_at(token):
                    return
            else:
                self.word(token)
                self.end = token.end()
            self.at = token.end()
        if self.text[self.at : self.at + 1] not in ("", "\r", "\n"):
            self.refuse()

    def ends_at(self, space: re.Match[str]) -> bool:
        """Tell whether white space ends the value; between words it belongs to it where there are no quotes."""
        at = space.end()
        continued = not space.group().strip("\\\r\n")
        if _BLANK.match(self.text, at) and not (continued and self.text.startswith("#", at)):
            return True
        if continued:
            return False
        if _NEXT_WORD_KEY.match(self.text, at):
            raise _Mistake(at, "", "there are two settings on one line", "give each its own line")
        if self.quoted:
            raise _Mistake(at, "", "there is something behind the value", _QUOTE_ALL)
        self.words = True
        self.add(" ", space.start())
        return False

    def word(self, token: re.Match[str]) -> None:
        kind = str(token.lastgroup)
        start = token.start(kind)
        if kind in ("plain", "placeholder", "hash"):
            self.add(token.group(), token.start())
            return
        if self.words:
            raise _Mistake(token.start(), "", "there are spaces outside of the quotes", _QUOTE_ALL)
        self.quoted = True
        if _NEXT_LINE_KEY.search(self.text, token.start(), token.end()):
            self.unclosed(token.start())
        if kind == "double":
            for piece in _IN_DOUBLE.finditer(self.text, start, token.end(kind)):
                self.add(*_unescaped(piece))
        else:
            self.add(token[kind], start)

    def unclosed(self, at: int) -> None:
        raise _Mistake(at, "", f"the quote {self.text[at]} is not closed", "close it on the line where the value ends")

    def refuse(self) -> None:
        """Say why the next character cannot be part of a value."""
        at, char = self.at, self.text[self.at]
        if char in "'\"":
            inside = _OPEN_DOUBLE.match(self.text, at)
            stop = inside.end() if inside else len(self.text)
            if self.text[stop : stop + 1] not in ("$", "`") or _NEXT_LINE_KEY.search(self.text, at, stop):
                self.unclosed(at)
            at = stop
        if expansion := _EXPANSION.match(self.text, at):
            found = expansion.group()
            kind = "a command" if found.startswith(("`", "$(")) else "a shell variable"
            what = f"'{found}' is {kind}, and this file is read, not run"
            raise _Mistake(at, found, what, "write the value itself, or use single quotes if it is meant as it stands")
        if char == "(" and not self.parts:
            raise _Mistake(at, char, "the value is a shell array", "put commas between entries, and no parentheses")
        if char == "\\":
            raise _Mistake(at, char, "there is nothing behind the backslash", "remove it")
        raise _Mistake(at, char, f"'{char}' ends a value in a shell", "quote the value, or remove the character")


def _unescaped(piece: re.Match[str]) -> tuple[str, int]:
    """Read a stretch inside double quotes: what it stands for, and where that begins."""
    if piece["escaped"]:
        return piece["escaped"], piece.start("escaped")
    joined = len(piece.group()) > 1 and piece.group().startswith("\\")
    return ("" if joined else piece.group()), piece.start()


def _assignment(document: Document, head: re.Match[str]) -> tuple[Assignment, int]:
    value = _Value(document.text, head.end())
    value.read()
    if unseen := _UNSEEN.search(document.text, value.start, value.end):
        char = unseen.group()
        name = f"the typographic quote {char}" if "\u2018" <= char <= "\u201d" else f"the character U+{ord(char):04X}"
        raise _Mistake(unseen.start(), char, f"{name} is in the value", "type it again with plain quotes and spaces")
    if head["add"]:
        raise _Mistake(head.start("key"), "", "a value cannot be added to with +=", "write the whole value behind =")
    assignment = Assignment(
        key=head["key"],
        value="".join(value.parts),
        line=document.line(head.start("key")),
        key_start=head.start("key"),
        value_start=value.start,
        value_end=value.end,
        pieces=(*value.pieces, (value.length, value.end)),
    )
    return assignment, value.end


def _line_end(text: str, at: int) -> int:
    match = _NEWLINE.search(text, at)
    return match.end() if match else len(text)


def _not_a_setting(document: Document, at: int, end: int) -> Problem:
    line = document.text[at:end].strip()
    shown = line if len(line) <= 40 else f"{line[:37]}..."
    colon = re.match(r"[A-Z][A-Z0-9_]*[ \t]*:", line)
    remedy = "put = where the colon is" if colon else "write KEY=VALUE, or # before a comment; commands are not run"
    return Problem(document.line(at), "", line, f"'{shown}' is not a setting", remedy)


def read(text: str) -> Document:
    """Read the text of a file; never fails, but notes each line that makes no sense."""
    document = Document(text)
    document.line_starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        end = _line_end(text, at)
        if _BLANK.match(text, at):
            at = end
            continue
        head = _HEAD.match(text, at)
        if not head:
            document.problems.append(_not_a_setting(document, at, end))
            at = end
            continue
        try:
            assignment, value_end = _assignment(document, head)
        except _Mistake as mistake:
            line = document.line(mistake.at)
            document.problems.append(Problem(line, head["key"], mistake.entry, mistake.what, mistake.remedy))
            # The key is there all the same, so that nobody calls it missing.
            key_at, at = head.start("key"), head.end()
            line = document.line(key_at)
            document.assignments.append(Assignment(head["key"], "", line, key_at, at, at, (), broken=True))
            end = _line_end(text, mistake.at)
        else:
            document.assignments.append(assignment)
            end = _line_end(text, value_end)
        at = end
    return document
