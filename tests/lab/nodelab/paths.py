# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the lab keeps what it builds."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "GSHARE_LAB_CACHE"
DROP_GO_VARIABLE = "GSHARE_LAB_DROP_GO_CACHE"
"""When set, the modules and compiled packages of Go (some 5 GB) go when the programs are built."""

LAB_DIR = Path(__file__).resolve().parent.parent


def cache_root() -> Path:
    """Return the folder of everything built: $GSHARE_LAB_CACHE, or gshare-lab below the user's cache folder."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "gshare-lab"
