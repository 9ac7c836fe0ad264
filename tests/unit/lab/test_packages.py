# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's packages have the names, versions, dependencies and places of the true ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from nodelab import packages, versions
from nodelab.deb import Package

PROGRAMS = ["kubelet", "kubeadm", "kubectl", "crictl", *packages.CNI_PROGRAMS]
RUNTIME = ["containerd", "containerd-shim-runc-v2", "ctr", "runc"]


@pytest.fixture
def binaries(tmp_path: Path) -> Path:
    for name in (*PROGRAMS, *RUNTIME):
        (tmp_path / name).write_bytes(b"ELF")
    return tmp_path


@pytest.fixture
def kubernetes(binaries: Path) -> dict[str, Package]:
    return {package.name: package for package in packages.kubernetes_packages(binaries)}


def paths_of(package: Package) -> dict[str, int]:
    return {item.path: item.mode for item in package.contents}


def test_the_packages_of_a_minor_release(kubernetes: dict[str, Package]) -> None:
    assert {name: package.version for name, package in kubernetes.items()} == {
        "kubelet": f"{versions.KUBERNETES}-1.1",
        "kubeadm": f"{versions.KUBERNETES}-1.1",
        "kubectl": f"{versions.KUBERNETES}-1.1",
        "cri-tools": f"{versions.CRI_TOOLS}-1.1",
        "kubernetes-cni": f"{versions.CNI_PLUGINS}-1.1",
    }
    assert versions.KUBERNETES.startswith(f"{versions.KUBERNETES_MINOR}.")


def test_kubelet(kubernetes: dict[str, Package]) -> None:
    kubelet = kubernetes["kubelet"]
    assert kubelet.fields()["Depends"] == "kubernetes-cni (>= 1.2.0), mount, util-linux"
    assert kubelet.fields()["Recommends"] == "iptables (>= 1.8.4)"
    assert paths_of(kubelet) == {
        "/usr/bin/kubelet": 0o755,
        "/usr/lib/systemd/system/kubelet.service": 0o600,
        "/etc/default/kubelet": 0o644,
        "/var/lib/kubelet/.kubelet-keep": 0o644,
        "/etc/kubernetes/manifests/.kubelet-keep": 0o644,
    }
    assert set(kubelet.scripts) == {"postinst", "prerm", "postrm"}
    assert kubelet.conffiles == ["/etc/default/kubelet"]


def test_kubeadm_brings_the_drop_in_and_depends_on_nothing(kubernetes: dict[str, Package]) -> None:
    assert "Depends" not in kubernetes["kubeadm"].fields()
    assert set(paths_of(kubernetes["kubeadm"])) == {
        "/usr/bin/kubeadm",
        "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
    }


def test_the_cni_plugins_are_where_kubelet_looks(kubernetes: dict[str, Package]) -> None:
    assert "/opt/cni/bin/loopback" in paths_of(kubernetes["kubernetes-cni"])


@pytest.mark.parametrize(("suite", "number"), versions.SUITES.items())
def test_containerd(binaries: Path, suite: str, number: str) -> None:
    package = packages.containerd_package(suite, binaries, binaries / "runc")
    assert package.version == f"{versions.CONTAINERD}-1~debian.{number}~{suite}"
    for field in ("Conflicts", "Replaces", "Provides"):
        assert package.fields()[field] == "containerd, runc"
    assert package.conffiles == ["/etc/containerd/config.toml"]
    config = next(item.source for item in package.contents if item.path == "/etc/containerd/config.toml")
    assert isinstance(config, Path)
    assert 'disabled_plugins = ["cri"]\n' in config.read_text(encoding="utf-8")
    assert {f"/usr/bin/{name}" for name in RUNTIME} <= set(paths_of(package))
