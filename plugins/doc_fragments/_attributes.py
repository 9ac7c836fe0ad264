# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this doc fragment is **PRIVATE** to the collection.

from __future__ import annotations


class ModuleDocFragment:
    # What modules support, so that one says only where it differs.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return the changed status prediction without modifying the target.
    support: full
  diff_mode:
    description: Returns details on what has changed, or would be changed in C(check_mode), when in diff mode.
    support: full
  idempotent:
    description:
      - When run twice in a row outside check mode with the same arguments, the second invocation indicates no change.
      - This assumes that the system controlled or queried by the module has not changed in a relevant way.
    support: full
"""

    # For modules that only look: in place of the one above, not beside it.
    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return the changed status prediction without modifying the target.
    support: full
    details:
      - This action does not modify state.
  diff_mode:
    description: Returns details on what has changed, or would be changed in C(check_mode), when in diff mode.
    support: N/A
    details:
      - This action does not modify state.
  idempotent:
    description:
      - When run twice in a row outside check mode with the same arguments, the second invocation indicates no change.
      - This assumes that the system controlled or queried by the module has not changed in a relevant way.
    support: full
    details:
      - This action does not modify state.
"""
