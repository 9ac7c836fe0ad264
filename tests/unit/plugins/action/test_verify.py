# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import types
import typing as t

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.gshare.cluster.plugins.action import verify

CHECKS = [
    {"name": "api", "status": "ok", "detail": "fine", "remedy": "", "problems": []},
    {"name": "unlisted", "status": "warning", "detail": "x", "remedy": "y", "problems": ["x"]},
]
CUSTOM = {"name": "web", "kind": "Deployment", "query": "length(items)", "expect": 2, "remedy": "Scale it."}
VARS = {
    "groups": {"kube_cluster": ["a", "192.0.2.11"], "kube_control_plane": ["a"], "cpu_node": ["192.0.2.11"]},
    "hostvars": {"a": {"ansible_host": "192.0.2.10"}, "192.0.2.11": {"gshare_node_ip": "10.0.0.11"}},
}


class Screen:
    columns = 100

    def __init__(self) -> None:
        self.text = ""

    def display(self, text: str, color: str | None = None) -> None:
        self.text += text


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., t.Any]:
    screen = Screen()
    monkeypatch.setattr(verify, "display", screen)

    def run(args: dict[str, t.Any], *, check_mode: bool = False, **answer: t.Any) -> tuple[dict[str, t.Any], str, dict]:
        task = types.SimpleNamespace(args=args, check_mode=check_mode, async_val=0)
        plugin = verify.ActionModule.__new__(verify.ActionModule)
        plugin._task = task
        given: dict[str, t.Any] = {}

        def execute(module_args: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
            given.update(module_args)
            return {"changed": False, "checks": [dict(c) for c in CHECKS], "nodes": [], "objects": [], **answer}

        monkeypatch.setattr(plugin, "_execute_module", execute)
        monkeypatch.setattr(verify.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, VARS), screen.text, given

    return run


def test_expectation_comes_from_the_inventory(act):
    result, text, given = act({})
    assert [(host["host"], host["address"]) for host in given["hosts"]] == [
        ("a", "192.0.2.10"),
        ("192.0.2.11", "10.0.0.11"),
    ]
    assert given["hosts"][0]["labels"] == {"gshare.io/node-type": "cpu"}
    assert result["failed_checks"] == []
    assert "failed" not in result
    assert "unlisted  warning  x" in text


def test_a_failed_check_fails_the_task_with_one_sentence(act):
    result, text, _given = act({"checks": [CUSTOM]}, objects=[{"items": [{}]}])
    assert result == {
        "failed": True,
        "changed": False,
        "failed_checks": ["web"],
        "msg": "1 of 3 checks of the cluster failed: web; the table above says of each what is wrong and what to do.",
    }
    assert "length(items) is 1, expected is 2" in text
    assert "Remedy: Scale it." in text


def test_check_mode_can_be_told_not_to_fail(act):
    args = {"checks": [CUSTOM], "fail_in_check_mode": False}
    assert act(args, objects=[{"items": []}], check_mode=True)[0]["failed_checks"] == ["web"]
    assert act(args, objects=[{"items": []}])[0]["failed"]


def test_mistakes_in_checks_stop_before_anything_runs(act):
    with pytest.raises(AnsibleActionFail) as caught:
        act({"checks": [{"name": "x"}, {**CUSTOM, "query": "("}]})
    assert "entry 1 (x): missing: kind, query, expect, remedy." in str(caught.value)
    assert "entry 2 (web): query is not JMESPath" in str(caught.value)


def test_json(act, tmp_path):
    path = tmp_path / "reports/verify.json"
    act({"json_path": str(path)})
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["ok"] is True
    assert [check["name"] for check in report["checks"]] == ["api", "unlisted"]


def test_json_that_cannot_be_written(act, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(AnsibleActionFail, match="cannot be written"):
        act({"json_path": str(tmp_path / "file/x.json")})


def test_objects_stay_out_of_the_result(act):
    assert "objects" not in act({})[0]


def test_an_error_of_the_module_is_passed_on(act):
    result, text, _given = act({}, failed=True, msg="no")
    assert (result["msg"], text) == ("no", "")
