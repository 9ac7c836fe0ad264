# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kube_api
from ansible_collections.gshare.cluster.plugins.modules import node_labels
from ansible_collections.gshare.cluster.tests.unit.plugins.module_utils.test_node_labels import NODE, TAINT


class FakeApi:
    """Applies a merge patch as the API does."""

    def __init__(self) -> None:
        self.nodes = [copy.deepcopy(NODE)]

    def items(self, path: str) -> list[dict[str, t.Any]]:
        assert path == "/api/v1/nodes"
        return copy.deepcopy(self.nodes)

    def patch(self, path: str, change: dict[str, t.Any]) -> None:
        (node,) = [entry for entry in self.nodes if path == f"/api/v1/nodes/{entry['metadata']['name']}"]
        for key, value in change.get("metadata", {}).get("labels", {}).items():
            labels = node["metadata"]["labels"]
            labels.update({key: value}) if value is not None else labels.pop(key, None)
        node["spec"].update(change.get("spec", {}))


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi()
    monkeypatch.setattr(node_labels, "connect", lambda module: fake)
    return fake


ARGS = {
    "nodes": [{"address": "192.0.2.11", "labels": {"gshare.io/node-type": "cpu"}}],
    "managed_labels": ["gpu"],
    "managed_taints": ["gshare.io/role"],
}


def test_check_run_and_run_again(api: FakeApi, run_module: t.Any) -> None:
    predicted = run_module(node_labels.main, ARGS, check=True, diff=True)
    assert api.nodes == [NODE]
    done = run_module(node_labels.main, ARGS, diff=True)
    again = run_module(node_labels.main, ARGS)
    assert predicted["changed"]
    assert done["changed"]
    assert not again["changed"]
    assert predicted["diff"] == done["diff"]
    assert done["nodes"] == ["gpu-1.example.net"]
    assert api.nodes[0]["metadata"]["labels"] == {
        "kubernetes.io/os": "linux",
        "mine": "1",
        "gshare.io/node-type": "cpu",
    }
    assert api.nodes[0]["spec"]["taints"] == [{"key": "mine", "effect": "NoExecute"}]


def test_a_node_that_is_missing_keeps_nobody_waiting(api: FakeApi, run_module: t.Any) -> None:
    args = {**ARGS, "nodes": [*ARGS["nodes"], {"address": "192.0.2.99", "taints": [TAINT]}]}
    result = run_module(node_labels.main, args)
    assert result["missing"] == ["192.0.2.99"]
    assert result["changed"]
    assert not run_module(node_labels.main, args)["changed"]


def test_without_the_client(monkeypatch: pytest.MonkeyPatch, run_module: t.Any) -> None:
    monkeypatch.setattr(_kube_api, "import_error", lambda: "Traceback")
    result = run_module(node_labels.main, ARGS)
    assert result["failed"]
    assert "kubernetes" in result["msg"]


def test_an_api_that_does_not_answer(api: FakeApi, monkeypatch: pytest.MonkeyPatch, run_module: t.Any) -> None:
    def refuse(path: str) -> t.NoReturn:
        raise _kube_api.ApiError(0, "https://192.0.2.10:6443: connection refused")

    monkeypatch.setattr(api, "items", refuse)
    result = run_module(node_labels.main, ARGS)
    assert result["msg"] == "The nodes cannot be labelled: https://192.0.2.10:6443: connection refused"
