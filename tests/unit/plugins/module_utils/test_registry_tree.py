# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _files, _registry_tree


class Module:
    """What the functions need of a module."""

    def backup_local(self, path: str) -> str:
        return shutil.copy2(path, f"{path}.1.2026-12-01~")

    def add_cleanup_file(self, path: str) -> None:
        pass


def wish(path: str, text: str = "new\n", mode: str = "0644") -> dict[str, str]:
    return {"path": path, "text": text, "mode": mode}


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    assert _registry_tree.read(str(tmp_path / "certs.d")) == {"folders": [], "files": {}}


def test_only_a_hosts_file_is_told_in_full(tmp_path: Path) -> None:
    (tmp_path / "docker.io/deeper").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "README").write_text("no folder")
    (tmp_path / "docker.io/hosts.toml").write_text("a = 1\n")
    key = tmp_path / "docker.io/key.pem"
    key.write_text("secret")
    key.chmod(0o600)
    found = _registry_tree.read(str(tmp_path))
    assert found["folders"] == ["docker.io", "empty"]
    assert list(found["files"]) == ["docker.io/hosts.toml", "docker.io/key.pem"]
    assert found["files"]["docker.io/hosts.toml"]["text"] == "a = 1\n"
    assert (found["files"]["docker.io/key.pem"]["mode"], found["files"]["docker.io/key.pem"]["text"]) == ("0600", None)
    assert "secret" not in str(found)


def test_what_is_written_has_its_mode(tmp_path: Path) -> None:
    files = [wish("a/key.pem", "k", "0600"), wish("a/hosts.toml")]
    assert _registry_tree.apply(Module(), str(tmp_path / "certs.d"), files, [], []) == []
    found = _registry_tree.read(str(tmp_path / "certs.d"))["files"]
    assert {path: entry["mode"] for path, entry in found.items()} == {"a/hosts.toml": "0644", "a/key.pem": "0600"}


def test_a_folder_goes_with_its_last_file(tmp_path: Path) -> None:
    for name in ("a/hosts.toml", "a/ours.pem", "b/hosts.toml", "b/theirs.crt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    _registry_tree.apply(Module(), str(tmp_path), [], ["a/hosts.toml", "a/ours.pem", "b/hosts.toml"], [])
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["b", "b/theirs.crt"]


def test_a_folder_that_is_a_link_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/hosts.toml").write_text("")
    (tmp_path / "certs.d").mkdir()
    (tmp_path / "certs.d/docker.io").symlink_to(tmp_path / "elsewhere")
    _registry_tree.apply(Module(), str(tmp_path / "certs.d"), [], ["docker.io/hosts.toml"], [])
    assert list((tmp_path / "certs.d/docker.io").iterdir()) == []


def test_a_copy_is_kept_that_containerd_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/hosts.toml").write_text("theirs")
    (copy,) = _registry_tree.apply(Module(), str(tmp_path), [wish("a/hosts.toml")], [], ["a/hosts.toml"])
    assert Path(copy).read_text() == "theirs"
    assert not copy.endswith((".toml", ".crt", ".cert", ".key"))
    assert (tmp_path / "a/hosts.toml").read_text() == "new\n"


def test_a_run_that_is_killed_leaves_whole_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_args: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a").mkdir()
    (tmp_path / "a/hosts.toml").write_text("old")
    monkeypatch.setattr(_files.os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        _registry_tree.apply(Module(), str(tmp_path), [wish("a/hosts.toml")], [], [])
    assert (tmp_path / "a/hosts.toml").read_text() == "old"
    # The name by which the next run knows what to clear away.
    assert [path.name[:8] for path in tmp_path.glob("a/.*")] == [".gshare-"]
