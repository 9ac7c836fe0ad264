# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import io
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._openpgp import fingerprints
from ansible_collections.gshare.cluster.plugins.modules import apt_signing_key

KEY = (pathlib.Path(__file__).parents[1] / "module_utils/fixtures/openpgp/key.asc").read_bytes()
FINGERPRINT = fingerprints(KEY)[0]
Run = t.Callable[..., dict[str, t.Any]]


class Server:
    def __init__(self) -> None:
        self.data, self.status, self.calls = KEY, 200, 0

    def fetch(self, module: t.Any, url: str, timeout: int) -> tuple[t.Any, dict[str, t.Any]]:
        self.calls += 1
        return io.BytesIO(self.data), {"status": self.status, "msg": "HTTP Error"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(apt_signing_key, "fetch_url", made.fetch)
    return made


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "keyrings/vendor.asc"


@pytest.fixture
def run(run_module: t.Any, server: Server, path: pathlib.Path) -> Run:
    def call(fingerprint: str = FINGERPRINT, **options: t.Any) -> dict[str, t.Any]:
        args = {"url": "https://example.net/key", "path": str(path), "fingerprint": fingerprint}
        return functools.partial(run_module, apt_signing_key.main)(args, **options)

    return call


def test_it_fetches_once(run: Run, server: Server, path: pathlib.Path) -> None:
    assert run(check=True)["changed"]
    assert server.calls == 0
    assert run() == {**run(check=True), "changed": True, "fingerprints": [FINGERPRINT]}
    assert path.read_bytes() == KEY
    assert not run(fingerprint=FINGERPRINT.lower())["changed"]
    assert server.calls == 1


def test_case_82_an_empty_file_is_replaced(run: Run, path: pathlib.Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"")
    assert run(fingerprint="")["changed"]
    assert path.read_bytes() == KEY


def test_another_key_is_not_used(run: Run, path: pathlib.Path) -> None:
    result = run(fingerprint="AB" * 20)
    assert f"has the fingerprint {FINGERPRINT}" in result["msg"]
    assert not path.exists()


def test_a_second_key_beside_the_wanted_one_is_not_trusted(run: Run, server: Server, path: pathlib.Path) -> None:
    path.parent.mkdir()
    path.write_bytes(KEY + b"\n" + KEY)
    assert run(check=True)["changed"]
    server.data = KEY + b"\n" + KEY
    assert f"has the fingerprint {FINGERPRINT}, {FINGERPRINT}" in run()["msg"]


def test_another_key_that_is_there_does_not_count(run: Run, server: Server, path: pathlib.Path) -> None:
    path.parent.mkdir()
    path.write_bytes(KEY)
    assert run(fingerprint="AB" * 20, check=True)["changed"]
    assert run(fingerprint="AB" * 20)["failed"]
    assert server.calls == 1


def test_a_page_of_a_proxy_is_no_key(run: Run, server: Server) -> None:
    server.data = b"<html>Sign in</html>"
    assert "is no key" in run(fingerprint="")["msg"]


def test_a_server_that_fails(run: Run, server: Server) -> None:
    server.status = 503
    assert "cannot be fetched: HTTP Error" in run()["msg"]
