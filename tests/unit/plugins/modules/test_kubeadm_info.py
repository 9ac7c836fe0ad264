# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import kubeadm_info
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make

PACKAGES = (
    r"printf 'kubelet hold installed 1.36.3-1.1\nkubeadm hold installed 1.36.3-1.1\n"
    r"kubectl hold config-files 1.35.1-1.1\n'"
)


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return make(tmp_path, monkeypatch)


def test_a_bare_machine(fake: Machine, run_module: t.Any) -> None:
    fake.missing("kubeadm")
    fake.program("dpkg-query", "exit 1")
    result = run_module(kubeadm_info.main, {}, check=True)
    assert result["control_plane"]["state"] == "absent"
    assert result["worker"]["state"] == "absent"
    assert result["kubelet_version"] == ""
    assert not result["in_cluster"]
    assert not result["changed"]


def test_a_control_plane(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    fake.api("ready")
    fake.program("dpkg-query", PACKAGES)
    fake.service("active")
    result = run_module(kubeadm_info.main, {})
    assert result["control_plane"]["state"] == "healthy"
    assert result["control_plane"]["api_url"] == "https://192.0.2.10:6443"
    assert result["packages"] == {"kubelet": "1.36.3-1.1", "kubeadm": "1.36.3-1.1"}
    assert result["kubelet_version"] == "1.36.3"
    assert result["in_cluster"]
    assert result["kubelet_active"]


def test_a_worker(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    result = run_module(kubeadm_info.main, {"address": "192.0.2.11"})
    assert result["control_plane"]["state"] == "worker"
    assert result["worker"]["state"] == "joined"
    assert result["in_cluster"]
    assert result["node_name"] == "gpu-1"


def test_a_half_joined_machine_is_in_no_cluster(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    (fake.root / "var/lib/kubelet/pki/kubelet-client-current.pem").unlink()
    result = run_module(kubeadm_info.main, {})
    assert result["worker"]["state"] == "half"
    assert not result["in_cluster"]


def test_nodes(fake: Machine, run_module: t.Any) -> None:
    assert run_module(kubeadm_info.main, {"nodes": True})["nodes"] == []
    fake.control_plane()
    fake.api("ready")
    fake.program("kubectl", """echo '{"items": [{"metadata": {"name": "cp"}}]}'""")
    assert [node["name"] for node in run_module(kubeadm_info.main, {"nodes": True})["nodes"]] == ["cp"]
    assert "nodes" not in run_module(kubeadm_info.main, {})
