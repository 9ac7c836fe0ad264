# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.filter import disrupted, gpu_workers
from ansible_collections.gshare.cluster.plugins.plugin_utils import _disrupt

GROUPS = {
    "kube_cluster": ["192.0.2.10", "192.0.2.11", "192.0.2.12"],
    "kube_control_plane": ["192.0.2.10"],
    "gpu_node": ["192.0.2.11", "192.0.2.12"],
    "gpu_exclusive": ["192.0.2.12"],
}
HOSTVARS: dict[str, t.Any] = {name: {} for name in GROUPS["kube_cluster"]}


def test_only_gpu_workers_with_their_mode() -> None:
    first, second = gpu_workers.FilterModule().filters()["gpu_workers"](GROUPS, HOSTVARS, "192.0.2.12")
    assert (first["host"], first["address"], first["disrupt"]) == ("192.0.2.11", "192.0.2.11", False)
    assert first["labels"] == {"gpu": "on", "gshare.io/gpu": "true", "gshare.io/gpu-mode": "fractional"}
    assert (second["labels"]["gshare.io/gpu-mode"], second["disrupt"]) == ("exclusive", True)


def test_a_cluster_without_gpu_workers() -> None:
    assert gpu_workers.gpu_workers({"kube_cluster": ["a"]}, {"a": {}}) == []


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("a", True),
        ("b, a", True),
        ("b a", True),
        (["a"], True),
        ("all", True),
        ("", False),
        ([], False),
        ("ab", False),
        (None, False),
    ],
)
def test_who_may_be_disturbed(wanted: t.Any, answer: bool) -> None:
    assert disrupted.FilterModule().filters()["disrupted"](wanted, "a") is answer
    assert _disrupt.disrupted("a", wanted) is answer
