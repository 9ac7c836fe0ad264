# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight looks for what other roles will do, and reads no variable of theirs: what both know must be the same."""

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.tests.unit.roles.settings import value


@pytest.mark.parametrize("settings", [{}, {"gshare_api_port": "8443"}, {"gshare_api_port": 8443}])
def test_the_port_of_the_api_server(settings: dict[str, object]) -> None:
    port = value("kubeadm", "kubeadm_api_port | int", **settings)
    assert port == (8443 if settings else 6443)
    assert value("preflight", "__preflight_settings.api_port | int", **settings) == port
    assert port in value("preflight", "__preflight_ports", **settings)


@pytest.mark.parametrize("version", ["1.36", "1.36.5", "1.40"])
def test_cases_81_and_83_the_entry_for_the_kubernetes_packages(version: str) -> None:
    wanted = value("preflight", "__preflight_settings.apt_source", gshare_kubernetes_version=version)
    assert wanted == {
        "uri": value("kubeadm", "kubeadm_repository", gshare_kubernetes_version=version),
        "file": value("kubeadm", "__kubeadm_sources_file"),
        "signed_by": value("kubeadm", "__kubeadm_key_file"),
    }


def test_case_81_the_entry_for_dockers_packages() -> None:
    wanted = value("preflight", "__preflight_settings.docker_source")
    wanted.pop("systems")
    assert wanted == {
        "uri": value("containerd", "containerd_repository_url"),
        "file": value("containerd", "__containerd_repository_file"),
        "signed_by": value("containerd", "__containerd_repository_key"),
        "minimum": value("containerd", "containerd_minimum_version"),
    }


def test_case_81_the_entries_for_nvidias_packages() -> None:
    assert value("preflight", "__preflight_settings.nvidia_sources") == {
        "toolkit": {
            "uri": value("nvidia_runtime", "nvidia_runtime_repository_url") + "/$(ARCH)",
            "file": value("nvidia_runtime", "__nvidia_runtime_sources_file"),
            "signed_by": value("nvidia_runtime", "__nvidia_runtime_key_file"),
        },
        "driver": {
            "uri": value("nvidia_driver", "nvidia_driver_repository_url"),
            "file": "/etc/apt/sources.list.d/gshare-nvidia.sources",
            "signed_by": value("nvidia_driver", "__nvidia_driver_repository_key_file"),
        },
    }
