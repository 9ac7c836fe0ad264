# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Container images made from files, written straight into the storage of a docker-registry."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import tarfile
import typing as t
from pathlib import Path

MTIME = 1767225600
CREATED = "2026-01-01T00:00:00Z"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
"""Layers are not compressed: registry and nodes are one machine, where unpacking costs more than copying."""


@dataclasses.dataclass(frozen=True)
class Layer:
    """Content of one layer: files as (source, path), symlinks as (path, target), extra texts as (path, text)."""

    files: tuple[tuple[Path, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    folders: tuple[tuple[str, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class Image:
    """One image: ``repository`` as the registry knows it (HOST/REPO), tag, layers from the bottom up, what it runs."""

    repository: str
    tag: str
    layers: tuple[Layer, ...]
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    user: str = ""
    env: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Blob:
    """A stored blob."""

    digest: str
    size: int

    def descriptor(self, media_type: str) -> dict[str, t.Any]:
        """Return how a manifest refers to the blob."""
        return {"mediaType": media_type, "digest": self.digest, "size": self.size}


def write_layer_tar(layer: Layer, target: t.BinaryIO) -> None:
    """Write the layer as a tar, in an order and with times that depend on the content alone."""
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, mode in sorted(_all_folders(layer).items()):
            info = _info(path, mode)
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
        for source, path in sorted(layer.files, key=lambda item: item[1]):
            info = _info(path, 0o755 if os.access(source, os.X_OK) else 0o644)
            info.size = source.stat().st_size
            with open(source, "rb") as stream:
                tar.addfile(info, stream)
        for path, text in sorted(layer.texts):
            info = _info(path, 0o644)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
        for path, link in sorted(layer.links):
            info = _info(path, 0o777)
            info.type, info.linkname = tarfile.SYMTYPE, link
            tar.addfile(info)


def image_config(image: Image, diff_ids: t.Sequence[str]) -> dict[str, t.Any]:
    """Return the image's configuration; ``diff_ids`` are the digests of its uncompressed layers."""
    settings: dict[str, t.Any] = {"Env": [f"PATH={PATH}", *image.env], "WorkingDir": "/", "Labels": dict(image.labels)}
    if image.entrypoint:
        settings["Entrypoint"] = list(image.entrypoint)
    if image.command:
        settings["Cmd"] = list(image.command)
    if image.user:
        settings["User"] = image.user
    return {
        "created": CREATED,
        "architecture": "amd64",
        "os": "linux",
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": list(diff_ids)},
        "history": [{"created": CREATED, "created_by": "lab"} for _unused in diff_ids],
    }


class Registry:
    """The file storage of docker-registry (distribution 2.8) below ``root``."""

    def __init__(self, root: Path) -> None:
        self._base = root / "docker" / "registry" / "v2"
        self._layers: dict[Layer, Blob] = {}

    def add(self, image: Image) -> str:
        """Store the image and return the digest of its manifest. Layers that were stored before are shared."""
        layers = [self._layer(layer) for layer in image.layers]
        config = self._blob(_json(image_config(image, [blob.digest for blob in layers])))
        manifest = self._blob(
            _json(
                {
                    "schemaVersion": 2,
                    "mediaType": MANIFEST_TYPE,
                    "config": config.descriptor(CONFIG_TYPE),
                    "layers": [blob.descriptor(LAYER_TYPE) for blob in layers],
                }
            )  # fmt: skip
        )
        folder = self._base / "repositories" / image.repository
        for blob in (config, *layers):
            self._link(folder / "_layers", blob.digest)
        self._link(folder / "_manifests" / "revisions", manifest.digest)
        tag = folder / "_manifests" / "tags" / image.tag
        self._link(tag / "index", manifest.digest)
        (tag / "current").mkdir(parents=True, exist_ok=True)
        (tag / "current" / "link").write_text(manifest.digest, encoding="utf-8")
        return manifest.digest

    def _layer(self, layer: Layer) -> Blob:
        if layer not in self._layers:
            scratch = self._base / "incoming"
            scratch.parent.mkdir(parents=True, exist_ok=True)
            with open(scratch, "w+b") as stream:
                write_layer_tar(layer, stream)
                stream.seek(0)
                digest = "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
            size = scratch.stat().st_size
            data = self._data_path(digest)
            data.parent.mkdir(parents=True, exist_ok=True)
            scratch.replace(data)
            self._layers[layer] = Blob(digest, size)
        return self._layers[layer]

    def _blob(self, content: bytes) -> Blob:
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        data = self._data_path(digest)
        data.parent.mkdir(parents=True, exist_ok=True)
        data.write_bytes(content)
        return Blob(digest, len(content))

    def _data_path(self, digest: str) -> Path:
        plain = digest.removeprefix("sha256:")
        return self._base / "blobs" / "sha256" / plain[:2] / plain / "data"

    @staticmethod
    def _link(folder: Path, digest: str) -> None:
        target = folder / "sha256" / digest.removeprefix("sha256:")
        target.mkdir(parents=True, exist_ok=True)
        (target / "link").write_text(digest, encoding="utf-8")


def digest_of(root: Path, repository: str, tag: str) -> str:
    """Return the digest of an image in a finished storage."""
    link = root / "docker/registry/v2/repositories" / repository / "_manifests/tags" / tag / "current/link"
    return link.read_text(encoding="utf-8").strip()


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _all_folders(layer: Layer) -> dict[str, int]:
    paths = [item[1] for item in layer.files] + [item[0] for item in (*layer.links, *layer.texts, *layer.folders)]
    found: dict[str, int] = {}
    for path in paths:
        parts = path.strip("/").split("/")[:-1]
        found.update({"/".join(parts[:count]): 0o755 for count in range(1, len(parts) + 1)})
    found.update({path.strip("/"): mode for path, mode in layer.folders})
    return found


def _info(path: str, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path.strip("/"))
    info.mode, info.mtime = mode, MTIME
    return info
