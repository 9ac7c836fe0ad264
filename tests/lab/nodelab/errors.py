# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one exception that the lab shows to its user."""

from __future__ import annotations


class LabError(Exception):
    """Something the user can understand and put right, in one sentence."""


class Interrupted(LabError):
    """The lab was told to stop while it worked; its child processes have been ended."""
