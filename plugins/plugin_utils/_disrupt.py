# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose work may be disturbed.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t


def names(wanted: t.Any) -> list[str]:
    """What gshare_disrupt names: a list, or names separated by commas or blanks."""
    found = re.split(r"[\s,]+", wanted) if isinstance(wanted, str) else [str(one) for one in wanted or []]
    return [name for name in found if name]


def disrupted(host: str, wanted: t.Any) -> bool:
    """Whether gshare_disrupt names a machine; all is every one."""
    return not {host, "all"}.isdisjoint(names(wanted))
