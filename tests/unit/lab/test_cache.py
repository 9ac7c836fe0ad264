# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A broken or half-written entry of the lab's cache is never used."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest
from nodelab.cache import MANIFEST, Cache, recipe_hash, scan


def fill(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "tool").write_text("twelve bytes", encoding="utf-8")
    (folder / "link").symlink_to("bin/tool")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def entry_of(cache: Cache) -> Path:
    return cache.ensure("tools", "1.0", "abc", fill)[0]


def test_an_entry_is_made_once(cache: Cache) -> None:
    first, made = cache.ensure("tools", "1.0", "abc", fill)
    assert made
    assert first.name == "1.0-abc"
    assert scan(first) == {"bin/tool": 12, "link": -1}
    assert cache.ensure("tools", "1.0", "abc", fill) == (first, False)


def test_another_recipe_is_another_entry(cache: Cache) -> None:
    first = entry_of(cache)
    second, made = cache.ensure("tools", "1.0", "def", fill)
    assert made
    assert second != first
    assert first.exists()


@pytest.mark.parametrize("damage", ["shorter", "missing", "more", "no manifest", "bad manifest", "no link"])
def test_a_damaged_entry_is_made_again(cache: Cache, damage: str) -> None:
    entry = entry_of(cache)
    tool = entry / "bin" / "tool"
    if damage == "shorter":
        tool.write_text("", encoding="utf-8")
    elif damage == "missing":
        tool.unlink()
    elif damage == "more":
        (entry / "other").touch()
    elif damage == "no manifest":
        (entry / MANIFEST).unlink()
    elif damage == "bad manifest":
        (entry / MANIFEST).write_text("{", encoding="utf-8")
    else:
        (entry / "link").unlink()
    assert not cache.is_valid(entry)
    again, made = cache.ensure("tools", "1.0", "abc", fill)
    assert made
    assert again == entry
    assert tool.read_text(encoding="utf-8") == "twelve bytes"
    assert not (entry / "other").exists()


def test_an_entry_that_is_no_good_any_more_is_made_again(cache: Cache) -> None:
    entry_of(cache)
    _entry, made = cache.ensure("tools", "1.0", "abc", fill, good=lambda entry: not (entry / "link").exists())
    assert made


def test_a_maker_that_fails_leaves_nothing(cache: Cache) -> None:
    def broken(folder: Path) -> None:
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.ensure("tools", "1.0", "abc", broken)
    left = {path.name for path in (cache.root / "tools").iterdir()}
    assert left == {".lock-1.0-abc"}


def test_what_a_dead_build_left_is_removed(cache: Cache) -> None:
    dead = cache.root / "tools" / ".tmp-0.9-old"
    dead.mkdir(parents=True)
    (dead / "half").touch()
    entry_of(cache)
    assert not dead.exists()


def test_what_a_living_build_works_on_stays(cache: Cache) -> None:
    living = cache.root / "tools" / ".tmp-0.9-old"
    living.mkdir(parents=True)
    with open(cache.root / "tools" / ".lock-0.9-old", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entry_of(cache)
        assert living.exists()


def test_two_builds_at_once_make_an_entry_once(cache: Cache) -> None:
    began, go_on = threading.Event(), threading.Event()
    waited: list[bool] = []
    results: list[bool] = []

    def slow(folder: Path) -> None:
        began.set()
        go_on.wait(5)
        fill(folder)

    def second() -> None:
        results.append(cache.ensure("tools", "1.0", "abc", fill, on_wait=lambda: waited.append(True))[1])

    first = threading.Thread(target=lambda: results.append(cache.ensure("tools", "1.0", "abc", slow)[1]))
    first.start()
    assert began.wait(5)
    other = threading.Thread(target=second)
    other.start()
    while not waited:
        other.join(0.01)
    go_on.set()
    first.join()
    other.join()
    assert sorted(results) == [False, True]
    assert waited == [True]


def test_what_was_not_used_for_long_is_pruned(cache: Cache) -> None:
    old, young = (cache.ensure("tools", version, "abc", fill)[0] for version in ("1.0", "2.0"))
    month_ago = time.time() - 31 * 24 * 3600
    for entry in (old, young):
        os.utime(entry / MANIFEST, (month_ago, month_ago))
    cache.ensure("tools", "2.0", "abc", fill)
    assert cache.prune(30) == ["tools/1.0-abc"]
    assert not old.exists()
    assert young.exists()


def test_the_recipe_changes_with_content_and_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1", encoding="utf-8")
    plain = recipe_hash(tmp_path, "x")
    assert plain == recipe_hash(tmp_path, "x")
    assert len(plain) == 12
    assert plain != recipe_hash(tmp_path, "y")
    (tmp_path / "a").rename(tmp_path / "b")
    renamed = recipe_hash(tmp_path, "x")
    assert renamed != plain
    (tmp_path / "b").write_text("2", encoding="utf-8")
    assert recipe_hash(tmp_path, "x") not in (plain, renamed)
