# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import folder_files, tree_hash
from ansible_collections.gshare.cluster.plugins.modules import python_library
from ansible_collections.gshare.cluster.plugins.plugin_utils._python_bundle import pack


@pytest.fixture
def args(tmp_path: pathlib.Path) -> dict[str, t.Any]:
    """A packed package `demo_x`, as the action plugin would send it."""
    source = tmp_path / "source"
    (source / "demo_x").mkdir(parents=True)
    (source / "demo_x" / "__init__.py").write_text("VALUE = 1\n")
    return packed(tmp_path, source)


def packed(tmp_path: pathlib.Path, source: pathlib.Path) -> dict[str, t.Any]:
    files = folder_files(str(source))
    pack(files, str(tmp_path / "library.tar.gz"))
    return {
        "name": ["demo-x"],
        "dest": str(tmp_path / "python"),
        "tree": tree_hash(files),
        "src": str(tmp_path / "library.tar.gz"),
        "minimum_python": "3.6",
        "needs_newest": "demo-x",
    }


def looked(args: dict[str, t.Any]) -> dict[str, t.Any]:
    return {key: value for key, value in args.items() if key != "src"}


def test_look_unpack_and_look_again(args: dict[str, t.Any], run_module: t.Any) -> None:
    assert run_module(python_library.main, looked(args))["changed"]
    assert run_module(python_library.main, args, check=True)["changed"]
    assert not os.path.exists(args["dest"])
    assert run_module(python_library.main, args)["changed"]
    assert not run_module(python_library.main, looked(args))["changed"]
    assert os.listdir(os.path.dirname(args["dest"])).count("python.new") == 0


def test_a_copy_that_was_cut_off_or_altered_is_replaced(args: dict[str, t.Any], run_module: t.Any) -> None:
    run_module(python_library.main, args)
    pathlib.Path(args["dest"], "demo_x", "__init__.py").write_text("VALUE")
    pathlib.Path(args["dest"] + ".new").mkdir()
    assert run_module(python_library.main, looked(args))["changed"]
    assert run_module(python_library.main, args)["changed"]
    assert not run_module(python_library.main, looked(args))["changed"]


def test_a_package_that_does_not_load_does_not_replace_the_old_one(
    args: dict[str, t.Any], tmp_path: pathlib.Path, run_module: t.Any
) -> None:
    run_module(python_library.main, args)
    (tmp_path / "source" / "demo_x" / "__init__.py").write_text("import no_such_thing\n")
    result = run_module(python_library.main, packed(tmp_path, tmp_path / "source"))
    assert result["failed"]
    assert "no_such_thing" in result["msg"]
    assert pathlib.Path(args["dest"], "demo_x", "__init__.py").read_text() == "VALUE = 1\n"


def test_a_python_that_is_too_old(args: dict[str, t.Any], run_module: t.Any) -> None:
    result = run_module(python_library.main, {**args, "minimum_python": "3.99"})
    assert result["failed"]
    assert "demo-x of the controller needs 3.99" in result["msg"]


def test_a_damaged_pack(args: dict[str, t.Any], run_module: t.Any) -> None:
    result = run_module(python_library.main, {**args, "tree": "0"})
    assert "damaged" in result["msg"]
    assert not os.path.exists(args["dest"])
