# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import types
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.action import preflight_report

GROUPS = {
    "kube_cluster": ["192.0.2.10", "192.0.2.11"],
    "kube_control_plane": ["192.0.2.10"],
    "cpu_node": ["192.0.2.11"],
}
GONE = {"facts": {}, "problem": {"name": "unreachable", "text": "No route to host"}, "clock": {}}


class Screen:
    columns = 100

    def __init__(self) -> None:
        self.text = ""

    def display(self, text: str, color: str | None = None) -> None:
        self.text += text + "\n"


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., t.Any]:
    monkeypatch.setattr(preflight_report.ActionBase, "run", lambda self, tmp, task_vars: {})

    def run(args: dict[str, t.Any], groups: dict[str, list[str]] | None = None, **hostvars: t.Any) -> tuple[dict, str]:
        screen = Screen()
        monkeypatch.setattr(preflight_report, "display", screen)
        plugin = preflight_report.ActionModule.__new__(preflight_report.ActionModule)
        plugin._task = types.SimpleNamespace(args=args, async_val=0)
        groups = GROUPS if groups is None else groups
        known = {name: hostvars.get("variables", {}).get(name, {}) for name in groups.get("kube_cluster", [])}
        return plugin.run(None, {"groups": groups, "hostvars": known}), screen.text

    return run


def test_a_good_inventory_is_not_worth_a_word(act):
    result, text = act({"stage": "inventory"})
    assert (result.get("failed"), result["findings"], text) == (None, [], "")


def test_an_inventory_without_machines_fails(act):
    result, text = act({"stage": "inventory"}, groups={})
    assert result["failed"] is True
    assert "It names no machine of a cluster." in text


def test_addresses_are_resolved_before_any_machine_is_touched(act):
    variables = {"192.0.2.11": {"gshare_node_ip": "no-such-name.invalid"}}
    result, text = act({"stage": "inventory"}, variables=variables)
    assert result["failed"] is True
    assert "address_unresolved" in text


def test_a_machine_that_does_not_answer_does_not_hide_the_others(act):
    result, text = act({"gathered": {"192.0.2.10": GONE, "192.0.2.11": {"msg": "time ran out", "failed": True}}})
    assert result["failed"] is True
    assert "unreachable" in text
    assert "gather_failed" in text
    assert "time ran out" in text
    assert result["msg"].startswith("preflight: 2 errors (192.0.2.10 and 192.0.2.11), nothing was changed")


def test_machines_outside_the_limit_are_left_out(act):
    _result, text = act({"gathered": {"192.0.2.11": GONE}})
    assert "192.0.2.10" not in text


def test_the_findings_are_written_as_json(act, tmp_path: Path):
    path = tmp_path / "new" / "out.json"
    act({"gathered": {"192.0.2.10": GONE}, "json": str(path)})
    report = json.loads(path.read_text())
    assert report["ok"] is False
    assert report["findings"][0]["name"] == "unreachable"
    assert [item.name for item in path.parent.iterdir()] == ["out.json"]


def test_an_unknown_name_in_accept_is_told_with_the_nearest(act):
    _result, text = act({"stage": "inventory", "settings": {"accept": ["cgroupv1"]}})
    assert "did you mean cgroup_v1" in " ".join(text.split())
