# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.
"""The directory in which containerd looks for the hosts.toml of registries: there must be one, and only one.

Without one, containerd 1.x and 2.0 read nothing; 2.1 and later take a list of directories, which also is the default
of some, for the name of a single directory, and read nothing either.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import ConfigRefused
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import Path, lookup

CONFIG_PATH: Path = ("images", "registry", "config_path")
Json = dict[str, t.Any]


def directory_of(view: t.Mapping[str, t.Any]) -> str | None:
    """The directory that containerd reads, or None."""
    value = lookup(view, CONFIG_PATH)
    return value if isinstance(value, str) and value.startswith("/") and ":" not in value else None


def refuse_directory(settings: Json, directory: str | None) -> None:
    """What is asked for by name must be one directory as well."""
    if directory is None:
        return
    if not directory.startswith("/") or ":" in directory:
        raise ConfigRefused(f"registry_directory is {directory!r}; it must be the absolute path of one directory.")
    value = lookup(settings, CONFIG_PATH)
    if value is not None and not directory_of(settings):
        raise ConfigRefused(
            f"settings.images.registry.config_path is {value!r}, but with registry_directory it must be the absolute "
            "path of one directory; correct it or leave it out."
        )


def missing_directory(view: Json, settings: Json, directory: str) -> str | None:
    """The directory to set; None where there is a single one already, the owner's or one of the settings."""
    found = settings if lookup(settings, CONFIG_PATH) is not None else view
    return None if directory_of(found) else directory


def unread(before: Json, after: str | None) -> list[str]:
    """The directories of a list that are not read any more."""
    value = lookup(before, CONFIG_PATH)
    named = value.split(":") if isinstance(value, str) and not directory_of(before) else []
    return [name for name in dict.fromkeys(named) if name and name != after]


def orphans(entries: t.Mapping[str, list[str]], after: str | None) -> list[str]:
    """One sentence for each directory that still has entries."""
    return [
        f"{name} is no longer read by containerd, which looks in {after} only; move what is there ({', '.join(held)}) "
        "to that directory."
        for name, held in entries.items()
        if held
    ]
