# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.module_utils._verify import OBJECTS, TRAFFIC, evaluate, rows
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot, Traffic
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import node, not_ready

HOST = {"host": "gpu-1.example.net", "address": "192.0.2.11", "labels": {}, "roles": ["gpu exclusive"]}


def test_names_are_unique_and_documented(request):
    found = Snapshot(ready={"status": 200}, version="v1.36.3", nodes=[node("a", "192.0.2.1")], traffic=Traffic())
    names = [check.name for check in evaluate(found, Expectation())]
    assert len(names) == len(set(names)) == 1 + len(OBJECTS) + len(TRAFFIC) + 1
    page = (request.config.rootpath / "docs/verify.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_without_an_api_nothing_else_is_said():
    found = evaluate(Snapshot(ready={"status": None, "text": "refused"}), Expectation())
    assert [(check.name, check.status) for check in found] == [("api", "failed"), ("everything else", "skipped")]


def test_rows_have_the_inventory_first():
    nodes = [not_ready(node("other", "192.0.2.50")), node("gpu-1", "192.0.2.11"), node("cp", "192.0.2.10")]
    found = rows(Snapshot(nodes=nodes), Expectation(hosts=(HOST,)))
    assert [(row["name"], row["host"], row["roles"], row["ready"]) for row in found] == [
        ("gpu-1", "gpu-1.example.net", ["gpu exclusive"], True),
        ("other", "", [], False),
        ("cp", "", ["control plane"], True),
    ]
    assert found[0]["version"] == "v1.36.3"
