# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Problem,
    listed,
    seconds,
    shorten,
    skipped,
    span,
    verdict,
)


def test_verdict():
    assert verdict("x", [], "fine").as_dict() == {
        "name": "x",
        "status": "ok",
        "detail": "fine",
        "remedy": "",
        "problems": [],
    }
    found = verdict("x", [Problem("a", "Do."), Problem("b", "Do."), Problem("c", "Else.", True)], "fine")
    assert (found.status, found.detail, found.remedy) == ("failed", "a; b; c", "Do; Else")
    assert verdict("x", [Problem("c", "Else.", True)], "fine").status == "warning"
    assert skipped("x", "because").status == "skipped"


@pytest.mark.parametrize(
    ("amount", "text"), [(5.9, "5 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (172800, "2 d")]
)
def test_span(amount, text):
    assert span(amount) == text


def test_seconds():
    assert seconds("1970-01-01T00:01:00Z") == 60
    assert seconds("1970-01-01T00:01:00.123456Z") == 60
    assert seconds(None) == 0


def test_texts():
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(i) for i in range(9)], 2) == "0, 1 and 7 more"
    assert shorten("a\n  b") == "a b"
    assert shorten("x" * 400) == "x" * 297 + "..."
