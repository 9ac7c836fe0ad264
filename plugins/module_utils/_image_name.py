# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of images: what they are made of, and under which one an image goes into the registry on the LAN.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

_HUB = "docker.io"
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_PART}(?:/{_PART})*")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d+)?")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
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
        return f"{self.repository[8:] if self.repository.startswith('library/') else self.repository}:{self.tag}"


def parse(text: str) -> ImageName | None:
    """A name as users write it, with what Docker adds to short ones; None if it is none."""
    rest, at, digest = text.partition("@")
    first, slash, path = rest.partition("/")
    if slash and (re.search(r"[.:]", first) or first == "localhost"):
        host, rest = first, path
    else:
        host = _HUB
    repository, colon, tag = rest.partition(":")
    if host in (_HUB, "index.docker.io"):
        host, repository = _HUB, repository if "/" in repository else f"library/{repository}"
    tag = tag if colon or at else "latest"
    good = _HOST.fullmatch(host) and _REPOSITORY.fullmatch(repository)
    good = good and (_TAG.fullmatch(tag) if colon or not at else True) and (_DIGEST.fullmatch(digest) if at else True)
    return ImageName(host, repository, tag, digest) if good else None


def parse_target(text: str) -> tuple[str, str] | None:
    """Repository and tag of a name in a registry, without the registry; None if it is none."""
    repository, colon, tag = text.partition(":")
    tag = tag if colon else "latest"
    return (repository, tag) if _REPOSITORY.fullmatch(repository) and _TAG.fullmatch(tag) else None


def is_archive(source: str) -> bool:
    return source.endswith(_ARCHIVES)
