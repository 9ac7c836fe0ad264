# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._files import replace


def written(run_module: t.Any, path: pathlib.Path, data: bytes, mode: int | None = None) -> list[str]:
    """Replace a file as a module does; the names in its folder afterwards."""

    def main() -> None:
        module = AnsibleModule(argument_spec={})
        replace(module, str(path), data, mode)
        module.exit_json()

    run_module(main, {})
    return sorted(entry.name for entry in path.parent.iterdir())


def test_a_new_file_comes_with_its_folder_and_mode(tmp_path: pathlib.Path, run_module: t.Any) -> None:
    path = tmp_path / "etc" / "keyrings" / "one.asc"
    assert written(run_module, path, b"key\n", 0o644) == ["one.asc"]
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"key\n", 0o644)


def test_an_old_file_keeps_its_mode(tmp_path: pathlib.Path, run_module: t.Any) -> None:
    path = tmp_path / "fstab"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert written(run_module, path, b"new") == ["fstab"]
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_strict_umask_takes_nothing_from_the_mode(tmp_path: pathlib.Path, run_module: t.Any) -> None:
    """apt reads its keys as a user of its own."""
    path = tmp_path / "keyrings" / "one.asc"
    before = os.umask(0o077)
    try:
        written(run_module, path, b"key\n", 0o644)
    finally:
        os.umask(before)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o644, 0o755)
    path.chmod(0o600)
    written(run_module, path, b"another\n", 0o644)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_secret_is_never_readable_by_others(
    tmp_path: pathlib.Path, run_module: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    move = os.replace

    def watched(source: str, target: str) -> None:
        move(source, target)
        seen.append(os.stat(target).st_mode & 0o777)

    monkeypatch.setattr(os, "replace", watched)
    assert written(run_module, tmp_path / "key.pem", b"k", 0o600) == ["key.pem"]
    assert written(run_module, tmp_path / "key.pem", b"l", 0o600) == ["key.pem"]
    assert seen == [0o600, 0o600]
