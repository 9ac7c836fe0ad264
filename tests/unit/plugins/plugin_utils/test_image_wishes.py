# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.filter.image_wishes import FilterModule
from ansible_collections.gshare.cluster.plugins.plugin_utils._image_wishes import wishes

REGISTRY = "192.0.2.40:5000"
image_wishes = FilterModule().filters()["image_wishes"]


def test_lists_and_names_with_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.tar").write_text("")
    named = {"source": "ghcr.io/a/b:2", "name": "team/b:2"}
    assert image_wishes("x:1, train.tar,", ["a:1", "b"], REGISTRY) == {
        "push": [{"source": "x:1", "name": ""}, {"source": os.path.abspath("train.tar"), "name": ""}],
        "pull": ["a:1", "b"],
        "mistakes": [],
    }
    assert image_wishes([named, "x:1"], None, REGISTRY)["push"] == [named, {"source": "x:1", "name": ""}]
    assert image_wishes(named, "", REGISTRY)["push"] == [named]


def test_either_list_alone_is_fine() -> None:
    assert image_wishes("x:1", "", REGISTRY)["mistakes"] == []
    assert image_wishes("", "x:1", "")["mistakes"] == []


def test_neither_is_one_sentence() -> None:
    (told,) = image_wishes("", [], "")["mistakes"]
    assert "-e images=NAME,NAME" in told
    assert "-e prepull=NAME,NAME" in told


@pytest.mark.parametrize(
    ("images", "prepull", "text"),
    [
        ("a:b:c", "", "images: 'a:b:c' is no name of an image"),
        ("/gone/x.tar", "", "images: there is no file /gone/x.tar."),
        ([{"name": "x:1"}], "", "is no image; write a name, or {source: train.tar, name: 'team/train:3'}."),
        ([{"source": "x:1", "tag": "1"}], "", "is no image; write a name"),
        ([{"source": "x:1", "name": f"{REGISTRY}/x:1"}], "", "write it without the host, as team/train:3."),
        ("x@sha256:" + "a" * 64, "", "has no tag; choose a name"),
        ("", "UP", "prepull: 'UP' is no name of an image"),
        ("", "x.tar", "prepull: 'x.tar' cannot be pulled"),
        ("", [{"source": "x:1"}], "cannot be pulled; push it, and write the name that pods use."),
    ],
)
def test_mistakes(images: t.Any, prepull: t.Any, text: str) -> None:
    (told,) = image_wishes(images, prepull, REGISTRY)["mistakes"]
    assert text in told


def test_all_mistakes_come_at_once() -> None:
    told = wishes("UP,a:b:c", "DOWN", "").mistakes
    assert len(told) == 4
    assert "set LOCAL_REGISTRY (gshare_local_registry)" in told[3]
