# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._table import _clean, render


def test_plain_columns():
    assert render(
        ["Host", "Result", "Detail"], [["10.0.0.10", "ok", "all well"], ["gpu-1", "failed", "swap is on"]]
    ) == (
        "Host       Result  Detail\n"
        "---------  ------  ----------\n"
        "10.0.0.10  ok      all well\n"
        "gpu-1      failed  swap is on"
    )


def test_last_column_wraps_under_itself():
    text = render(["Name", "Detail"], [["swap", "swap is on: /swapfile in /etc/fstab, turn it off"]], width=34)
    assert text == (
        "Name  Detail\n----  ------------------------\nswap  swap is on: /swapfile in\n      /etc/fstab, turn it off"
    )


def test_words_stay_whole():
    command = "https://" + "x" * 60
    assert command in render(["A", "B"], [["a", "see " + command]], width=40)


def test_new_lines_are_kept_in_the_last_column_only():
    text = render(["A", "B"], [["one\ntwo", "first\nsecond"]], width=60)
    assert text.split("\n")[2:] == ["one two  first", "         second"]


def test_control_characters_do_not_reach_the_screen():
    assert "\x1b" not in render(["A"], [["\x1b[31mred\x1b[0m\ttab\r"]])
    assert "red tab" in render(["A"], [["\x1b[31mred\x1b[0m\ttab"]])


def test_short_rows_are_filled_and_long_rows_refused():
    assert render(["A", "B"], [["x"]]).endswith("\nx")
    with pytest.raises(ValueError, match="3 cells"):
        render(["A", "B"], [["x", "y", "z"]])


def test_no_rows():
    assert render(["A", "B"], []) == "A  B\n-  -"
    assert render([], []) == ""


_CELL = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Zl", "Zp")), max_size=40)


@settings(deadline=None)
@given(st.lists(st.lists(_CELL, min_size=3, max_size=3), max_size=6), st.integers(min_value=10, max_value=120))
def test_every_word_survives_and_columns_line_up(rows, width):
    text = render(["First", "Second", "Third"], rows, width=width)
    lines = text.split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert not any(ord(char) < 32 for line in lines for char in line)
    words = [word for row in rows for cell in row for word in _clean(cell).split()]
    assert "\n".join(lines[2:]).split() == words
    third = lines[0].index("Third")
    assert all(line[:third].endswith("  ") for line in lines[2:] if len(line) > third)
