# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._go_log import cause, reason

PULL = r"pulling image: rpc error: code = NotFound desc = failed to pull \"a:1\": a:1: not found"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "it said nothing"),
        ("Using default tag\n\nmanifest unknown.\n", "manifest unknown"),
        (
            r'time="x" level=warning msg="no"' + "\n" + r'time="x" level=fatal msg="cannot read \"a\": no"',
            'cannot read "a": no',
        ),
        ("FATA[0012] no such image", "no such image"),
    ],
)
def test_the_reason(text: str, wanted: str) -> None:
    assert reason(text) == wanted


def test_the_cause_behind_grpc() -> None:
    assert cause(f'time="x" level=fatal msg="{PULL}"') == 'failed to pull "a:1": a:1: not found'
