# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run on a finished cluster changes nothing, in check mode too."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def check(playbooks):
    return playbooks.run("up", "--check", "--diff")


def test_check_mode_reports_nothing(check) -> None:
    assert check.status == 0
    assert check.changes == set()
    assert check.changed == {}
