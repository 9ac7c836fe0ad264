# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import io
import pathlib
import tarfile
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import file_hash
from ansible_collections.gshare.cluster.plugins.modules import archive_binary


class Upstream:
    """One archive; counts downloads."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.downloads = folder, 0
        self.release(b"#!/bin/sh\necho 1\n")

    def release(self, program: bytes) -> None:
        self.path = self.folder / f"release-{len(program)}.tar.gz"
        with tarfile.open(self.path, "w:gz") as tar:
            info = tarfile.TarInfo("linux-amd64/helm")
            info.size = len(program)
            tar.addfile(info, io.BytesIO(program))

    def fetch(self, module: t.Any, url: str, timeout: int) -> str:
        assert url == "https://get.example.net/helm.tar.gz"
        self.downloads += 1
        return str(self.path)


@pytest.fixture
def upstream(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Upstream:
    result = Upstream(tmp_path)
    monkeypatch.setattr(archive_binary, "fetch_file", result.fetch)
    monkeypatch.setattr(archive_binary, "NOTES", str(tmp_path / "notes"))
    return result


def args(upstream: Upstream, **more: t.Any) -> dict[str, t.Any]:
    return {
        "url": "https://get.example.net/helm.tar.gz",
        "checksum": file_hash(str(upstream.path)),
        "member": "linux-amd64/helm",
        "dest": str(upstream.folder / "bin" / "helm"),
        **more,
    }


def test_check_run_and_run_again(upstream: Upstream, run_module: t.Any) -> None:
    assert run_module(archive_binary.main, args(upstream), check=True)["changed"]
    assert upstream.downloads == 0
    result = run_module(archive_binary.main, args(upstream))
    assert result["changed"]
    assert "backup_file" not in result
    program = upstream.folder / "bin" / "helm"
    assert program.read_text() == "#!/bin/sh\necho 1\n"
    assert program.stat().st_mode & 0o777 == 0o755
    assert not run_module(archive_binary.main, args(upstream))["changed"]
    assert not run_module(archive_binary.main, args(upstream), check=True)["changed"]
    assert upstream.downloads == 1


def test_another_release_replaces_ours_without_a_backup(upstream: Upstream, run_module: t.Any) -> None:
    run_module(archive_binary.main, args(upstream))
    upstream.release(b"#!/bin/sh\necho 22\n")
    result = run_module(archive_binary.main, args(upstream))
    assert result["changed"]
    assert "backup_file" not in result


def test_a_program_of_somebody_else_is_kept(upstream: Upstream, run_module: t.Any) -> None:
    (upstream.folder / "bin").mkdir()
    (upstream.folder / "bin" / "helm").write_text("mine\n")
    result = run_module(archive_binary.main, args(upstream))
    assert pathlib.Path(result["backup_file"]).read_text() == "mine\n"


def test_a_program_that_was_cut_off_is_replaced(upstream: Upstream, run_module: t.Any) -> None:
    run_module(archive_binary.main, args(upstream))
    (upstream.folder / "bin" / "helm").write_text("#!/bin")
    assert run_module(archive_binary.main, args(upstream))["changed"]
    assert not run_module(archive_binary.main, args(upstream))["changed"]


def test_another_file_than_the_one_asked_for_is_not_installed(upstream: Upstream, run_module: t.Any) -> None:
    result = run_module(archive_binary.main, args(upstream, checksum="0" * 64))
    assert result["failed"]
    assert file_hash(str(upstream.path)) in result["msg"]
    assert not (upstream.folder / "bin").exists()


def test_an_archive_without_the_program(upstream: Upstream, run_module: t.Any) -> None:
    result = run_module(archive_binary.main, args(upstream, member="linux-arm64/helm"))
    assert "linux-arm64/helm" in result["msg"]
