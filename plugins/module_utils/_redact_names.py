# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes out values whose names tell that they are secret, in YAML, JSON, TOML, INI, shell and command lines.

The text's format is not known, and may be several in one: JSON in a line of YAML, both in a line of a journal. So a
name is looked for, then what parts it from its value, then where the value ends in the form that it has there.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

MARK = "REDACTED"

_SECRET = (
    r"passw|passphrase|secret|token|credential|dockerc(?:onfigjson|fg)|key[-_]?data|"
    r"(?:api|access|account|private|certificate|encryption|preshared|shared|signing)[-_.]?key"
)
# Looking at the first letter alone makes the search three times as fast.
_HIT = re.compile(rf"(?i)(?=[acdekpst])(?:{_SECRET}|pass\b|pwd\b|psk\b|auth)")
_STRONG = re.compile(f"(?i){_SECRET}")
# These only at the end of a name: `bypass` and `authorization-mode` are none, nor is the folder in PWD.
_LAST = re.compile(r"(?:(?i:(?:^|[-_.])(?:pass|psk|auth|authorization)|[-_.]pwd)|[a-z]Pass)$")
# What a name like this stands for is no secret: files, names of objects, times, choices.
_HARMLESS = re.compile(
    r"(?i)(?:files?|paths?|dir|config|name|namespace|refs?|ttl|ur[il]|mode|type|class|stdin|ca-cert-hash|policy|"
    r"version|seconds|audiences?|expir\w*|webhook[\w-]*)$"
)
_NAME = re.compile(r"[\w.-]*")
_SIGN = re.compile(r"""(?P<quote>\\*["'])?[ \t]*(?P<sign>=>|[+:?]?=|:)[ \t]*""")
# After an option: a blank, or the next item of a list in JSON or YAML.
_NEXT_WORD = re.compile(r"""\\*["']?(?:[ \t]*,\s*|[ \t]*\n[ \t]*-[ \t]+|[ \t]+)(?![-\s])""")
# name: X, value: Y
_NAMED = re.compile(r"""(?i)\b(?:name|key)\\*["']?[ \t]*[:=][ \t]*\\*["']?$""")
_VALUE = re.compile(r"""(?i)\\*["']?\s*,?\s*(?P<key>\\*["']?value\\*["']?)[ \t]*[:=][ \t]*""")
# The other way round; a value without quotes is a short one.
_TURNED = re.compile(
    r"""(?i)(\bvalue\\*["']?[ \t]*[:=][ \t]*)("(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|[^\n]{1,300}?)"""
    r"""(\s*,?\s*\\*["']?name\\*["']?[ \t]*[:=][ \t]*\\*["']?)([\w.-]+)"""
)
# What may stand before the first name of a line; a journal's lines have a head.
_LINE_START = re.compile(r"""(?:\S+ \S+ \S+\[\d+\]: )?[ \t]*(?:(?:-|[#;]+|//|export|set)[ \t]+|[#;]+)*(?:\\*["'])?""")
_LINE_START_MAX = 200
_OPENED = re.compile(r"""\\*["']$""")

_NOTHING = r"""(?i:true|false|null|none|nil|yes|no|~|\{\}|\[\]|\\*"\\*"(?!")|''(?!')|REDACTED)"""
_NOTHING_WORD = re.compile(_NOTHING + r"""(?=[\s,;)}\]"'\\]|$)""")
_NOTHING_LINE = re.compile(_NOTHING + r"""[ \t]*[,;)}\]\\"']*[ \t\r]*$""", re.MULTILINE)
_TAG = re.compile(r"v?\d+\.\d|latest\b|sha256:")
_QUOTED = re.compile(
    r'''(?s)"""(?:.*?)"""|\'\'\'(?:.*?)\'\'\'|"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\n]|''|'\\\'\')*\''''
    r"""|(?P<level>\\+["'])[^\n]*?(?<!\\)(?P=level)"""
)
# After something that closes by itself a value may go on, as words of the shell do.
_CLOSED_WORD = re.compile(r"""[\s,;)}\]>&|]|\\*"|'|\\n|$""")
_CLOSED_LINE = re.compile(r"""[ \t\r,;)}\]]*(?:[ \t]#[^\n]*)?$""", re.MULTILINE)
_LIST = re.compile(r"""\[(?:[^\]"']|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*')*\]""")
_OBJECT = re.compile(r"""\{[ \t]*(?:\n|\\*["']|[\w.-]+[ \t]*[:=])""")
_KEY = re.compile(r"""(?:-[ \t]+)*(?:"[^"\n]*"|'[^'\n]*'|[^\s:]+)[ \t]*:(?:[ \t\r\n]|$)""")
_WORD = re.compile(r"\S*")
_JSON_WORD = re.compile(r"[^\s,}\]]*")


def redact_named(text: str) -> str:
    """The text without the values of secret names."""
    text = _TURNED.sub(_turned, text)
    parts, done, at = [], 0, 0
    while hit := _HIT.search(text, at):
        begin, end = _name(text, hit.start(), at)
        at = end
        if not is_secret(text[begin:end]):
            continue
        span = _value(text, begin, end)
        if span and span[1] > span[0]:
            # A list in lines of its own becomes one word in the line of its name.
            parts += [text[done : span[0]], " " if text[span[0]] == "\n" else "", MARK]
            done = at = span[1]
    return "".join([*parts, text[done:]])


def is_secret(name: str) -> bool:
    return bool((_STRONG.search(name) or _LAST.search(name)) and not _HARMLESS.search(name))


def _turned(match: re.Match[str]) -> str:
    before, value, between, name = match.groups()
    return f"{before}{MARK if is_secret(name) else value}{between}{name}"


def _name(text: str, hit: int, least: int) -> tuple[int, int]:
    begin = hit
    while begin > least and (text[begin - 1].isalnum() or text[begin - 1] in "_.-"):
        begin -= 1
    found = _NAME.match(text, hit)
    return begin, found.end() if found else hit


def _value(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Where the value of this name begins and ends."""
    line = text.rfind("\n", 0, begin) + 1
    lead = text[max(line, begin - _LINE_START_MAX) : begin]
    first = begin - line < _LINE_START_MAX and bool(_LINE_START.fullmatch(lead))
    if sign := _SIGN.match(text, end):
        start, bare = sign.end(), not text.startswith(('"', "'", "\\"), sign.end())
        # Names inside an object are looked at by themselves. In KEY=VALUE there is none.
        if _OBJECT.match(text, start) and sign[0] != "=":
            return None
        if not first and sign["sign"] == ":" and bare and _is_prose(text, begin, sign):
            return None
        opened = None if sign["quote"] else _OPENED.search(lead)
        if opened:
            return start, _closing(text, start, opened[0])
        stop = _end(text, start, begin - line if first else None, _JSON_WORD if sign["quote"] else _WORD)
    elif _NAMED.search(lead) and (pair := _VALUE.match(text, end)):
        start = pair.end()
        column = pair.start("key") - text.rfind("\n", 0, start) - 1 if "\n" in pair[0] else None
        stop = _end(text, start, column, _JSON_WORD)
    elif text.startswith("-", begin) and (gap := _NEXT_WORD.match(text, end)):
        start = gap.end()
        column = start - text.rfind("\n", 0, start) - 1 if "\n" in gap[0] else None
        stop = _end(text, start, column, _WORD)
    else:
        return None
    return start, stop


def _is_prose(text: str, begin: int, sign: re.Match[str]) -> bool:
    """An image with its tag, or a quoted word in a sentence that goes on after a colon."""
    if sign["quote"]:
        return text[sign.end("quote")] in " \t"
    tight = not text[sign.end("sign") : sign.end("sign") + 1].isspace()
    return tight and (text[begin - 1 : begin] == "/" or bool(_TAG.match(text, sign.end())))


def _end(text: str, start: int, column: int | None, word: re.Pattern[str]) -> int:
    """Where a value ends. C(column) is that of its name if this begins the line; then the value takes all the line."""
    line_end = _line_end(text, start)
    if (_NOTHING_WORD if column is None else _NOTHING_LINE).match(text, start):
        return start
    closed = _QUOTED.match(text, start) or _LIST.match(text, start)
    if closed and (_CLOSED_WORD if column is None else _CLOSED_LINE).match(text, closed.end()):
        return closed.end()
    if column is None:
        found = word.match(text, start)
        # A quote that does not close may hold blanks.
        return line_end if text[start : start + 1] in ('"', "'") else found.end() if found else start
    if not text[start:line_end].strip():
        following = text[line_end + 1 : _line_end(text, line_end + 1)]
        inside = _indent(following) > column or following.lstrip().startswith("- ")
        if not following.strip() or not inside or _KEY.match(following.lstrip()):
            return start
        return _block_end(text, line_end, column, items=True)
    return _block_end(text, line_end, column, items=False)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _closing(text: str, start: int, quote: str) -> int:
    line_end = _line_end(text, start)
    found = re.compile(r"(?<!\\)" + re.escape(quote)).search(text, start, line_end)
    return found.start() if found else line_end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _block_end(text: str, line_end: int, column: int, *, items: bool) -> int:
    """The end of the lines that belong to the value: indented more than its name, or items of a list."""
    end = line_end
    while line_end < len(text):
        stop = _line_end(text, line_end + 1)
        line = text[line_end + 1 : stop]
        if line.strip():
            if _indent(line) <= column and not (items and _indent(line) == column and line.lstrip().startswith("- ")):
                break
            end = stop
        line_end = stop
    return end
