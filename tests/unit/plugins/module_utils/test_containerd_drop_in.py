# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _containerd_drop_in

OWN = "/etc/systemd/system/containerd.service.d"
PROXY = "[Service]\nEnvironment=HTTP_PROXY=http://a:1\n"


def put(root: Path, name: str, text: str) -> None:
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def drop_in(service: str = "containerd", pid: int = 0) -> _containerd_drop_in.DropIn:
    return _containerd_drop_in.DropIn(types.SimpleNamespace(service=service, unit=types.SimpleNamespace(pid=pid)))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_containerd_drop_in, "ROOT", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("service", ["containerd", "containerd.service"])
def test_its_place(root: Path, service: str) -> None:
    assert drop_in(service).path == f"{OWN}/gshare-proxy.conf"


@pytest.mark.parametrize(
    "name",
    [
        f"{OWN}/http-proxy.conf",
        "/usr/lib/systemd/system/containerd.service.d/10-proxy.conf",
        "/etc/systemd/system/service.d/proxy.conf",
        "/lib/systemd/system/containerd.service",
    ],
)
def test_files_of_others(root: Path, name: str) -> None:
    put(root, name, PROXY)
    assert drop_in().others() == [name]
    put(root, name, "[Service]\nEnvironment=A=1\n")
    assert drop_in().others() == []


def test_what_systemd_does_not_read_counts_nothing(root: Path) -> None:
    put(root, f"{OWN}/gshare-proxy.conf", PROXY)
    put(root, f"{OWN}/proxy.conf.bak", PROXY)
    put(root, "/usr/lib/systemd/system/containerd.service.d/hidden.conf", PROXY)
    put(root, f"{OWN}/hidden.conf", "")
    put(root, "/etc/systemd/system/docker.service.d/proxy.conf", PROXY)
    assert drop_in().others() == []


def test_a_process_that_is_not_there(root: Path) -> None:
    assert drop_in().running() is None
    assert drop_in(pid=7).running() is None
    put(root, "/proc/7/environ", "PATH=/bin\0")
    assert drop_in(pid=7).running() == {}
