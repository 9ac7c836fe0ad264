# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import TomlError, find, load, same, scan

TEXT = """\
version = 2 # one
list = [ "a", 'b', # comment ]
  [1, 2], { x = 1 } ]
date = 1979-05-27 07:32:00Z
text = \"\"\"
[not.a.table]
key = "\\\"" \"\"\"

  [plugins."io.x"."a\\u0062"]
  'q u' . b = { c = { d = 1 }, e = [] }
[[arr]]
n = 1
"""


def test_scanner_finds_every_table_and_pair() -> None:
    root, table, array = scan(TEXT)
    assert [pair.path for pair in root.pairs] == [("version",), ("list",), ("date",), ("text",)]
    values = [TEXT[pair.value_start : pair.value_end] for pair in root.pairs]
    assert values[0] == "2"
    assert values[1].endswith("{ x = 1 } ]")
    assert values[2] == "1979-05-27 07:32:00Z"
    assert values[3].endswith('"""')
    assert [TEXT[start:end] for start, end in root.pairs[1].items or []] == ['"a"', "'b'", "[1, 2]", "{ x = 1 }"]
    assert table.path == ("plugins", "io.x", "ab")
    assert table.raw == ("plugins", '"io.x"', '"a\\u0062"')
    assert table.indent == "  "
    assert table.pairs[0].path == ("plugins", "io.x", "ab", "q u", "b")
    assert [pair.path[-1] for pair in table.pairs[0].table or []] == ["c", "e"]
    assert array.array
    assert array.path == ("arr",)


def test_multi_line_strings_may_end_with_more_quotes() -> None:
    text = "a = '''x''''\nb = 1\n"
    assert [pair.path for pair in scan(text)[0].pairs] == [("a",), ("b",)]


def test_load_reads_a_byte_order_mark() -> None:
    assert load("\ufeffversion = 2\n") == {"version": 2}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\n[t]\nx = 1\n[t]\ny = 1\n", 4),
        ("a = 1\nb =\n", 2),
        ('a = 1\n\nb = "x', 3),
        ("[plugins.x]\n[[plugins]]\n", 2),
    ],
)
def test_an_error_has_its_line(text: str, line: int) -> None:
    with pytest.raises(TomlError) as caught:
        load(text)
    assert caught.value.line == line
    assert "at line" not in str(caught.value)


def test_find_gives_the_line() -> None:
    assert find(TEXT, ("version",)) == 1
    assert find(TEXT, ("plugins",)) == 9
    assert find(TEXT, ("plugins", "io.x", "ab", "q u", "b", "c", "d")) == 10
    assert find(TEXT, ("nothing",)) is None


def test_true_is_not_one() -> None:
    assert same({"a": [1, True]}, {"a": [1, True]})
    assert not same(1, True)
    assert not same(1, 1.0)
    assert not same([1], [1, 2])
    assert not same({"a": 1}, {"b": 1})
