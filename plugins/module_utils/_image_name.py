# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of images: what they are made of, and under which one an image goes into the registry on the LAN.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

HUB = "docker.io"
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REPOSITORY = rf"({_PART}(?:/{_PART})*)"
_TAG = r"(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
_TARGET = re.compile(_REPOSITORY + _TAG)
_PATH = re.compile(_REPOSITORY + _TAG + r"(?:@(sha256:[0-9a-f]{64}))?")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d+)?")
_ARCHIVES = (".tar", ".tar.gz", ".tgz")


class ImageName(t.NamedTuple):
    """The parts of a full name; C(tag) is empty where only a digest is given."""

    host: str
    repository: str
    tag: str
    digest: str

    @property
    def exact(self) -> str:
        """The name as skopeo takes it, which does not want both a tag and a digest."""
        return f"{self.host}/{self.repository}" + (f"@{self.digest}" if self.digest else f":{self.tag}")

    @property
    def target(self) -> str:
        """The name in the registry on the LAN; empty if there is no tag that it could have there."""
        repository = self.repository[8:] if self.repository.startswith("library/") else self.repository
        return f"{repository}:{self.tag}" if self.tag else ""


def parse(text: str) -> ImageName | None:
    """A name as users write it, with what Docker adds to short ones; None if it is none."""
    first, slash, rest = text.partition("/")
    has_host = slash and (first == "localhost" or set(first) & set(".:"))
    host, path = (first, rest) if has_host else (HUB, text)
    found = _PATH.fullmatch(path)
    if not found or not _HOST.fullmatch(host):
        return None
    repository, tag, digest = found.groups(default="")
    if host == HUB and "/" not in repository:
        repository = f"library/{repository}"
    return ImageName(host, repository, tag or ("" if digest else "latest"), digest)


def parse_target(text: str) -> tuple[str, str] | None:
    """Repository and tag of a name in a registry, without the registry; None if it is none."""
    found = _TARGET.fullmatch(text)
    return (found[1], found[2] or "latest") if found else None


def is_archive(source: str) -> bool:
    return source.endswith(_ARCHIVES)
