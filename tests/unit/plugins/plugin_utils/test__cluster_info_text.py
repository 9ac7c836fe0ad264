# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import read

# The value of A as written, and as bash reads it.
VALUES = {
    "b": "b",
    "": "",
    "  b  ": "b",
    "'b'": "b",
    '"b"': "b",
    '""': "",
    "' b '": " b ",
    "b # c": "b",
    '"b" # c': "b",
    "'b # c'": "b # c",
    "b#c": "b#c",
    "#b": "#b",
    " # b": "",
    "a'b'\"c\"d": "abcd",
    "a\\ b": "a b",
    "\\#": "#",
    '"a\\"b\\\\c\\$d\\`e\\f"': 'a"b\\c$d`e\\f',
    "'a\\b'": "a\\b",
    "'$(rm) `x` ${y} $z'": "$(rm) `x` ${y} $z",
    "a,\\\nb": "a,b",
    "a,\\\r\n  b": "a, b",
    '"a,\\\nb"': "a,b",
    '"a,\n b"': "a,\n b",
    "'a,\n b'": "a,\n b",
    "a, b": "a, b",
    "-i k -o Port=22": "-i k -o Port=22",
    "[::1]:x": "[::1]:x",
    "{a,b}*?": "{a,b}*?",
    "=b": "=b",
    "<ip>": "<ip>",
    "u@ü.example": "u@ü.example",
}


@pytest.mark.parametrize("written", VALUES)
def test_value(written: str) -> None:
    document = read(f"# c\n\nA={written}\nZ=end")
    assert document.problems == []
    assert [(found.key, found.value) for found in document.assignments] == [("A", VALUES[written]), ("Z", "end")]


@pytest.mark.parametrize(
    "line", ["A=b", " A=b", "\tA=b", "export A=b", "  export  A=b", "A= b", "A =b", "A = b", "\ufeffA=b", "A=b\r"]
)
def test_around_the_key(line: str) -> None:
    document = read(f"{line}\n")
    assert document.problems == []
    assert [(found.key, found.value, found.line) for found in document.assignments] == [("A", "b", 1)]


MISTAKES = {
    'A="b': (1, 'the quote " is not closed'),
    "A='b": (1, "the quote ' is not closed"),
    'Z=1\nA="b\nB=2': (2, 'the quote " is not closed'),
    'A="b\nB="c"': (1, 'the quote " is not closed'),
    'A="b\nexport B=c" # $d': (1, 'the quote " is not closed'),
    'A="b\\': (1, 'the quote " is not closed'),
    "A=$(id)": (1, "'$(id)' is a command"),
    'A="$(id)"': (1, "'$(id)' is a command"),
    "\n\nA=a`id`b": (3, "'`id`' is a command"),
    "A=${HOME}/x": (1, "'${HOME}' is a shell variable"),
    'A="x $HOME"': (1, "'$HOME' is a shell variable"),
    "A=$": (1, "'$' is a shell variable"),
    'A="a\n$b"': (2, "'$b' is a shell variable"),
    "A=b;": (1, "';' ends a value"),
    "A=b && c": (1, "'&' ends a value"),
    "A=b | c": (1, "'|' ends a value"),
    "A=(b c)": (1, "a shell array"),
    "A=b(c": (1, "'(' ends a value"),
    "A=<b": (1, "'<' ends a value"),
    "A=b\\": (1, "nothing behind the backslash"),
    "A=b MASTER_NODE=c": (1, "two settings on one line"),
    'A="b" c': (1, "something behind the value"),
    'A=b "c"': (1, "spaces outside of the quotes"),
    "A=-i /b\\ c": (1, "spaces outside of the quotes"),
    "A=b c'd'": (1, "spaces outside of the quotes"),
    "A+=b": (1, "+="),
    "A=\u201cb\u201d": (1, "the typographic quote \u201c"),
    "A=b\u00a0": (1, "the character U+00A0"),
    "A=b\x00c": (1, "the character U+0000"),
    "A": (1, "'A' is not a setting"),
    "export A": (1, "'export A' is not a setting"),
    "if true; then": (1, "is not a setting"),
    ". other": (1, "is not a setting"),
    "A: b": (1, "'A: b' is not a setting"),
    "x" * 99: (1, "is not a setting"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake(text: str) -> None:
    line, what = MISTAKES[text]
    document = read(text)
    assert document.problems[0].line == line
    assert what in document.problems[0].what
    assert document.problems[0].remedy
    assert len(document.problems[0].sentence()) < 250


def test_a_colon_for_an_equals_sign_is_recognised() -> None:
    assert "put = where the colon is" in read("MASTER_NODE: x").problems[0].remedy


def test_reading_goes_on_behind_a_mistake() -> None:
    document = read("A='x\nB=1\nC=$y\nD=2\n?\nE=3\n")
    assert [problem.line for problem in document.problems] == [1, 3, 5]
    assert [(found.key, found.value) for found in document.assignments if not found.broken] == [
        ("B", "1"),
        ("D", "2"),
        ("E", "3"),
    ]
    assert [found.key for found in document.assignments if found.broken] == ["A", "C"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(newline: str) -> None:
    document = read(newline.join(["# a", "", "A=1", 'B="x,', 'y"', "C=$z"]))
    assert [(found.key, found.line) for found in document.assignments] == [("A", 3), ("B", 4), ("C", 6)]
    assert [problem.line for problem in document.problems] == [6]


def test_places() -> None:
    text = '\ufeff# c\r\n export A = "x\\"y",\'z\' # c\r\n'
    (found,) = read(text).assignments
    assert text[found.key_start :].startswith("A = ")
    assert text[found.value_start : found.value_end] == '"x\\"y",\'z\''
    assert [text[found.offset(at)] for at in range(len(found.value))] == list(found.value)
    assert found.offset(len(found.value)) == found.value_end


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="AB=\"'\\ \t\n\r#$`,;<>()|&\ufeffx\u201c\x00", max_size=60))
def test_any_text_is_read_to_the_end_and_places_are_true(text: str) -> None:
    document = read(text)
    for found in document.assignments:
        if found.broken:
            continue
        assert 0 <= found.key_start < found.value_start <= found.value_end <= len(text)
        for at, char in enumerate(found.value):
            place = text[found.offset(at)]
            assert place == char or (char == " " and place in "\t\\")
    assert all(1 <= (problem.line or 0) <= len(document.line_starts) for problem in document.problems)


def test_long_values_take_no_time_to_refuse() -> None:
    assert read(f'A="{"a" * 50000}').problems
    assert read(f"A={'a ' * 20000}'").problems


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not here")
@settings(deadline=None, max_examples=8)
@given(st.lists(st.text(alphabet="xyz,#@:\"'\\ \t\n", max_size=14), min_size=20, max_size=40))
@example([": : #'\"", ": :\\", ": \\\n:"])
def test_values_are_those_of_bash(tmp_path_factory: pytest.TempPathFactory, values: list[str]) -> None:
    """What is accepted has the value that bash gives it; the letters are no commands, and there is no path to any."""
    folder = tmp_path_factory.mktemp("bash")
    expected = []
    for number, value in enumerate(values):
        text = f"A={value}\n"
        document = read(text)
        if document.problems or [found.key for found in document.assignments] != ["A"]:
            continue
        (found,) = document.assignments
        # Here a file may hold more than bash takes: words without quotes, and spaces behind the equals sign.
        words = text[2:].replace("\\\n", "")
        # Quotes in a comment behind it do not count, nor does a line that goes on.
        quoted = set(text[: found.value_end].replace("\\\n", "")) & set("'\"\\")
        if words[:1].isspace() or (" " in found.value and not quoted):
            continue
        path = folder / str(number)
        path.write_text(text, newline="")
        expected.append((str(path), found.value))
    script = 'for file; do (unset A; . "$file"; printf "%s\\0" "$A"); done'
    command = [str(shutil.which("bash")), "--norc", "-c", script, "bash", *(path for path, _value in expected)]
    run = subprocess.run(command, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    found_by_bash = run.stdout.split("\0")[:-1]
    assert dict(zip((path for path, _value in expected), found_by_bash)) == dict(expected)
