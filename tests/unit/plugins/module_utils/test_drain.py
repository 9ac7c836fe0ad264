# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain
from ansible_collections.gshare.cluster.tests.unit.plugins.drain_fakes import (
    REFUSAL,
    Json,
    disruption_budget,
    node,
    pod,
    volume,
)


def rule(**more: t.Any) -> Json:
    return {"key": "kubernetes.io/hostname", "operator": "In", "values": ["gpu1"], **more}


@pytest.mark.parametrize(
    ("terms", "pinned"),
    [
        ([{"matchExpressions": [rule()]}], True),
        ([{"matchFields": [rule(key="metadata.name")]}], True),
        ([{"matchExpressions": [rule(), rule(key="zone", values=["a"])]}], True),
        ([{"matchExpressions": [rule()]}, {"matchExpressions": [rule(values=["gpu2"])]}], False),
        ([{"matchExpressions": [rule(values=["gpu1", "gpu2"])]}], False),
        ([{"matchExpressions": [rule(operator="NotIn")]}], False),
        ([{"matchExpressions": [rule(key="zone", values=["a"])]}], False),
        ([], False),
    ],
)
def test_volumes_that_only_this_node_reaches(terms: list[Json], pinned: bool) -> None:
    one = volume("pv-1", "data")
    one["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    assert drain.pinned(one, node()) is pinned
    del one["spec"]["claimRef"]
    assert not drain.pinned(one, node()), "nobody uses it"


def test_a_node_whose_hostname_label_differs_from_its_name() -> None:
    other = node("gpu1.example.net", **{"kubernetes.io/hostname": "gpu1"})
    assert drain.pinned(volume("pv-1", "data", "gpu1"), other)


@pytest.mark.parametrize(
    ("selector", "covers"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "x"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
        ({}, True),
        (None, False),
    ],
)
def test_the_budget_that_is_named_is_the_one_that_covers_the_pod(selector: Json | None, covers: bool) -> None:
    item = disruption_budget("web")
    item["spec"]["selector"] = selector
    assert ("team/web" in drain.budget(pod("web-1", app="web"), REFUSAL, [item])) is covers


def test_a_budget_of_another_namespace_is_not_named() -> None:
    item = disruption_budget("web", app="web")
    item["metadata"]["namespace"] = "other"
    assert drain.budget(pod("web-1", app="web"), REFUSAL, [item]).startswith("Cannot evict pod")


def test_long_lists_are_cut() -> None:
    found = drain.work([pod(f"bare-{index}", owner="") for index in range(9)], [], node())
    (told,) = drain.objections(found, force=False, delete_local_data=False)
    assert "team/bare-5 and 3 more" in told
