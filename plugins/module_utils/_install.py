# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an installation lacks: packages, holds, files, services. Facts in, sentences out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import fnmatch
import hashlib
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._dpkg import Package


def met(wish: str, installed: t.Mapping[str, Package]) -> bool:
    """Whether a package is as wished: C(name), or C(name=version) as apt takes it, with C(*) for what may differ."""
    name, _sep, version = wish.partition("=")
    return name in installed and (not version or fnmatch.fnmatchcase(installed[name].version, version))


def lacking_packages(wanted: list[str], installed: t.Mapping[str, Package], *, held: bool) -> list[str]:
    found = []
    for wish in wanted:
        name = wish.partition("=")[0]
        package = installed.get(name)
        if not met(wish, installed):
            found.append(f"package {wish}" + (f" ({package.version} is installed)" if package else ""))
        elif held and package and not package.held:
            found.append(f"hold of {name}")
    return found


def lacking_file(path: str, content: bytes | None, wanted: str | None, checksum: str) -> str:
    """What is wrong with a file, nothing if it is as wanted. A checksum is C(algorithm:hex), as get_url takes it.

    An empty file is what a download leaves that was cut off: it counts as absent.
    """
    if not content:
        return f"file {path}"
    if wanted is not None and content != wanted.encode("utf-8", "surrogateescape"):
        return f"content of {path}"
    algorithm, _sep, digest = checksum.partition(":")
    if digest and hashlib.new(algorithm, content).hexdigest() != digest.strip().lower():
        return f"checksum of {path}"
    return ""
