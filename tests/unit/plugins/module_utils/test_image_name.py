# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils._image_name import is_archive, parse, parse_target

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "exact", "target"),
    [
        ("docker.io/library/x:1", "docker.io/library/x:1", "x:1"),
        ("x", "docker.io/library/x:latest", "x:latest"),
        ("team/x:1", "docker.io/team/x:1", "team/x:1"),
        ("ghcr.io/a/b:2", "ghcr.io/a/b:2", "a/b:2"),
        ("192.0.2.40:5000/a:2", "192.0.2.40:5000/a:2", "a:2"),
        ("[2001:db8::1]:5000/a:2", "[2001:db8::1]:5000/a:2", "a:2"),
        ("localhost/a", "localhost/a:latest", "a:latest"),
        # skopeo wants one of both; the registry has the tag.
        (f"ghcr.io/a/b:2@{DIGEST}", f"ghcr.io/a/b@{DIGEST}", "a/b:2"),
        (f"ghcr.io/a/b@{DIGEST}", f"ghcr.io/a/b@{DIGEST}", ""),
    ],
)
def test_names(text: str, exact: str, target: str) -> None:
    found = parse(text)
    assert found is not None
    assert (found.exact, found.target) == (exact, target)


@pytest.mark.parametrize(
    "text", ["", "UP", "a:b:c", "a b", "ghcr.io/", "x@sha256:abc", "http://ghcr.io/a", "-rf", "a//b"]
)
def test_what_is_no_name(text: str) -> None:
    assert parse(text) is None


def test_names_in_the_registry() -> None:
    assert parse_target("team/train:3") == ("team/train", "3")
    assert parse_target("train") == ("train", "latest")
    for text in ("", ":1", "192.0.2.40:5000/train:3", f"train@{DIGEST}", "Train"):
        assert parse_target(text) is None


def test_archives() -> None:
    assert is_archive("/srv/train.tar")
    assert is_archive("train.tar.gz")
    assert not is_archive("train:tar")


@given(st.text(max_size=40))
def test_a_full_name_stays_what_it_is(text: str) -> None:
    found = parse(text)
    if found is not None:
        again = parse(found.exact)
        assert again is not None
        assert again.exact == found.exact
        assert not found.target or parse_target(found.target) is not None
