# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_pods

Json = dict[str, t.Any]


def pod(name: str, node: str = "gpu1", phase: str = "Running", resource: str = "nvidia.com/gpu") -> Json:
    return {
        "metadata": {"namespace": "team", "name": name},
        "spec": {"nodeName": node, "containers": [{"resources": {"limits": {resource: "1"}}}]},
        "status": {"phase": phase},
    }


NODES = [
    {"metadata": {"name": name}, "status": {"addresses": [{"type": "InternalIP", "address": address}]}}
    for name, address in (("gpu1", "192.0.2.11"), ("gpu2", "192.0.2.12"))
]


def test_gpu_pods_count_while_they_run() -> None:
    pods = [pod("a"), pod("b", phase="Succeeded"), pod("c", node=""), pod("d", resource="cpu"), pod("e", "gpu2")]
    assert [one["name"] for one in _gpu_pods.gpu_pods(pods)] == ["a", "e"]
    workers = [{"host": "one", "address": "192.0.2.11", "disrupt": True}]
    assert _gpu_pods.kept(pods, NODES, workers) == ["pod team/e uses a GPU on gpu2"]
    assert len(_gpu_pods.kept(pods, NODES, [])) == 2


def test_a_pod_that_waits_for_its_images_has_its_card_already() -> None:
    assert [one["name"] for one in _gpu_pods.gpu_pods([pod("a", phase="Pending")])] == ["a"]


def test_a_card_that_only_a_first_container_asks_for_counts() -> None:
    """Beside containers that ask for nothing, whose resources are empty or left out."""
    mixed = pod("a")
    mixed["spec"] = {
        "nodeName": "gpu1",
        "initContainers": mixed["spec"]["containers"],
        "containers": [{}, {"resources": {}}, {"resources": {"limits": None}}],
    }
    assert [one["name"] for one in _gpu_pods.gpu_pods([mixed])] == ["a"]
