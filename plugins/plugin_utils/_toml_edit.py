# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Change single values in a TOML text and leave every other byte as it was.

The text is not parsed into a document and printed again: a scanner finds where each key, value and table header
stands, and an edit replaces or inserts just those characters. Comments, order, blank lines, quoting, indentation and
line endings survive because nobody touches them. (Document libraries were tried: tomlkit puts a table into the middle
of root-level dotted keys and so moves the keys behind it into that table, mixes line endings, and separates comments
from the table they belong to.)

The scanner relies on the text being valid, so ``load`` comes first, and every edit is proven afterwards: the result,
parsed by the standard library, must equal the parsed original with exactly the wanted change.
"""

from __future__ import annotations

import copy
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import (
    BARE_KEY,
    BOM,
    ESCAPES,
    Pair,
    Path,
    Section,
    TomlError,
    find_pair,
    load,
    lookup,
    same,
    scan,
)


def set_value(text: str, path: Path, value: t.Any) -> str:
    """The text with one value set. Equal already: the same text."""
    before = load(text)
    if same(lookup(before, path), value):
        return text
    expected = copy.deepcopy(before)
    _assign(expected, path, value)
    result = _set(text, path, value)
    _prove(result, expected, path)
    return result


def remove_items(text: str, path: Path, unwanted: t.Container[str]) -> str:
    """The text without those elements of the array of strings at this path."""
    before = load(text)
    old = lookup(before, path)
    if not isinstance(old, list) or not any(isinstance(item, str) and item in unwanted for item in old):
        return text
    pair = find_pair([pair for section in scan(text) for pair in section.pairs], path)
    if not pair or pair.items is None:
        raise TomlError(f"{dotted(path)} cannot be changed here")
    kept = [i for i, item in enumerate(old) if not (isinstance(item, str) and item in unwanted)]
    last = max(kept, default=-1)
    # From the end to the start, so that the places in front stay right; what follows the last kept one goes at once.
    result = text
    if last < len(old) - 1:
        start = pair.items[last][1] if kept else pair.items[0][0]
        comma = re.compile(r"\s*,[ \t]*").match(text, pair.items[-1][1])
        end = comma.end() if comma and not kept else pair.items[-1][1]
        result = result[:start] + result[end:]
    for index in reversed(range(last)):
        if index not in kept:
            result = result[: pair.items[index][0]] + result[pair.items[index + 1][0] :]
    expected = copy.deepcopy(before)
    _assign(expected, path, [old[i] for i in kept])
    _prove(result, expected, path)
    return result


def dotted(path: Path) -> str:
    """A path as people write it."""
    return ".".join(map(_key, path))


def render(value: t.Any, like: str = "") -> str:
    """A value in TOML, strings in the quotes of the value that it replaces."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        if like.startswith("'") and not re.search(r"['\x00-\x08\x0a-\x1f\x7f]", value):
            return f"'{value}'"
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        quote = "'" if like.startswith("'") or re.match(r"\[\s*'", like) else ""
        return "[" + ", ".join(render(item, quote) for item in value) + "]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {render(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise TomlError(f"a value of type {type(value).__name__} cannot be written in TOML")


def _quoted(value: str) -> str:
    names = {char: f"\\{name}" for name, char in ESCAPES.items()}
    return '"' + "".join(names.get(c) or (f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c) for c in value) + '"'


def _key(part: str) -> str:
    return part if BARE_KEY.fullmatch(part) else _quoted(part)


def _assign(data: dict[str, t.Any], path: Path, value: t.Any) -> None:
    for number, part in enumerate(path[:-1], 1):
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            raise TomlError(f"{dotted(path[:number])} is not a table")
    if isinstance(data.get(path[-1]), dict) and not isinstance(value, dict):
        raise TomlError(f"{dotted(path)} is a table, not a value")
    data[path[-1]] = value


def _prove(result: str, expected: dict[str, t.Any], path: Path) -> None:
    if not same(load(result), expected):
        raise TomlError(f"{dotted(path)} cannot be set without changing something else")


def _set(text: str, path: Path, value: t.Any) -> str:
    sections = scan(text)
    pair = find_pair([pair for section in sections for pair in section.pairs], path)
    if pair:
        old = text[pair.value_start : pair.value_end]
        return text[: pair.value_start] + render(value, old) + text[pair.value_end :]
    inline = _deepest_inline([pair for section in sections for pair in section.pairs], path)
    if inline:
        return _into_inline(text, inline, path, value)
    exact = [s for s in sections if s.path == path[:-1] and not s.array]
    if exact:
        return _into_section(text, sections, exact[0], (_key(path[-1]),), value)
    home = _dotted_home(sections, path)
    if home:
        section, keys, after = home
        return _into_section(text, sections, section, keys, value, after)
    return _new_section(text, sections, path, value)


def _deepest_inline(pairs: list[Pair], path: Path) -> Pair | None:
    for pair in pairs:
        if pair.table is not None and path[: len(pair.path)] == pair.path:
            return _deepest_inline(pair.table, path) or pair
    return None


def _into_inline(text: str, pair: Pair, path: Path, value: t.Any) -> str:
    new = f"{'.'.join(map(_key, path[len(pair.path) :]))} = {render(value)}"
    close = pair.value_end - 1
    if not pair.table:
        return f"{text[: pair.value_start]}{{ {new} }}{text[pair.value_end :]}"
    last = pair.table[-1].value_end
    return f"{text[:last]}, {new}{text[last:close]}{text[close:]}"


def _dotted_home(sections: list[Section], path: Path) -> tuple[Section, tuple[str, ...], Path] | None:
    """The table whose dotted keys define the longest part of the path, the key to write there, and that part.

    A table made by dotted keys cannot be opened again by a header, so what is added to it is a dotted key as well.
    """
    longest = max(len(_common(section.path, path[:-1])) for section in sections)
    home = None
    for section in sections:
        size = len(section.path)
        for pair in section.pairs if not section.array else ():
            known = len(_common(pair.path[:-1], path[:-1]))
            if pair.own > 1 and known > size and (known > longest or (known == longest and home is None)):
                longest = known
                home = (section, pair.raw[: known - size] + tuple(map(_key, path[known:])), path[:known])
    return home


def _common(left: Path, right: Path) -> Path:
    size = 0
    while size < min(len(left), len(right)) and left[size] == right[size]:
        size += 1
    return left[:size]


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _into_section(
    text: str,
    sections: list[Section],
    section: Section,
    keys: tuple[str, ...],
    value: t.Any,
    after: Path = (),
) -> str:
    """Write a pair into a table that has a header (or is the root): behind its last pair, else below the header."""
    pairs = [p for p in section.pairs if p.path[: len(after)] == after] or section.pairs
    end = _newline(text)
    if not section.path and not after:
        return _root_pair(text, sections, ".".join(keys), value)
    if pairs:
        last = pairs[-1]
        start = text.rfind("\n", 0, last.start) + 1
        indent = text[start : last.start].removeprefix(BOM)
        position = _line_after(text, last.value_end)
    else:
        comment = re.compile(r"([ \t]*)#").match(text, section.body)
        indent = comment[1] if comment else section.indent + _pair_indent(text, sections)
        position = section.body
    line = f"{indent}{'.'.join(keys)} = {render(value)}{end}"
    if position and text[position - 1] != "\n":
        return f"{text[:position]}{end}{line}{text[position:]}"
    return text[:position] + line + text[position:]


def _root_pair(text: str, sections: list[Section], key: str, value: t.Any) -> str:
    """Before the first key or header and the comment lines that belong to it, else at the end."""
    end = _newline(text)
    line = f"{key} = {render(value)}{end}"
    floor = sections[0].body
    if sections[0].pairs:
        start = max(text.rfind("\n", 0, sections[0].pairs[0].start) + 1, floor)
        position = _above_comments(text, start, floor)
        return text[:position] + line + text[position:]
    if len(sections) > 1:
        position = _above_comments(text, max(sections[1].start, floor), floor)
        return text[:position] + line + end + text[position:]
    gap = end if text.removeprefix(BOM) and not text.endswith("\n") else ""
    return text + gap + line


def _line_after(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _above_comments(text: str, position: int, floor: int) -> int:
    """The start of the comment lines directly above a header; a comment of one block is the header's."""
    while position > floor:
        start = max(text.rfind("\n", 0, position - 1) + 1, floor)
        if not text[start:position].lstrip(" \t").startswith("#"):
            break
        position = start
    return position


def _pair_indent(text: str, sections: list[Section]) -> str:
    """How far pairs stand to the right of their header in this file."""
    for section in sections[1:]:
        for pair in section.pairs:
            start = text.rfind("\n", 0, pair.start) + 1
            lead = text[start : pair.start]
            return lead[len(section.indent) :] if lead.startswith(section.indent) else ""
    return "  "


def _header_indent(sections: list[Section], near: Section | None, table: Path) -> str:
    """A new header stands one step to the right of the table that holds it, or as far as its neighbour."""
    if near is None or not any(section.indent for section in sections):
        return ""
    if near.path != table[: len(near.path)]:
        return near.indent
    return near.indent + ("\t" if near.indent.startswith("\t") else "  ")


def _new_section(text: str, sections: list[Section], path: Path, value: t.Any) -> str:
    """Open a new table: before its first child, else behind the last table of the same branch, else at the end."""
    table, end = path[:-1], _newline(text)
    near = max(sections[1:], key=lambda s: len(_common(s.path, table)), default=None)
    shared = len(_common(near.path, table)) if near else 0
    raw = (near.raw[:shared] if near else ()) + tuple(map(_key, table[shared:]))
    indent = _header_indent(sections, near if shared else None, table)
    pair = f"{indent}{_pair_indent(text, sections)}{_key(path[-1])} = {render(value)}"
    block = f"{indent}[{'.'.join(raw)}]{end}{pair}{end}"
    children = [s for s in sections if s.path[: len(table)] == table]
    if children:
        floor = sections[sections.index(children[0]) - 1].body
        position = _above_comments(text, children[0].start, floor)
        return text[:position] + block + end + text[position:]
    position = len(text)
    if shared:
        branch = [n for n, s in enumerate(sections) if len(_common(s.path, table)) == shared and n]
        if branch[-1] + 1 < len(sections):
            position = _above_comments(text, sections[branch[-1] + 1].start, sections[branch[-1]].body)
    head, tail = text[:position], text[position:]
    body = head.rstrip("\r\n\t ")
    gap = head[len(body) :]
    if not body.removeprefix(BOM):
        return head + block + tail
    if gap.count("\n") == 0:
        gap = end
    first = gap[: gap.index("\n") + 1]
    rest = gap[len(first) :]
    return body + first + end + block + (rest + tail if tail or rest else "")
