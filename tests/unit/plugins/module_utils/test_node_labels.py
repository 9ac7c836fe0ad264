# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _node_labels as rules

NODE: dict[str, t.Any] = {
    "metadata": {"name": "gpu-1.example.net", "labels": {"kubernetes.io/os": "linux", "gpu": "on", "mine": "1"}},
    "spec": {
        "taints": [
            {"key": "mine", "effect": "NoExecute"},
            {"key": "gshare.io/role", "value": "storage", "effect": "NoSchedule"},
        ]
    },
    "status": {
        "addresses": [
            {"type": "InternalIP", "address": "192.0.2.11"},
            {"type": "Hostname", "address": "gpu-1.example.net"},
        ]
    },
}
MANAGED = {"managed_labels": ["gpu", "gshare.io/gpu-mode"], "managed_taints": ["gshare.io/role"]}
TAINT = {"key": "gshare.io/role", "value": "storage", "effect": "NoSchedule"}


def test_case_68_nodes_are_found_by_address_never_by_name() -> None:
    assert list(rules.by_address([NODE, {"metadata": {"name": "new"}}])) == ["192.0.2.11"]


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"labels": {"gpu": "on"}, "taints": [TAINT]}, {}),
        ({"labels": {"gpu": "on", "a": "b"}, "taints": [TAINT]}, {"metadata": {"labels": {"a": "b"}}}),
        ({"labels": {"gpu": "off"}, "taints": [TAINT]}, {"metadata": {"labels": {"gpu": "off"}}}),
        # it left its group
        (
            {"labels": {}, "taints": []},
            {"metadata": {"labels": {"gpu": None}}, "spec": {"taints": [{"key": "mine", "effect": "NoExecute"}]}},
        ),
        # another effect is another taint
        (
            {"labels": {"gpu": "on"}, "taints": [{**TAINT, "effect": "NoExecute"}]},
            {
                "spec": {
                    "taints": [
                        {"key": "mine", "effect": "NoExecute"},
                        {"key": "gshare.io/role", "value": "storage", "effect": "NoExecute"},
                    ]
                }
            },
        ),
        (
            {"labels": {"gpu": "on"}, "taints": [{**TAINT, "value": "other"}]},
            {"spec": {"taints": [{"key": "mine", "effect": "NoExecute"}, {**TAINT, "value": "other"}]}},
        ),
    ],
)
def test_patch(wish: dict[str, t.Any], expected: dict[str, t.Any]) -> None:
    assert {key: _sorted(value) for key, value in rules.patch(NODE, {**wish, **MANAGED}).items()} == {
        key: _sorted(value) for key, value in expected.items()
    }


def _sorted(value: dict[str, t.Any]) -> dict[str, t.Any]:
    return {key: entry if isinstance(entry, dict) else sorted(entry, key=str) for key, entry in value.items()}


def test_a_taint_without_a_value_is_the_same_as_one_with_an_empty_value() -> None:
    wish = {"taints": [{"key": "mine", "value": "", "effect": "NoExecute"}, TAINT], "labels": {"gpu": "on"}}
    assert rules.patch(NODE, {**wish, **MANAGED}) == {}


def test_a_fresh_node_has_neither() -> None:
    assert rules.patch({"metadata": {"name": "new"}}, {"labels": {"a": "b"}, "taints": [TAINT]}) == {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"taints": [TAINT]},
    }


def test_describe() -> None:
    before, after = rules.describe(NODE, rules.patch(NODE, {"labels": {"gpu": "off"}, "taints": [], **MANAGED}))
    assert before == [
        "gpu-1.example.net: label gpu=on",
        "gpu-1.example.net: taint mine=:NoExecute",
        "gpu-1.example.net: taint gshare.io/role=storage:NoSchedule",
    ]
    assert after == ["gpu-1.example.net: label gpu=off", "gpu-1.example.net: taint mine=:NoExecute"]
