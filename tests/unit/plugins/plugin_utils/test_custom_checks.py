# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _custom_checks
from ansible_collections.gshare.cluster.plugins.plugin_utils._custom_checks import evaluate, problems

GOOD = {
    "name": "web",
    "kind": "Deployment",
    "query": "items[0].status.readyReplicas",
    "expect": 3,
    "remedy": "Scale it.",
}


def test_good_entries():
    assert problems([GOOD, {**GOOD, "name": "other", "namespace": "shop", "api_version": "apps/v1"}]) == []
    assert problems([]) == []


def test_all_mistakes_are_reported_at_once():
    found = problems(
        [
            GOOD,
            "web",
            {"name": "a", "kind": "Pod", "querry": "items", "expect": 1, "remedy": "x"},
            {**GOOD, "query": "items[?", "name": "b"},
            {**GOOD, "kind": 5, "name": "c"},
            {**GOOD, "remedy": " "},
        ]
    )
    assert found == [
        "gshare_checks, entry 2: a check is a dictionary with name, kind, query, expect, remedy, not a text.",
        "gshare_checks, entry 3 (a): there is no key querry, query is meant?",
        "gshare_checks, entry 3 (a): missing: query.",
        found[3],
        "gshare_checks, entry 5 (c): kind is a text that is not empty, not a number.",
        "gshare_checks, entry 6 (web): remedy is a text that is not empty, not a text.",
        "gshare_checks, entry 6 (web): entry 1 has the same name, give each its own.",
    ]
    assert found[3].startswith("gshare_checks, entry 4 (b): query is not JMESPath: ")
    assert "\n" not in found[3]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("length(items[?starts_with(metadata.name, 'a')].max_by(@, &n))", []),
        ("lenght(items)", ["query: JMESPath has no function lenght, length is meant?"]),
        ("items[?frobnicate(n)].{a: foo_bar(@)} | [0]", ["no function frobnicate", "no function foo_bar"]),
    ],
)
def test_functions_that_there_are_not(query, texts):
    found = problems([{**GOOD, "query": query}])
    assert len(found) == len(texts)
    assert all(text in " ".join(found) for text in texts)


def test_a_controller_without_jmespath(monkeypatch):
    monkeypatch.setattr(_custom_checks, "jmespath", None)
    assert problems([]) == []
    assert problems([GOOD, {**GOOD, "name": "b"}]) == [
        "gshare_checks needs the Python package jmespath beside ansible-core: pip install jmespath."
    ]


def test_not_a_list():
    assert problems({"name": "x"}) == ["gshare_checks is a list of checks, not a dictionary."]


@pytest.mark.parametrize(
    ("query", "expect", "status"),
    [
        ("items[0].n", 3, "ok"),
        ("items[0].n", "3", "failed"),
        ("items[0].on", True, "ok"),
        ("items[0].on", 1, "failed"),
        ("length(items)", 2, "ok"),
        ("items[].n", [3, 4], "ok"),
        ("items[?n > `3`].name | [0]", "b", "ok"),
        ("items[0].missing", None, "ok"),
        ("length(items[0].n)", 1, "failed"),
    ],
)
def test_evaluate(query, expect, status):
    objects = [{"items": [{"name": "a", "n": 3, "on": True}, {"name": "b", "n": 4}]}]
    (found,) = evaluate([{**GOOD, "query": query, "expect": expect}], objects)
    assert found["status"] == status
    assert found["remedy"] == ("Scale it." if status == "failed" else "")


def test_both_values_are_shown():
    (found,) = evaluate([GOOD], [{"items": []}])
    assert found["detail"] == "items[0].status.readyReplicas is null, expected is 3"


def test_unknown_kind():
    (found,) = evaluate([GOOD], [{"error": "the cluster has no kind Deploymint"}])
    assert (found["status"], found["detail"]) == ("failed", "the cluster has no kind Deploymint")
