# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.filter.node_labels import FilterModule

node_labels = FilterModule().filters()["node_labels"]
GROUPS = {
    "kube_cluster": ["192.0.2.10", "192.0.2.11", "gpu-2", "192.0.2.13", "192.0.2.14"],
    "kube_control_plane": ["192.0.2.10"],
    "gpu_node": ["192.0.2.11", "gpu-2"],
    "gpu_exclusive": ["192.0.2.11"],
    "gpu_fractional": ["gpu-2"],
    "cpu_node": ["192.0.2.13"],
    "storage_node": ["192.0.2.14"],
}
HOSTS: dict[str, dict[str, t.Any]] = {name: {} for name in GROUPS["kube_cluster"]}
HOSTS["192.0.2.11"] = {"gshare_gpu_mode": "exclusive"}
HOSTS["gpu-2"] = {"ansible_host": "192.0.2.12"}
HOSTS["192.0.2.13"] = {
    "gshare_node_ip": "198.51.100.13",
    "gshare_node_labels": {"rack": 7},
    "gshare_node_taints": [{"key": "slow", "effect": "NoSchedule"}],
}


def test_labels_follow_the_groups() -> None:
    found = {entry["address"]: entry for entry in node_labels(GROUPS, HOSTS)}
    assert list(found) == ["192.0.2.10", "192.0.2.11", "192.0.2.12", "198.51.100.13", "192.0.2.14"]
    gpu = {"gpu": "on", "gshare.io/gpu": "true"}
    assert found["192.0.2.10"]["labels"] == {"gshare.io/node-type": "cpu"}
    assert found["192.0.2.11"]["labels"] == {**gpu, "gshare.io/gpu-mode": "exclusive"}
    assert found["192.0.2.12"]["labels"] == {**gpu, "gshare.io/gpu-mode": "fractional"}
    assert found["198.51.100.13"]["labels"] == {"gshare.io/node-type": "cpu", "rack": "7"}
    assert found["192.0.2.14"]["labels"] == {"gshare.io/node-type": "storage", "gshare.io/role": "storage"}


def test_taints() -> None:
    found = {entry["address"]: entry["taints"] for entry in node_labels(GROUPS, HOSTS)}
    assert found["192.0.2.14"] == [{"key": "gshare.io/role", "value": "storage", "effect": "NoSchedule"}]
    assert found["198.51.100.13"] == [{"key": "slow", "effect": "NoSchedule"}]
    assert found["192.0.2.10"] == []


def test_an_inventory_with_a_control_plane_alone() -> None:
    groups = {"kube_cluster": ["192.0.2.10"], "kube_control_plane": ["192.0.2.10"]}
    assert len(node_labels(groups, {"192.0.2.10": {}})) == 1
    assert node_labels({}, {}) == []
