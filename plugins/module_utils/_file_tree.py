# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""One number for the content of a folder, the same on the controller and on a machine."""

from __future__ import annotations

import hashlib
import os
import typing as t

# Lists of public CAs: tools of a site add their own CA to such a file wherever they find one.
NOT_COUNTED = ("cacert.pem",)


def file_hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def tree_hash(files: t.Mapping[str, str]) -> str:
    """Over names and contents; `files` maps a relative name to a path."""
    digest = hashlib.sha256()
    for name in sorted(files):
        if os.path.basename(name) in NOT_COUNTED:
            continue
        digest.update(f"{name}\0{file_hash(files[name])}\n".encode())
    return digest.hexdigest()


def folder_files(folder: str) -> dict[str, str]:
    """The files of a folder; what Python caches in it does not count."""
    result = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(root, name)
            result[os.path.relpath(path, folder)] = path
    return result
