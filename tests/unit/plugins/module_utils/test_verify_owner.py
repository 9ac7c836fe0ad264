# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os

from ansible_collections.gshare.cluster.plugins.module_utils._verify_owner import alive, identity


def test_this_process_is_alive_and_known_by_its_start():
    mine = identity(os.getpid())
    assert len(mine.split()) == 3
    assert alive(mine)
    boot, pid, start = mine.split()
    assert not alive(f"{boot} {pid} {int(start) + 1}"), "another process has this number now"


def test_what_is_not_of_this_boot_is_left_to_its_age():
    assert alive("another-boot 5 1")
    assert alive("")
    assert identity(999999999) == ""
