# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import file_hash, folder_files, tree_hash


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("1\n")
    (tmp_path / "c.py").write_text("2\n")
    return tmp_path


def test_names_and_contents_count(folder: pathlib.Path) -> None:
    first = tree_hash(folder_files(str(folder)))
    assert first == tree_hash(folder_files(str(folder)))
    (folder / "c.py").write_text("3\n")
    second = tree_hash(folder_files(str(folder)))
    (folder / "c.py").rename(folder / "d.py")
    assert len({first, second, tree_hash(folder_files(str(folder)))}) == 3


def test_what_python_caches_and_lists_of_cas_do_not_count(folder: pathlib.Path) -> None:
    (folder / "cacert.pem").write_text("one\n")
    before = tree_hash(folder_files(str(folder)))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "c.pyc").write_text("x")
    (folder / "cacert.pem").write_text("one\ntwo\n")
    assert tree_hash(folder_files(str(folder))) == before


def test_file_hash(folder: pathlib.Path) -> None:
    """sha256sum of "1" and a newline."""
    expected = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
    assert file_hash(str(folder / "a" / "b.py")) == expected
