# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small registry that checks what the real one checks: digests, sizes, media types, users."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import threading
import typing as t


class Handler(http.server.BaseHTTPRequestHandler):
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
        if self.command == "GET":
            wanted = path.split("/")[4]
            found = self.blobs.get(wanted) if ":" in wanted else self.manifests.get(path.split("/")[2])
            good = found is not None and json.loads(found)["mediaType"] in self.headers["Accept"].split(", ")
            return self._end(200 if good else 404, found or b"")
        self.manifests.pop(path.split("/")[2], None)
        return self._end(202)

    do_GET = do_POST = do_PUT = do_DELETE = _handle

    def log_message(self, *_arguments: t.Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serving() -> t.Iterator[str]:
    """The address of an empty registry."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Handler.user = ""
    Handler.blobs.clear()
    Handler.manifests.clear()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
