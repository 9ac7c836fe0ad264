# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools
import time
import types

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_run as run
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import FakeCluster

EXPECT = Expectation(namespaces=("kube-system",))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    ticks = itertools.count(0, 0.5)
    clock = types.SimpleNamespace(sleep=lambda seconds: None, monotonic=lambda: next(ticks), time=time.time)
    monkeypatch.setattr(run, "time", clock)
    return FakeCluster()


def test_half_an_answer_is_no_picture(cluster, monkeypatch):
    whole = cluster.get

    def get(path: str) -> dict:
        if "daemonsets" in path:
            raise ApiError(500, "etcdserver: request timed out")
        return whole(path)

    monkeypatch.setattr(cluster, "get", get)
    found = run.look(cluster, EXPECT)
    assert found.nodes == []
    assert found.ready == {"status": 500, "text": "etcdserver: request timed out"}


def test_an_api_that_starts_is_waited_for(cluster, monkeypatch):
    good, answers = cluster.ready, itertools.count()

    def request(method: str, path: str) -> tuple[int, str]:
        return good if next(answers) > 4 else (500, "[-]etcd failed: reason withheld")

    monkeypatch.setattr(cluster, "request", request)
    assert run.settled(cluster, EXPECT, 120).ready["status"] == 200


def test_an_api_that_stays_away_is_given_up_soon(cluster):
    cluster.ready = (0, "connection refused")
    assert run.settled(cluster, EXPECT, 600).ready["status"] is None
    assert 10 < cluster.log.count("GET /readyz?verbose") < 100


def test_fifty_nodes(cluster):
    cluster.__init__([f"n{index}" for index in range(50)])
    traffic = run.Prober(cluster, "busybox", 120, "me").run(run.look(cluster, EXPECT))
    assert len(traffic.answers) == 50
    assert len(traffic.ring) == 50
    assert traffic.left == ""


def test_only_some_broken_paths_are_looked_into(cluster):
    names = [f"n{index}" for index in range(20)]
    cluster.__init__(names)
    cluster.no_http = set(zip(names, names[1:]))
    traffic = run.Prober(cluster, "busybox", 120, "me").run(run.look(cluster, EXPECT))
    assert len(traffic.paths) == 6


def test_the_namespace_goes_even_if_its_making_broke_off(cluster, monkeypatch):
    def create(path: str, body: dict) -> dict:
        if body["kind"] == "DaemonSet":
            raise ApiError(403, "forbidden")
        return FakeCluster.create(cluster, path, body)

    monkeypatch.setattr(cluster, "create", create)
    with pytest.raises(ApiError, match="forbidden"):
        run.Prober(cluster, "busybox", 120, "me").run(run.look(cluster, EXPECT))
    assert cluster.namespaces == {}


def test_a_kept_volume_is_removed_by_us(cluster, monkeypatch):
    monkeypatch.setattr(
        cluster, "_volume_object", lambda hit, path: {"spec": {"persistentVolumeReclaimPolicy": "Retain"}}
    )
    run.Prober(cluster, "busybox", 5, "me").run(run.look(cluster, EXPECT))
    assert "DELETE /api/v1/persistentvolumes/pvc-1" in cluster.log
