# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import (
    Registry,
    RegistryError,
    digest,
    manifest_for,
    small_image,
)
from ansible_collections.gshare.cluster.tests.unit.plugins.registry_fakes import Handler, serving


@pytest.fixture
def address() -> t.Iterator[str]:
    with serving() as address:
        yield address


def test_an_image_comes_and_goes(address: str) -> None:
    registry = Registry(address, tls=False)
    pushed = registry.push("probe", "one", small_image("hello", "amd64"))
    assert registry.repositories() == ["probe"]
    registry.delete("probe", pushed)
    assert registry.repositories() == []


def test_the_image_has_one_file_and_a_digest_that_fits() -> None:
    layer, config, manifest = small_image("hello", "arm64")
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as archive:
        (entry,) = archive.getmembers()
        assert archive.extractfile(entry).read() == b"hello"
    assert json.loads(config)["architecture"] == "arm64"
    assert json.loads(config)["rootfs"]["diff_ids"] == [digest(gzip.decompress(layer))]
    assert json.loads(manifest)["layers"][0]["digest"] == digest(layer)
    assert small_image("hello", "arm64") == (layer, config, manifest)


def test_users_are_asked_for(address: str) -> None:
    Handler.user = "Basic " + base64.b64encode(b"lab:secret").decode()
    with pytest.raises(RegistryError, match="POST /v2/probe/blobs/uploads/: 401 "):
        Registry(address, tls=False).push("probe", "one", small_image("", "amd64"))
    Registry(address, False, "", "lab", "secret").push("probe", "one", small_image("", "amd64"))


def test_nobody_there() -> None:
    with pytest.raises(RegistryError, match="refused"):
        Registry("127.0.0.1:9", tls=False).repositories()


def test_which_image_a_tag_is(address: str) -> None:
    registry = Registry(address, tls=False)
    assert registry.config_digest("probe", "one") == ""
    image = small_image("hello", "amd64")
    registry.push("probe", "one", image)
    assert registry.config_digest("probe", "one") == digest(image[1])


INDEX = "application/vnd.oci.image.index.v1+json"
PLATFORMS = [
    {"digest": "sha256:a", "platform": {"os": "linux", "architecture": "arm64"}},
    {"digest": "sha256:w", "platform": {"os": "windows", "architecture": "amd64"}},
    {"digest": "sha256:b", "platform": {"os": "linux", "architecture": "amd64"}},
]


def test_of_an_index_it_is_the_image_for_this_platform(address: str) -> None:
    image = small_image("hello", "amd64")
    Handler.blobs["sha256:b"] = image[2]
    Handler.manifests["probe"] = json.dumps({"mediaType": INDEX, "manifests": PLATFORMS}).encode()
    assert Registry(address, tls=False).config_digest("probe", "one") == digest(image[1])
    Handler.manifests["probe"] = json.dumps({"mediaType": INDEX, "manifests": PLATFORMS[:2]}).encode()
    assert Registry(address, tls=False).config_digest("probe", "one") == ""


def test_an_index_without_this_platform_has_no_entry_for_it() -> None:
    with pytest.raises(KeyError, match="no image for linux/amd64"):
        manifest_for({"manifests": PLATFORMS[:2]})


def test_an_index_that_names_no_platforms() -> None:
    assert manifest_for({"manifests": [{"digest": "sha256:a"}]}) == {"digest": "sha256:a"}
