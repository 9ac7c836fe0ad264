# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's side, with the machine's answers made up."""

from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.action import chart

Json = dict[str, t.Any]
ARGS = {
    "release": "hami",
    "namespace": "kube-system",
    "chart": "hami",
    "version": "2.10.0",
    "repository": "https://example.net",
    "values": {"a": 1},
    "wait": 60,
}
LOOK: Json = {"change": "nothing", "reasons": [], "pending": [], "conflicts": [], "held_back": []}
TEXTS = {"before": "a = 0\n", "after": "a = 1\n"}


class Machine:
    def __init__(self, **look: t.Any) -> None:
        self.look = {**LOOK, **TEXTS, **look}
        self.helm: Json = {"changed": True, "warnings": ["install helm diff"]}
        self.wait: Json = {}
        self.calls: list[str] = []
        self.helm_args: Json = {}

    def answer(self, module_name: str, module_args: Json, task_vars: Json) -> Json:
        if module_name == "kubernetes.core.helm":
            self.calls.append("helm")
            self.helm_args = module_args
            return self.helm
        self.calls.append(module_args["_step"])
        return {"look": self.look, "wait": self.wait}.get(module_args["_step"], {})


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., Json]:
    def run(machine: Machine, args: Json | None = None, *, check: bool = False, diff: bool = False) -> Json:
        plugin = chart.ActionModule.__new__(chart.ActionModule)
        plugin._task = types.SimpleNamespace(args=args or ARGS, check_mode=check, diff=diff, async_val=0)
        monkeypatch.setattr(plugin, "_execute_module", machine.answer)
        monkeypatch.setattr(chart.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, {})

    return run


Act = t.Callable[..., Json]


def test_a_release_that_is_as_wanted_needs_no_helm(act: Act) -> None:
    machine = Machine()
    result = act(machine, diff=True)
    assert (result["changed"], "diff" in result) == (False, False)
    assert machine.calls == ["look", "wait"]


def test_install(act: Act) -> None:
    machine = Machine(change="install", reasons=["hami is not installed"])
    result = act(machine, diff=True)
    assert machine.calls == ["look", "helm", "wait"]
    assert (result["changed"], result["reasons"]) == (True, ["hami is not installed"])
    assert "warnings" not in result
    assert result["diff"] == {**TEXTS, "before_header": "release hami", "after_header": "release hami"}
    assert machine.helm_args == {
        "release_name": "hami",
        "release_namespace": "kube-system",
        "kubeconfig": "/etc/kubernetes/admin.conf",
        "chart_ref": "hami",
        "chart_version": "2.10.0",
        "chart_repo_url": "https://example.net",
        "release_values": {"a": 1},
        "create_namespace": True,
        "history_max": 5,
        "force": False,
        "timeout": "300s",
    }


def test_check_mode_predicts_without_helm(act: Act) -> None:
    machine = Machine(change="upgrade", reasons=["a: 0 instead of 1"], pending=["x"])
    result = act(machine, check=True, diff=True)
    assert machine.calls == ["look"]
    assert result["changed"]
    assert result["diff"]["after"] == TEXTS["after"]


def test_what_a_killed_helm_left_goes_first(act: Act) -> None:
    machine = Machine(change="install", pending=["sh.helm.release.v1.hami.v1"])
    act(machine)
    assert machine.calls == ["look", "clear", "helm", "wait"]


def test_a_workload_that_is_gone_comes_back(act: Act) -> None:
    machine = Machine(change="repair")
    args = {key: value for key, value in ARGS.items() if key != "values"}
    assert "diff" not in act(machine, args)
    assert (machine.helm_args["force"], machine.helm_args["release_values"]) == (True, {})


def test_gpu_pods_hold_an_upgrade_back(act: Act) -> None:
    users = [f"pod team/{name} uses a GPU on gpu1" for name in "abcdef"]
    machine = Machine(change="upgrade", reasons=["a: 0 instead of 1"], held_back=users)
    result = act(machine, diff=True)
    assert machine.calls == ["look"]
    assert (result["changed"], result["change"], result["reasons"]) == (False, "nothing", [])
    (sentence,) = result["held_back"]
    assert result["warnings"] == [sentence]
    assert "pod team/a uses a GPU on gpu1" in sentence
    assert "and 2 more" in sentence
    assert "-e gshare_disrupt=HOST" in sentence
    assert "diff" not in result


def test_case_119_a_port_of_somebody_is_named_before_helm_runs(act: Act) -> None:
    machine = Machine(change="install", conflicts=["NodePort 30080 belongs to Service team/web"])
    result = act(machine)
    assert machine.calls == ["look"]
    assert result["failed"]
    assert "NodePort 30080 belongs to Service team/web" in result["msg"]


def test_remove(act: Act) -> None:
    machine = Machine(change="remove")
    args = {"release": "hami", "namespace": "kube-system", "state": "absent"}
    assert act(machine, args)["changed"]
    assert machine.calls == ["look", "helm"]
    assert machine.helm_args["release_state"] == "absent"


@pytest.mark.parametrize("broken", ["look", "helm", "wait"])
def test_failures_are_passed_on(act: Act, broken: str) -> None:
    machine = Machine(change="install")
    setattr(machine, broken, {"failed": True, "msg": "no"})
    result = act(machine)
    assert (result["failed"], result["msg"]) == (True, "no")
