# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._systemd import comes_up


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ("active\n", True),
        ("activating", True),
        ("reloading", True),
        ("inactive", False),
        ("failed", False),
        ("", False),
    ],
)
def test_who_needs_nobodys_help(state: str, wanted: bool) -> None:
    assert comes_up(state) is wanted
