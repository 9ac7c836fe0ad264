# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""What systemd says of a unit."""

from __future__ import annotations


def comes_up(state: str) -> bool:
    """Whether a service runs, or systemd starts it without anybody's help: after a boot it may wait for another."""
    return state.strip() in ("active", "reloading", "activating")
