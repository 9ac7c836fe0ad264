# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images lie in the registry's storage as docker-registry and its clients expect them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import typing as t
from pathlib import Path

import pytest
from nodelab.images import loaded_libraries
from nodelab.oci import Image, Layer, Registry, write_layer_tar


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program"
    file.write_bytes(b"ELF")
    file.chmod(0o700)
    return file


def read_layer(layer: Layer) -> dict[str, tarfile.TarInfo]:
    buffer = io.BytesIO()
    write_layer_tar(layer, buffer)
    buffer.seek(0)
    with tarfile.open(fileobj=buffer) as tar:
        return {info.name: info for info in tar}


def stored(root: Path, digest: str) -> t.Any:
    plain = digest.removeprefix("sha256:")
    content = (root / "docker/registry/v2/blobs/sha256" / plain[:2] / plain / "data").read_bytes()
    assert hashlib.sha256(content).hexdigest() == plain
    return json.loads(content)


def link(path: Path) -> str:
    return (path / "link").read_text(encoding="utf-8")


def test_a_layer_holds_parents_before_children(program: Path) -> None:
    layer = Layer(
        files=((program, "/usr/local/bin/tool"),),
        links=(("/bin/sh", "busybox"),),
        texts=(("/etc/passwd", "root\n"),),
        folders=(("/tmp", 0o1777),),
    )
    found = read_layer(layer)
    names = list(found)
    assert names.index("usr") < names.index("usr/local") < names.index("usr/local/bin/tool")
    assert found["usr/local/bin/tool"].mode == 0o755
    assert found["etc/passwd"].mode == 0o644
    assert found["tmp"].mode == 0o1777
    assert found["bin/sh"].linkname == "busybox"
    assert {(info.uid, info.gid) for info in found.values()} == {(0, 0)}


def test_an_image_in_the_storage(tmp_path: Path, program: Path) -> None:
    root = tmp_path / "registry"
    image = Image(
        repository="registry.k8s.io/tool",
        tag="v1",
        layers=(Layer(texts=(("/etc/passwd", "root\n"),)), Layer(files=((program, "/tool"),))),
        entrypoint=("/tool",),
        labels=(("made-from", "nothing"),),
    )
    digest = Registry(root).add(image)
    folder = root / "docker/registry/v2/repositories/registry.k8s.io/tool"
    assert link(folder / "_manifests/tags/v1/current") == digest
    plain = digest.removeprefix("sha256:")
    assert link(folder / "_manifests/tags/v1/index/sha256" / plain) == digest
    assert link(folder / "_manifests/revisions/sha256" / plain) == digest

    manifest = stored(root, digest)
    assert manifest["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    config = stored(root, manifest["config"]["digest"])
    assert config["config"]["Entrypoint"] == ["/tool"]
    assert config["config"]["Labels"] == {"made-from": "nothing"}
    # Layers are not compressed, so a layer and its content have one digest.
    assert config["rootfs"]["diff_ids"] == [layer["digest"] for layer in manifest["layers"]]
    for blob in (manifest["config"], *manifest["layers"]):
        assert link(folder / "_layers/sha256" / blob["digest"].removeprefix("sha256:")) == blob["digest"]
        file = root / "docker/registry/v2/blobs/sha256" / blob["digest"][7:9] / blob["digest"][7:] / "data"
        assert file.stat().st_size == blob["size"]


def test_images_share_a_layer(tmp_path: Path, program: Path) -> None:
    registry = Registry(tmp_path / "registry")
    shared = Layer(files=((program, "/tool"),))
    digests = {registry.add(Image(f"host/{name}", "1", (shared,), entrypoint=(name,))) for name in ("a", "b")}
    assert len(digests) == 2
    layers = {stored(tmp_path / "registry", digest)["layers"][0]["digest"] for digest in digests}
    assert len(layers) == 1


def test_the_libraries_that_ldd_lists() -> None:
    output = (
        "\tlinux-vdso.so.1 (0x00007fe98200c000)\n"
        "\tlibresolv.so.2 => /lib/x86_64-linux-gnu/libresolv.so.2 (0x00007fe981f2c000)\n"
        "\tlibgone.so => not found\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007fe98200e000)\n"
    )
    assert loaded_libraries(output) == ["/lib/x86_64-linux-gnu/libresolv.so.2", "/lib64/ld-linux-x86-64.so.2"]
