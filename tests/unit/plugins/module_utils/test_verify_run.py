# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_run as run
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_look import look
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import FakeCluster, stop_clock

EXPECT = Expectation(namespaces=("kube-system",))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    stop_clock(monkeypatch, [run], 0.5)
    return FakeCluster()


def probe(cluster, timeout):
    with run.Prober(cluster, "busybox", timeout, "me") as prober:
        return prober.run(look(cluster, EXPECT))


def test_probes_are_made_once_and_as_early_as_wished(cluster):
    with run.Prober(cluster, "busybox", 120, "me") as prober:
        prober.start(look(cluster, EXPECT))
        assert [name for name in cluster.namespaces if name == prober.namespace]
        prober.run(look(cluster, EXPECT))
    made = [line for line in cluster.log if line.startswith("POST")]
    assert len(made) == len(set(made))
    assert cluster.namespaces == {}


def test_what_could_not_be_made_at_first_is_made_later(cluster, monkeypatch):
    answers = iter([ApiError(503, "not yet")])

    def create(path: str, body: dict) -> dict:
        for answer in answers:
            raise answer
        return FakeCluster.create(cluster, path, body)

    monkeypatch.setattr(cluster, "create", create)
    with run.Prober(cluster, "busybox", 120, "me") as prober:
        with pytest.raises(ApiError, match="not yet"):
            prober.start(look(cluster, EXPECT))
        assert prober.run(look(cluster, EXPECT)).claim["written"]
    assert cluster.namespaces == {}


def test_fifty_nodes(cluster):
    cluster.__init__([f"n{index}" for index in range(50)])
    traffic = probe(cluster, 120)
    assert len(traffic.answers) == 50
    assert len(traffic.ring) == 50
    assert traffic.left == ""


def test_only_some_broken_paths_are_looked_into(cluster):
    names = [f"n{index}" for index in range(20)]
    cluster.__init__(names)
    cluster.no_http = set(zip(names, names[1:]))
    traffic = probe(cluster, 120)
    assert len(traffic.paths) == 6


def test_the_namespace_goes_even_if_its_making_broke_off(cluster, monkeypatch):
    def create(path: str, body: dict) -> dict:
        if body["kind"] == "DaemonSet":
            raise ApiError(403, "forbidden")
        return FakeCluster.create(cluster, path, body)

    monkeypatch.setattr(cluster, "create", create)
    with pytest.raises(ApiError, match="forbidden"):
        probe(cluster, 120)
    assert cluster.namespaces == {}


def test_a_kept_volume_is_removed_by_us(cluster, monkeypatch):
    monkeypatch.setattr(
        cluster, "_volume_object", lambda hit, path: {"spec": {"persistentVolumeReclaimPolicy": "Retain"}}
    )
    probe(cluster, 5)
    assert "DELETE /api/v1/persistentvolumes/pvc-1" in cluster.log
