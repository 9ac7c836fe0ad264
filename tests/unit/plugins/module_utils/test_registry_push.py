# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Against a small registry that checks what the real one checks: digests, sizes, media types, users."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import (
    Registry,
    RegistryError,
    digest,
    small_image,
)


class _Handler(http.server.BaseHTTPRequestHandler):
    blobs: t.ClassVar[dict[str, bytes]] = {}
    manifests: t.ClassVar[dict[str, bytes]] = {}
    user = ""

    def _end(self, status: int, text: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _mark, query = self.path.partition("?")
        if self.user and self.headers.get("Authorization") != self.user:
            return self._end(401)
        if path == "/v2/_catalog":
            return self._end(200, json.dumps({"repositories": sorted({*self.manifests})}).encode())
        if self.command == "POST":
            return self._end(202, Location=f"http://{self.headers['Host']}{path}one?_state=x")
        if self.command == "PUT" and "/uploads/" in path:
            wanted = query.split("digest=")[1]
            self.blobs[wanted] = body
            return self._end(201 if wanted == "sha256:" + hashlib.sha256(body).hexdigest() else 400)
        if self.command == "PUT":
            found = json.loads(body)
            parts = [found["config"], *found["layers"]]
            good = all(len(self.blobs.get(part["digest"], b"")) == part["size"] for part in parts)
            good = good and self.headers["Content-Type"] == found["mediaType"]
            self.manifests[path.split("/")[2]] = body
            return self._end(201 if good else 400)
        self.manifests.pop(path.split("/")[2], None)
        return self._end(202)

    do_GET = do_POST = do_PUT = do_DELETE = _handle

    def log_message(self, *_arguments: t.Any) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> t.Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    _Handler.user = ""
    _Handler.blobs.clear()
    _Handler.manifests.clear()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(10)
    server.server_close()


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
    _Handler.user = "Basic " + base64.b64encode(b"lab:secret").decode()
    with pytest.raises(RegistryError, match="POST /v2/probe/blobs/uploads/: 401 "):
        Registry(address, tls=False).push("probe", "one", small_image("", "amd64"))
    Registry(address, False, "", "lab", "secret").push("probe", "one", small_image("", "amd64"))


def test_nobody_there() -> None:
    with pytest.raises(RegistryError, match="refused"):
        Registry("127.0.0.1:9", tls=False).repositories()
