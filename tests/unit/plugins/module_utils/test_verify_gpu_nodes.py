# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import node
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import plugin

HOST = {"host": "a", "address": "192.0.2.11", "labels": {"gpu": "on", "gshare.io/gpu-mode": "fractional"}}


def worker(offer: dict[str, str] | None = None, **marks: str) -> dict[str, t.Any]:
    item = node("a", "192.0.2.11", labels={key.replace("_", "."): value for key, value in marks.items()})
    item["status"]["allocatable"] = offer or {}
    return item


def test_what_a_node_offers():
    assert gpus.offered(worker({"nvidia.com/gpu": "20"})) == 20
    assert gpus.offered(worker()) == 0
    shared = worker({"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "8"})
    assert (gpus.resource(shared), gpus.offered(shared)) == ("nvidia.com/gpu.shared", 8)
    assert gpus.parts(worker({"nvidia.com/mig-1g.5gb": "7", "nvidia.com/mig-2g.10gb": "0"})) == {
        "nvidia.com/mig-1g.5gb": 7
    }


def wanted(sharing: str, item: dict[str, t.Any], split: int = 0, mode: str = "fractional") -> tuple[int, str]:
    host = {**HOST, "labels": {"gpu": "on", "gshare.io/gpu-mode": mode}}
    return gpus.wanted(Snapshot(), Expectation(gpu_sharing=sharing, gpu_split=split), host, item)


def test_what_hami_should_offer():
    item = worker()
    cards = [{"id": "a", "count": 5, "mode": "hami-core"}, {"id": "b", "count": 7, "mode": "mig"}]
    item["metadata"]["annotations"]["hami.io/node-nvidia-register"] = json.dumps(cards[:1] * 2)
    assert wanted("hami", item) == (10, "2 cards x 5")
    assert wanted("hami", item, 3) == (6, "2 cards x 3")
    assert wanted("hami", item, 3, "exclusive") == (2, "2 cards x 1")
    item["metadata"]["annotations"]["hami.io/node-nvidia-register"] = json.dumps(cards)
    assert wanted("hami", item, 3) == (10, "1 card x 3 and 7 MIG parts")
    item["metadata"]["annotations"]["hami.io/node-nvidia-register"] = "broken"
    assert wanted("hami", item, 3)[0] == 0


def test_what_nvidias_plugin_should_offer():
    item = worker(nvidia_com="x")
    item["metadata"]["labels"] |= {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}
    assert wanted("nvidia", item) == (8, "2 cards x 4")
    assert wanted("nvidia", item, 3) == (6, "2 cards x 3")
    item["metadata"]["labels"] |= {"nvidia.com/mig.strategy": "single", "nvidia.com/gpu.count": "7"}
    assert wanted("nvidia", item, mode="exclusive") == (7, "7 cards x 1")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hami-device-plugin", "hami"),
        ("nvidia-device-plugin", "nvidia"),
        ("nvidia-device-plugin-daemonset", "nvidia"),
        ("hami-mock-device-plugin", ""),
    ],
)
def test_whose_plugin_it_is(name, kind):
    assert gpus.plugin_kind(plugin(name)) == kind


def term(*rules: tuple[str, str, list[str]]) -> dict[str, t.Any]:
    return {"matchExpressions": [{"key": key, "operator": verb, "values": values} for key, verb, values in rules]}


@pytest.mark.parametrize(
    ("terms", "missing"),
    [
        ([term(("gpu", "In", ["on"]))], []),
        ([term(("x", "In", ["1"])), term(("gpu", "Exists", []))], []),
        ([term(("x", "In", ["1", "2"])), term(("y", "Exists", []))], ["x=1|2 or y"]),
        ([term(("x", "In", ["1"]), ("gpu", "DoesNotExist", []))], ["x=1 and no gpu"]),
        ([term(("gpu", "NotIn", ["on"]))], ["gpu not on"]),
        ([term(("cpu", "Gt", ["3"]))], []),
    ],
)
def test_which_labels_a_node_lacks(terms, missing):
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    assert gpus.lacking(plugin("p", nodeSelector={}, affinity=affinity), worker(gpu="on")) == missing


def test_case_128_as_it_was_found(request):
    path = Path(request.path).parent / "fixtures/verify/zero-of-zero.json"
    daemonset = json.loads(path.read_text(encoding="utf-8"))
    assert daemonset["status"]["desiredNumberScheduled"] == daemonset["status"]["numberReady"] == 0
    assert gpus.lacking(daemonset, worker(gpu="on")) == ["nvidia.com/gpu.present=true"]
