# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the lab keeps what it builds."""

from __future__ import annotations

import os
from pathlib import Path

LAB_DIR = Path(__file__).resolve().parent.parent


def cache_root() -> Path:
    """Return the folder of everything built: $GSHARE_LAB_CACHE, or gshare-lab below the user's cache folder."""
    own = os.environ.get("GSHARE_LAB_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "gshare-lab"
