# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_look as looking
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import FakeCluster, stop_clock

EXPECT = Expectation(namespaces=("kube-system",))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    stop_clock(monkeypatch, [looking], 0.5)
    return FakeCluster()


def test_half_an_answer_is_no_picture(cluster, monkeypatch):
    whole = cluster.get

    def get(path: str) -> dict:
        if "daemonsets" in path:
            raise ApiError(500, "etcdserver: request timed out")
        return whole(path)

    monkeypatch.setattr(cluster, "get", get)
    found = looking.look(cluster, EXPECT)
    assert found.nodes == []
    assert found.ready == {"status": 500, "text": "etcdserver: request timed out"}


def test_an_api_that_starts_is_waited_for(cluster, monkeypatch):
    good, answers = cluster.ready, itertools.count()

    def request(method: str, path: str) -> tuple[int, str]:
        return good if next(answers) > 4 else (500, "[-]etcd failed: reason withheld")

    monkeypatch.setattr(cluster, "request", request)
    assert looking.settled(cluster, EXPECT, 120, looking.look(cluster, EXPECT)).ready["status"] == 200


def test_an_api_that_stays_away_is_given_up_soon(cluster):
    cluster.ready = (0, "connection refused")
    assert looking.settled(cluster, EXPECT, 600, looking.look(cluster, EXPECT)).ready["status"] is None
    assert 10 < cluster.log.count("GET /readyz?verbose") < 100
