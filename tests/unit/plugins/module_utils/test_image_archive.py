# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import io
import json
import tarfile
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._image_archive import ArchiveError, read
from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import digest

CONFIG = b'{"os": "linux"}'
FULL, SHORT = "io.containerd.image.name", "org.opencontainers.image.ref.name"


def archive(path: Path, files: dict[str, t.Any], mode: str = "w", prefix: str = "") -> str:
    with tarfile.open(path, mode) as tar:
        for name, value in files.items():
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            entry = tarfile.TarInfo(prefix + name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return str(path)


def docker(*names: str) -> dict[str, t.Any]:
    return {"c.json": CONFIG, "manifest.json": [{"Config": "c.json", "RepoTags": list(names) or None, "Layers": []}]}


def oci(**notes: str) -> dict[str, t.Any]:
    manifest = json.dumps({"config": {"digest": digest(CONFIG)}}).encode()
    entry = {"digest": digest(manifest), "annotations": notes}
    return {"index.json": {"manifests": [entry]}, "blobs/" + digest(manifest).replace(":", "/"): manifest}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("prefix", ["", "./"])
def test_as_docker_save_writes_it(tmp_path: Path, mode: str, prefix: str) -> None:
    path = archive(tmp_path / "x.tar", docker("team/train:3"), mode, prefix)
    assert read(path) == ("docker-archive", "team/train:3", digest(CONFIG))


def test_without_a_name(tmp_path: Path) -> None:
    assert read(archive(tmp_path / "x.tar", docker())).name == ""
    assert read(archive(tmp_path / "y.tar", oci())).name == ""


@pytest.mark.parametrize(
    ("notes", "name"),
    [
        ({SHORT: "latest"}, ""),
        ({SHORT: "team/train:3"}, "team/train:3"),
        ({SHORT: "3", FULL: "ghcr.io/team/train:3"}, "ghcr.io/team/train:3"),
    ],
)
def test_as_skopeo_writes_it(tmp_path: Path, notes: dict[str, str], name: str) -> None:
    assert read(archive(tmp_path / "x.tar", oci(**notes))) == ("oci-archive", name, digest(CONFIG))


def test_docker_of_today_writes_both_forms(tmp_path: Path) -> None:
    assert read(archive(tmp_path / "x.tar", {**oci(), **docker("a:1")})).name == "a:1"


def test_an_index_in_the_archive(tmp_path: Path) -> None:
    files = oci()
    entry = {**files["index.json"]["manifests"][0], "platform": {"os": "linux", "architecture": "amd64"}}
    index = json.dumps({"manifests": [entry]}).encode()
    files["blobs/" + digest(index).replace(":", "/")] = index
    files["index.json"] = {"manifests": [{"digest": digest(index)}]}
    assert read(archive(tmp_path / "x.tar", files)).config == digest(CONFIG)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"etc/passwd": b""}, "there is no image in it"),
        ({**docker(), "manifest.json": docker()["manifest.json"] * 2}, "it holds 2 images; write an archive for each"),
        ({"manifest.json": b"["}, "cannot be understood"),
        ({"manifest.json": [{"Config": "gone"}]}, "cannot be understood"),
    ],
)
def test_what_is_no_image(tmp_path: Path, files: dict[str, t.Any], text: str) -> None:
    with pytest.raises(ArchiveError, match=text):
        read(archive(tmp_path / "x.tar", files))


def test_no_file_and_no_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="No such file"):
        read(str(tmp_path / "x.tar"))
    (tmp_path / "x.tar").write_text("hello")
    with pytest.raises(ArchiveError, match="could not be opened"):
        read(str(tmp_path / "x.tar"))
