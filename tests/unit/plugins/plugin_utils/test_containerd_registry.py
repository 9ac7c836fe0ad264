# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_registry import (
    directory_of,
    missing_directory,
    orphans,
    refuse_directory,
    unread,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import ConfigRefused


def view(value: t.Any) -> dict[str, t.Any]:
    return {"images": {"registry": {"config_path": value}}}


@pytest.mark.parametrize(
    ("value", "directory"),
    [("/a", "/a"), ("/a/", "/a/"), ("", None), ("/a:/b", None), ("/a:", None), ("a", None), (1, None)],
)
def test_one_directory(value: t.Any, directory: str | None) -> None:
    assert directory_of(view(value)) == directory
    assert missing_directory(view(value), {}, "/x") == (None if directory else "/x")
    assert missing_directory(view("/b"), view(value), "/x") == (None if directory else "/x")


def test_nothing_set() -> None:
    assert directory_of({}) is None
    assert missing_directory({}, {}, "/x") == "/x"
    assert unread({}, "/x") == []


@pytest.mark.parametrize("directory", ["certs.d", "/a:/b", ""])
def test_the_option_must_be_one_directory(directory: str) -> None:
    with pytest.raises(ConfigRefused, match=f"registry_directory is '{directory}'; it must be the absolute path"):
        refuse_directory({}, directory)


def test_without_the_option_every_setting_is_allowed() -> None:
    refuse_directory(view("/a:/b"), None)
    refuse_directory(view("/a"), "/b")
    refuse_directory({}, "/b")


def test_what_is_no_longer_read_is_told_where_there_is_something() -> None:
    assert unread(view("/a:/x:/b"), "/x") == ["/a", "/b"]
    assert orphans({"/a": ["docker.io", "ghcr.io"], "/b": []}, "/x") == [
        "/a is no longer read by containerd, which looks in /x only; move what is there (docker.io, ghcr.io) to that "
        "directory."
    ]
