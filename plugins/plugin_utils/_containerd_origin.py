# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.
"""Which file and line an effective CRI setting of containerd comes from."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    CNI_DIRS,
    CRI,
    Config,
    Setting,
    cri_view,
    equal,
    leaves,
    locate,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import Path, TomlError, find, load, lookup

_SECRET = frozenset({"auth", "auths", "password", "identitytoken"})


@dataclass(frozen=True)
class File:
    """One file of the configuration, parsed."""

    path: str
    text: str
    data: dict[str, t.Any]

    @property
    def version(self) -> int:
        version = self.data.get("version", 1)
        return version if isinstance(version, int) else 1

    def line(self, path: Path) -> int | None:
        return find(self.text, path)


class Origins:
    """The files of a configuration in the order in which containerd reads them, and what is in force."""

    def __init__(self, config: Config) -> None:
        dump = load(config.dump) if config.dump else {}
        self.dump = dump
        self.daemon: int = dump.get("version", 2)
        self.view = cri_view(dump, self.daemon)
        parsed = {path: _parsed(text) for path, text in config.texts.items()}
        self.files = [File(path, config.texts[path], data) for path, data in parsed.items() if data is not None]

    @property
    def has_cri(self) -> bool:
        """Whether it is known what the CRI plugins have; 1.x does not print a plugin that is disabled."""
        return any(self.view.values())

    def of(self, path: Path) -> tuple[str, int | None] | None:
        """The file and line of a setting; None for containerd's own default."""
        result = None
        for file in self.files:
            if file.version < 2 and self.daemon == 2:
                continue
            if self.daemon == 2 and lookup(file.data, ("plugins", CRI)) is not None:
                result = None  # containerd 1.x takes the whole plugin section from the last file that has one
            place = self._place(file, path)
            if place:
                result = (file.path, file.line(place))
        return result

    def _place(self, file: File, path: Path) -> Path | None:
        """Where this file has the setting. Newer ones than 1.x translate most of what has a name of another schema."""
        own = _under(file.data, path, file.version)
        if own or self.daemon == 2:
            return own
        other = _under(file.data, path, 2 if file.version > 2 else 3)
        return other if other and equal(lookup(file.data, other), lookup(self.view, path)) else None


def _parsed(text: str) -> dict[str, t.Any] | None:
    try:
        return load(text)
    except TomlError:
        return None


def _under(data: dict[str, t.Any], path: Path, schema: int) -> Path | None:
    setting = Setting(path, ["/"] if path == CNI_DIRS else None)
    places = (locate(setting, schema, one)[0] for one in (False, True))
    return next((place for place in places if lookup(data, place) is not None), None)


def sources(config: Config) -> list[dict[str, t.Any]]:
    """Every effective CRI setting with the file and line that it comes from."""
    origins = Origins(config)
    rows = []
    for path, value in leaves(origins.view):
        found = origins.of(path)
        rows.append(
            {
                "setting": dotted(path),
                "value": "********" if _SECRET.intersection(path) else value,
                "file": found[0] if found else None,
                "line": found[1] if found else None,
            }
        )
    return rows
