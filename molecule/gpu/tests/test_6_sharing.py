# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From HAMi to NVIDIA's own device plugin and back."""

from __future__ import annotations

import pytest

FRACTIONAL, EXCLUSIVE = ("gpu1", "gpu2"), ("gpu3", "gpu4")


def capacity(machines, node: str) -> int:
    return int(machines.kubectl("get", "node", node, "-o", "json")["status"]["allocatable"]["nvidia.com/gpu"])


def holders(machines) -> set[str]:
    """The daemon sets that hand out cards."""
    items = machines.kubectl("get", "daemonsets", "-A", "-o", "json")["items"]
    names = {item["metadata"]["name"] for item in items}
    return names & {"hami-device-plugin", "nvidia-device-plugin"}


def test_hami_splits_the_cards_of_fractional_machines(machines) -> None:
    assert [capacity(machines, node) for node in FRACTIONAL] == [20, 20]
    assert [capacity(machines, node) for node in EXCLUSIVE] == [2, 2]
    assert holders(machines) == {"hami-device-plugin"}


@pytest.fixture(scope="module")
def switched(playbooks):
    return playbooks.run("up", "-e", "gshare_gpu_sharing=nvidia", "-e", "gshare_gpu_split=4")


def test_time_slicing_shows_four_times_the_cards(switched, machines) -> None:
    assert switched.status == 0
    assert [capacity(machines, node) for node in FRACTIONAL] == [8, 8]
    assert [capacity(machines, node) for node in EXCLUSIVE] == [2, 2]
    assert holders(machines) == {"nvidia-device-plugin"}


def test_hami_has_left_nothing(switched, machines) -> None:
    for node in machines.kubectl("get", "nodes", "-o", "json")["items"]:
        assert not [name for name in node["metadata"].get("annotations", {}) if name.startswith("hami.io/")]
    leases = machines.kubectl("-n", "kube-system", "get", "leases", "-o", "json")["items"]
    assert "hami-scheduler" not in {lease["metadata"]["name"] for lease in leases}


def test_and_back(switched, playbooks, machines) -> None:
    assert playbooks.run("up").status == 0
    assert [capacity(machines, node) for node in FRACTIONAL] == [20, 20]
    assert holders(machines) == {"hami-device-plugin"}
    assert playbooks.run("up").changed == {}
