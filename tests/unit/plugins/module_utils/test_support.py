# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils import _support
from ansible_collections.gshare.cluster.plugins.module_utils._support import tail


def test_nothing_is_asked_that_changes_or_tells_secrets() -> None:
    for command in _support.API.values():
        assert command[:2] == ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf")
        assert command[2] in ("get", "describe")
        assert "secret" not in " ".join(command).lower()
        assert "all" not in command
    assert not set(_support.COMMANDS) & set(_support.API)
    assert not [
        name for name in _support.FILES if "pki" in name or name.endswith(("kubelet.conf", "admin.conf", "key"))
    ]


@pytest.mark.parametrize(
    ("limit", "shown"),
    [(12, "one\ntwo\nend\n"), (11, "two\nend\n"), (8, "end\n"), (5, "end\n"), (2, "d\n")],
)
def test_of_a_long_text_the_last_whole_lines_are_taken(limit: int, shown: str) -> None:
    note = "" if limit == 12 else "[the beginning was left out]\n"
    assert tail("one\ntwo\nend\n", limit) == note + shown


def test_of_one_long_line_the_end_is_taken() -> None:
    assert tail("é" * 100, 11) == "[the beginning was left out]\n" + "é" * 5


@given(st.text(), st.integers(1, 50))
def test_a_text_ends_as_it_did(text: str, limit: int) -> None:
    shown = tail(text, limit).removeprefix("[the beginning was left out]\n")
    assert text.endswith(shown)
    assert len(shown.encode()) <= limit
