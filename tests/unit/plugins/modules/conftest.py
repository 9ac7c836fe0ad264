# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Machines and clusters that more than one file of tests works on."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _containerd_files,
    _verify_gpu_run,
    _verify_ingress,
    _verify_look,
    _verify_run,
)
from ansible_collections.gshare.cluster.plugins.modules import verify
from ansible_collections.gshare.cluster.tests.unit.plugins.containerd_fakes import OLD, Machine
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import (
    HOSTS,
    KUBECONFIG,
    FakeCluster,
    stop_clock,
)
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import GPU_HOSTS, GpuCluster


@pytest.fixture
def machine(
    tmp_path: Path, run_module: t.Callable[..., dict[str, t.Any]], monkeypatch: pytest.MonkeyPatch
) -> t.Iterator[Machine]:
    machine = Machine(tmp_path, run_module)
    machine.file.write_text(OLD)
    machine.patch(monkeypatch)
    yield machine
    leftovers = [name for name in machine.folder() if name == _containerd_files.TEMPORARY]
    assert leftovers == []
    assert list(machine.root.rglob("*~")) == []


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    fake = FakeCluster()
    monkeypatch.setattr(verify, "KubeApi", lambda kubeconfig: fake)
    monkeypatch.setattr(verify, "import_error", lambda: "")
    stop_clock(monkeypatch, (_verify_look, _verify_run), 0.25)
    monkeypatch.setattr(verify.signal, "signal", lambda number, handler: None)
    return fake


@pytest.fixture
def checked(cluster: FakeCluster, run_module: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    def run(*, check: bool = False, **args: t.Any) -> dict[str, t.Any]:
        given = {
            "hosts": HOSTS,
            "kubernetes_version": "1.36",
            "pod_cidr": "10.244.0.0/16",
            "kubeconfig": KUBECONFIG,
            **args,
        }
        result = run_module(verify.main, given, check=check)
        assert result.get("changed") is False or result.get("failed"), result
        result["by_name"] = {entry["name"]: entry for entry in result.get("checks", [])}
        return result

    return run


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> GpuCluster:
    fake = GpuCluster()
    monkeypatch.setattr(verify, "KubeApi", lambda kubeconfig: fake)
    monkeypatch.setattr(verify, "import_error", lambda: "")
    monkeypatch.setattr(verify.signal, "signal", lambda number, handler: None)
    stop_clock(monkeypatch, (_verify_look, _verify_run, _verify_gpu_run, _verify_ingress), 0.25)
    return fake


@pytest.fixture
def tried(gpus: GpuCluster, run_module: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    def run(*, check: bool = False, **args: t.Any) -> dict[str, t.Any]:
        given = {
            "hosts": GPU_HOSTS,
            "pod_cidr": "10.244.0.0/16",
            "kubeconfig": KUBECONFIG,
            "gpu_sharing": gpus.sharing,
            "gpu_split": 10,
            "ingress": "ingress-nginx",
            "timeout": 30,
            **args,
        }
        result = run_module(verify.main, given, check=check)
        assert "checks" in result, result
        result["by_name"] = {entry["name"]: entry for entry in result["checks"]}
        return result

    return run
