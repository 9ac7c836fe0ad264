# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""The lists of images that users give, as the modules take them, and all mistakes in them."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _image_name

_EXAMPLE = "{source: train.tar, name: 'team/train:3'}"


class Wishes(t.NamedTuple):
    push: list[dict[str, str]]
    pull: list[str]
    mistakes: list[str]


def wishes(images: t.Any, prepull: t.Any, registry: t.Any) -> Wishes:
    """What to push and what to pull; a list, or names with commas between them."""
    push = [_Entry("images", value) for value in _listed(images)]
    pull = [_Entry("prepull", value) for value in _listed(prepull)]
    mistakes = [mistake for entry in push for mistake in entry.to_push()]
    mistakes += [mistake for entry in pull for mistake in entry.to_pull()]
    if not push and not pull:
        mistakes.append(
            "Nothing is asked for: add -e images=NAME,NAME to push images to the registry on the LAN, "
            "-e prepull=NAME,NAME to pull images on nodes, or both."
        )
    if push and not registry:
        mistakes.append("There is no registry to push to: set LOCAL_REGISTRY (gshare_local_registry) to its HOST:PORT.")
    return Wishes([entry.wish for entry in push], [entry.source for entry in pull], mistakes)


def _listed(value: t.Any) -> list[t.Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not value:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Entry:
    def __init__(self, setting: str, value: t.Any) -> None:
        self.setting, self.value = setting, value
        given = value if isinstance(value, dict) else {"source": value}
        self.odd = sorted(str(key) for key in set(given) - {"source", "name"})
        self.source, self.name = (str(given.get(key) or "") for key in ("source", "name"))
        self.archive = _image_name.is_archive(self.source)
        if self.archive:
            # The module may have another folder than the user.
            self.source = os.path.abspath(os.path.expanduser(self.source))

    @property
    def wish(self) -> dict[str, str]:
        return {"source": self.source, "name": self.name}

    def to_push(self) -> t.Iterator[str]:
        if self.odd or not self.source:
            yield f"{self.setting}: {self.value!r} is no image; write a name, or {_EXAMPLE}."
            return
        parsed = None if self.archive else _image_name.parse(self.source)
        if not self.archive and parsed is None:
            yield self._no_name()
        if self.archive and not os.path.isfile(self.source):
            yield f"{self.setting}: there is no file {self.source}."
        if self.name and _image_name.parse_target(self.name) is None:
            yield f"{self.setting}: {self.name!r} is no name in a registry; write it without the host, as team/train:3."
        if parsed and not parsed.tag and not self.name:
            yield f"{self.setting}: {self.source} has no tag; choose a name, as in {_EXAMPLE}."

    def to_pull(self) -> t.Iterator[str]:
        if isinstance(self.value, dict) or self.archive:
            yield f"{self.setting}: {self.value!r} cannot be pulled; push it, and write the name that pods use."
        elif _image_name.parse(self.source) is None:
            yield self._no_name()

    def _no_name(self) -> str:
        return f"{self.setting}: {self.value!r} is no name of an image; write it as docker.io/library/busybox:1.37."
