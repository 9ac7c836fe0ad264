# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._dpkg import Package
from ansible_collections.gshare.cluster.plugins.module_utils._install import lacking_file, lacking_packages

INSTALLED = {"kubelet": Package("1.36.5-1.1", True), "kubeadm": Package("1.36.5-1.1", False)}
KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
SUM = "sha256:" + hashlib.sha256(KEY.encode()).hexdigest()


@pytest.mark.parametrize(
    ("wanted", "held", "lacking"),
    [
        (["kubelet", "kubelet=1.36.5-*", "kubelet=1.36.*"], True, []),
        (["kubelet=1.36.6-*"], False, ["package kubelet=1.36.6-* (1.36.5-1.1 is installed)"]),
        (["kubelet=1.36.*", "kubeadm=1.36.*"], True, ["hold of kubeadm"]),
        (["kubectl"], False, ["package kubectl"]),
        (["mail-transport-agent"], False, ["package mail-transport-agent"]),
        ([], True, []),
    ],
)
def test_packages(wanted: list[str], held: bool, lacking: list[str]) -> None:
    assert lacking_packages(wanted, INSTALLED, held=held) == lacking


@pytest.mark.parametrize(
    ("content", "wanted", "checksum", "lacking"),
    [
        (None, None, "", "file /k"),
        (b"", None, "", "file /k"),
        (KEY.encode(), None, "", ""),
        (KEY.encode(), KEY, SUM, ""),
        (KEY.encode(), KEY + "#\n", "", "content of /k"),
        (b"\xff", KEY, "", "content of /k"),
        (KEY.encode(), None, SUM.upper().replace("SHA256", "sha256"), ""),
        (KEY.encode(), None, "sha256:" + "0" * 64, "checksum of /k"),
    ],
)
def test_file(content: bytes | None, wanted: str | None, checksum: str, lacking: str) -> None:
    assert lacking_file("/k", content, wanted, checksum) == lacking
