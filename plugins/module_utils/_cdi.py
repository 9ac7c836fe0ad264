# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the description of NVIDIA's devices (CDI) is of the driver that is loaded. Text in, verdict out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

_LIBRARY = re.compile(r"lib(?:cuda|nvidia-ml)\.so\.(\d+(?:\.\d+)+)")


def described(text: str) -> str:
    """The version of the driver whose libraries a specification names; empty if it names none."""
    found = _LIBRARY.search(text)
    return found.group(1) if found else ""


def why_stale(loaded: str, text: str) -> str:
    """Why the specification has to be made anew; empty if not. Without a loaded driver there is nothing to describe."""
    version = described(text)
    if not loaded or version == loaded:
        return ""
    if not text:
        return f"there is no specification, and driver {loaded} is loaded"
    return f"it is of driver {version or 'unknown'}, and {loaded} is loaded"
