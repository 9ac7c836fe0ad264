# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replaces files of a machine: the old content or the new one is there, whatever happens.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import os
import tempfile
import typing as t

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


def replace(module: AnsibleModule, path: str, data: bytes, mode: int | None = None) -> None:
    """Write beside the file, then rename. Without C(mode), owner and mode of the old file stay."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder)
        os.chmod(folder, 0o755)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".gshare-")
    module.add_cleanup_file(temporary)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    if mode is None:
        module.atomic_move(temporary, path)
    else:
        # atomic_move gives a new file what the umask leaves, with which a secret could be read for a moment.
        os.chmod(temporary, mode)
        os.replace(temporary, path)
