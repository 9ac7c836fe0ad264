# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The control plane loses its power and gets it back."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def down(lab, playbooks):
    """What verify says while the control plane is off; it is on again afterwards."""
    lab("kill", "control1")
    yield playbooks.run("verify")
    lab("start", "control1")


def test_verify_fails_while_it_is_off(down, addresses) -> None:
    assert down.status != 0
    assert addresses["control1"] in down.output


def test_cluster_comes_back_by_itself(playbooks, lab) -> None:
    lab("start", "control1")
    again = playbooks.run("up")
    assert again.status == 0
    assert again.changed == {}
