# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import pathlib
import threading
import time
import typing as t
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kube_api
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import (
    ApiError,
    KubeApi,
    _handshake,
    import_error,
)

ANSWERS: dict[str, t.Any] = {
    "/api/v1": {"resources": [{"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "list"]}]},
    "/apis": {
        "groups": [{"preferredVersion": {"groupVersion": g}} for g in ("apps/v1", "broken/v1", "example.net/v1")]
    },
    "/apis/apps/v1": {
        "resources": [
            {"name": "deployments/scale", "kind": "Deployment", "namespaced": True, "verbs": ["get"]},
            {"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["list"]},
        ]
    },
    "/apis/example.net/v1": {
        "resources": [{"name": "things", "kind": "Thing", "namespaced": False, "verbs": ["list"]}]
    },
    "/api/v1/namespaces/shop/pods": {"items": [{"metadata": {"name": "a", "managedFields": [1]}}]},
    "/api/v1/pods": {"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]},
    "/apis/example.net/v1/things": {"items": None},
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if "/exec?" in self.path and "/pods/a/" not in self.path:
            # A client that gave up has closed its end.
            with contextlib.suppress(OSError):
                self._exec(parse_qs(urlsplit(self.path).query)["command"][-1])
            return
        known = ANSWERS.get(self.path)
        status = 200 if known is not None else 503 if "broken" in self.path else 404
        host = f", Host {self.headers['Host']}" if self.path == "/" else ""
        self._answer(status, known if known is not None else {"message": f"{self.path} is not here{host}"})

    def _exec(self, command: str) -> None:
        """Answer as the API server does: one byte for the channel before each piece of output."""
        if command == "slow":
            time.sleep(1)
        key = (self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key).digest()).decode())
        self.send_header("Sec-WebSocket-Protocol", "v4.channel.k8s.io")
        self.end_headers()
        for piece in (b"\x01", b"\x01one ", b"\x02two ", b"\x01three", b'\x03{"status":"Success"}'):
            self.wfile.write(bytes([0x82, len(piece)]) + piece)
        if command == "endless":
            time.sleep(1)
        self.wfile.write(b"\x88\x02\x03\xe8")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(201, {"made": body, "type": self.headers["Content-Type"]})

    def do_DELETE(self) -> None:
        self._answer(404 if "gone" in self.path else 409, {"message": "no"})

    def _answer(self, status: int, body: t.Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: t.Any) -> None: ...


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[KubeApi]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield KubeApi(str(kubeconfig(tmp_path_factory.mktemp("kube"), f"http://127.0.0.1:{server.server_port}")))
    server.shutdown()
    server.server_close()


def kubeconfig(folder: pathlib.Path, server: str) -> pathlib.Path:
    path = folder / "admin.conf"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": server}}],
        "users": [{"name": "x", "user": {}}],
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def test_objects_of_a_namespace(api):
    assert api.objects("pod", None, "shop") == [{"metadata": {"name": "a"}, "kind": "Pod", "apiVersion": "v1"}]
    assert len(api.objects("Pod")) == 2


def test_kinds_are_looked_for_in_all_groups(api):
    assert api.objects("Thing", None, "shop") == []
    with pytest.raises(ApiError, match="the cluster has no kind Nothing$"):
        api.objects("Nothing")
    with pytest.raises(ApiError, match="no kind Thing in apps/v1"):
        api.objects("Thing", "apps/v1")


def test_errors_carry_the_message_of_the_api(api):
    with pytest.raises(ApiError, match="/nowhere is not here") as caught:
        api.get("/nowhere")
    assert caught.value.status == 404


def test_plain_http_of_a_node(api):
    address, port = api.server
    status, text = api.http(address, port, "x.invalid")
    assert (status, json.loads(text)) == (404, {"message": "/ is not here, Host x.invalid"})
    with pytest.raises(ApiError, match="refused") as caught:
        api.http(address, 1, "x.invalid")
    assert caught.value.status == 0


def test_create_and_delete(api):
    assert api.create("/api/v1/namespaces", {"a": 1}) == {"made": {"a": 1}, "type": "application/json"}
    api.delete("/gone")
    with pytest.raises(ApiError):
        api.delete("/busy")


def test_no_server(tmp_path):
    dead = KubeApi(str(kubeconfig(tmp_path, "http://127.0.0.1:1")))
    assert dead.server == ("127.0.0.1", 1)
    with pytest.raises(ApiError, match="127.0.0.1:1"):
        dead.get("/version")


def test_unusable_kubeconfig(tmp_path):
    with pytest.raises(ApiError, match="cannot use"):
        KubeApi(str(tmp_path / "missing"))


def test_exec(api):
    assert api.execute("shop", "b", "id") == "one two three"


def test_exec_that_does_not_end(api):
    with pytest.raises(ApiError, match="no answer in time"):
        api.execute("shop", "b", "endless", 0.3)


def test_exec_whose_kubelet_does_not_answer(api, monkeypatch):
    monkeypatch.setattr(_kube_api, "_HANDSHAKE", 0.2)
    with pytest.raises(ApiError, match="no answer in time"):
        api.execute("shop", "b", "slow")


def test_exec_refused_is_an_error_of_ours(api):
    with pytest.raises(ApiError):
        api.execute("shop", "a", "true", 2.0)


def test_handshake():
    text = r"""Handshake status 500 -+-+- b'{"message":"error dialing backend: dial tcp \"x\": timeout"}'"""
    assert _handshake(text) == 'error dialing backend: dial tcp "x": timeout'
    assert _handshake("timed out") == "timed out"


def test_the_package_is_here():
    assert import_error() == ""
