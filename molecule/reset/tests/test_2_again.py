# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""After a reset: another one finds nothing to do, and the cluster can be built again."""

from __future__ import annotations


def test_reset_again_changes_nothing(playbooks, addresses) -> None:
    again = playbooks.run("reset", "-e", f"confirm={addresses['control1']}")
    assert again.status == 0
    assert again.changed == {}


def test_cluster_is_built_again(playbooks) -> None:
    assert playbooks.run("up").status == 0
