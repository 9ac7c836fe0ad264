# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from collections import Counter

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted, remove_items, render, set_value
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import TomlError, load, lookup, same

CASES = {
    "value in place": (
        "[a]\n  b = 1   # why\n  c = 2\n",
        ("a", "b"),
        7,
        "[a]\n  b = 7   # why\n  c = 2\n",
    ),
    "single quotes stay": ("a = 'x'\n", ("a",), "y", "a = 'y'\n"),
    "single quotes cannot hold one": ("a = 'x'\n", ("a",), "y'", 'a = "y\'"\n'),
    "list in its own quotes": ("a = [ 'x' ]\n", ("a",), ["y", "z"], "a = ['y', 'z']\n"),
    "behind the last key of its table": (
        "[a]\n\tb = 1\n\n# about c\n[c]\n",
        ("a", "x"),
        True,
        "[a]\n\tb = 1\n\tx = true\n\n# about c\n[c]\n",
    ),
    "into an empty table": ("[a]\n[c]\nd = 1\n", ("a", "x"), 1, "[a]\nx = 1\n[c]\nd = 1\n"),
    "root key before the first": ("# top\n\n# about b\nb = 1\n", ("a",), 2, "# top\n\na = 2\n# about b\nb = 1\n"),
    "root key before the first table": ("# top\n\n# t\n[t]\nx = 1\n", ("a",), 2, "# top\n\na = 2\n\n# t\n[t]\nx = 1\n"),
    "table before its children": (
        "x = 1\n\n# b\n[a.b]\ny = 1\n",
        ("a", "k"),
        2,
        "x = 1\n\n[a]\nk = 2\n\n# b\n[a.b]\ny = 1\n",
    ),
    "table beside its relatives": (
        "[a.b]\ny = 1\n\n# z\n[z]\nq = 1\n",
        ("a", "c", "k"),
        2,
        "[a.b]\ny = 1\n\n[a.c]\nk = 2\n\n# z\n[z]\nq = 1\n",
    ),
    "quoting of its relatives": (
        "[p.'i.o'.b]\ny = 1\n",
        ("p", "i.o", "c", "k"),
        2,
        "[p.'i.o'.b]\ny = 1\n\n[p.'i.o'.c]\nk = 2\n",
    ),
    "dotted keys": ("a.b.c = 1\nz = 2\n[t]\n", ("a", "b", "d"), 2, "a.b.c = 1\na.b.d = 2\nz = 2\n[t]\n"),
    "dotted keys of a table": ("[t]\na.b = 1\n", ("t", "a", "d", "e"), 2, "[t]\na.b = 1\na.d.e = 2\n"),
    "inline table": ("a = { b = { c = 1 } } # x\n", ("a", "b", "d"), 2, "a = { b = { c = 1, d = 2 } } # x\n"),
    "empty inline table": ("a = {}\n", ("a", "b", "c"), 2, "a = { b.c = 2 }\n"),
    "carriage returns": ("[a]\r\nb = 1\r\n", ("a", "c"), 2, "[a]\r\nb = 1\r\nc = 2\r\n"),
    "carriage returns in a new table": ("[a]\r\nb = 1\r\n", ("c", "d"), 2, "[a]\r\nb = 1\r\n\r\n[c]\r\nd = 2\r\n"),
    "byte order mark": ("\ufeff[a]\nb = 1\n", ("v",), 2, "\ufeffv = 2\n\n[a]\nb = 1\n"),
    "byte order mark before a key": ("\ufeffb = 1\n", ("a",), 2, "\ufeffa = 2\nb = 1\n"),
    "no last line end": ("[a]\nb = 1", ("a", "c"), 2, "[a]\nb = 1\nc = 2\n"),
    "blank lines at the end": ("[a]\nb = 1\n\n\n", ("c", "d"), 2, "[a]\nb = 1\n\n[c]\nd = 2\n\n\n"),
    "nothing": ("", ("a", "b"), 'x\ty\x01"\\', '[a]\n  b = "x\\ty\\u0001\\"\\\\"\n'),
    "look-alike in a string": ('a = """\nb = 1\n"""\n[t]\nb = 1\n', ("t", "b"), 2, 'a = """\nb = 1\n"""\n[t]\nb = 2\n'),
    "number becomes a list": ("a = 1 # n\n", ("a",), [1.5, {"x": "y"}], 'a = [1.5, { x = "y" }] # n\n'),
}


@pytest.mark.parametrize(("text", "path", "value", "golden"), CASES.values(), ids=CASES)
def test_one_edit(text: str, path: tuple[str, ...], value: t.Any, golden: str) -> None:
    assert set_value(text, path, value) == golden
    assert set_value(golden, path, value) == golden


@pytest.mark.parametrize(
    ("text", "path"),
    [("a = 1\n", ("a", "b")), ("[a.b]\n", ("a",)), ("[[a]]\nb = 1\n", ("a", "b")), ("a = [1]\n", ("a", "x"))],
)
def test_what_cannot_be_is_refused(text: str, path: tuple[str, ...]) -> None:
    with pytest.raises(TomlError):
        set_value(text, path, 2)


def test_a_value_that_toml_has_not_is_refused() -> None:
    with pytest.raises(TomlError, match="NoneType"):
        render(None)


@pytest.mark.parametrize(
    ("text", "golden"),
    [
        ('l = ["cri"] # x\n', "l = [] # x\n"),
        ('l = [ "cri", ]\n', "l = [ ]\n"),
        ('l = ["a", "cri"]\n', 'l = ["a"]\n'),
        ('l = ["cri", "a", "cri", "b", "cri", "cri",]\n', 'l = ["a", "b",]\n'),
        ('l = [\n  "a", # a\n  "cri", # b\n  "c",\n]\n', 'l = [\n  "a", # a\n  "c",\n]\n'),
        ('l = ["a"]\n', 'l = ["a"]\n'),
        ("l = 1\n", "l = 1\n"),
    ],
)
def test_elements_go(text: str, golden: str) -> None:
    assert remove_items(text, ("l",), {"cri"}) == golden


def test_paths_as_people_write_them() -> None:
    assert dotted(("plugins", "io.x", "a-b")) == 'plugins."io.x".a-b'


# Generated documents: nested tables written in every spelling.

KEYS = st.sampled_from(["a", "b", "io.x", "q'u", "ü", "1", "", 'd"q'])
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
TREES = st.recursive(
    st.dictionaries(KEYS, VALUES, max_size=3),
    lambda inner: st.dictionaries(KEYS, st.one_of(VALUES, inner), max_size=3),
    max_leaves=8,
)
PATHS = st.lists(KEYS, min_size=1, max_size=4).map(tuple)


def _key(part: str) -> str:
    return dotted((part,))


def _write(tree: dict[str, t.Any], path: tuple[str, ...], draw: t.Callable[[int], int], lines: list[str]) -> None:
    """A document with comments and blank lines; each table gets one of the spellings that TOML has."""
    tables = []
    for key, value in tree.items():
        if not isinstance(value, dict):
            lines.append(f"{'  ' * draw(3)}{_key(key)} = {render(value)}{'   # note' * draw(2)}")
        elif draw(3) == 0:
            lines.append(f"{_key(key)} = {render(value)}")
        elif draw(3) == 0 and value and not any(isinstance(v, dict) for v in value.values()):
            lines += [f"{_key(key)} . {_key(k)} = {render(v)}" for k, v in value.items()]
        else:
            tables.append((key, value))
    for key, value in tables:
        here = (*path, key)
        lines += [""] * draw(3) + ["# about it"] * draw(2)
        if draw(2) or not value or not all(isinstance(v, dict) for v in value.values()):
            lines.append(f"{'  ' * draw(3)}[{dotted(here)}]")
            _write(value, here, draw, lines)
        else:
            for inner, deeper in value.items():
                lines.append(f"[{dotted((*here, inner))}]")
                _write(deeper, (*here, inner), draw, lines)


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines: list[str] = []
    _write(draw(TREES), (), lambda bound: draw(st.integers(0, bound - 1)), lines)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + end * draw(st.integers(0, 2))


@settings(max_examples=100, deadline=None)
@given(documents(), PATHS, VALUES)
def test_an_edit_changes_what_was_asked_for_and_nothing_else(text: str, path: tuple[str, ...], value: t.Any) -> None:
    before = load(text)
    try:
        after = set_value(text, path, value)
    except TomlError:
        # Only where a value stands in the way, or a table would have to become a value.
        parents = [lookup(before, path[:n]) for n in range(1, len(path))]
        assert isinstance(lookup(before, path), dict) or any(p is not None and not isinstance(p, dict) for p in parents)
        return
    expected = load(text)
    target = expected
    for part in path[:-1]:
        target = target.setdefault(part, {})
    target[path[-1]] = value
    assert same(load(after), expected)
    assert set_value(after, path, value) == after
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    # Line endings stay uniform, and every line but the edited one is still there in its order.
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")
    gone = Counter(text.removeprefix("\ufeff").split("\n")) - Counter(after.removeprefix("\ufeff").split("\n"))
    assert sum(gone.values()) <= 1


@settings(max_examples=40, deadline=None)
@given(documents())
def test_setting_what_is_set_gives_the_same_bytes(text: str) -> None:
    def walk(tree: dict[str, t.Any], path: tuple[str, ...]) -> None:
        for key, value in tree.items():
            if isinstance(value, dict):
                walk(value, (*path, key))
            else:
                assert set_value(text, (*path, key), value) == text

    walk(load(text), ())


@settings(max_examples=30, deadline=None)
@given(documents(), PATHS, SCALARS)
def test_another_parser_reads_the_result_in_the_same_way(text: str, path: tuple[str, ...], value: t.Any) -> None:
    text = text.removeprefix("\ufeff")
    try:
        after = set_value(text, path, value)
        tomlkit.parse(text).unwrap()
    except (TomlError, tomlkit.exceptions.ParseError):
        return  # not every valid document is one that the other parser takes
    assert same(tomlkit.parse(after).unwrap(), load(after))
