# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _drain_run
from ansible_collections.gshare.cluster.plugins.modules import node_drain, node_uncordon
from ansible_collections.gshare.cluster.tests.unit.plugins.drain_fakes import (
    Json,
    Leaving,
    disruption_budget,
    pod,
    volume,
)
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import stop_clock

RunModule = t.Callable[..., Json]
CORDON = 'patch {"unschedulable": true}'
UNCORDON = 'patch {"unschedulable": null}'


@pytest.fixture
def drained(monkeypatch: pytest.MonkeyPatch, run_module: RunModule) -> t.Callable[..., Json]:
    def run(api: Leaving, *, check: bool = False, **args: t.Any) -> Json:
        monkeypatch.setattr(node_drain, "connect", lambda module: api)
        stop_clock(monkeypatch, (_drain_run,), 1)
        return run_module(node_drain.main, {"node": "gpu1", "timeout": 20, **args}, check=check, diff=True)

    return run


def test_pods_go_together_and_those_of_the_node_stay(drained) -> None:
    mirror = pod("kube-proxy-static", owner="Node")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    api = Leaving(pod("web-1"), pod("train-1", gpu=True), pod("flannel-1", owner="DaemonSet"), mirror)
    result = drained(api)
    assert result["changed"]
    assert sorted(result["evicted"]) == ["team/train-1", "team/web-1"]
    assert result["gpu_pods"] == ["team/train-1"]
    assert result["summary"] == ["gpu1: 2 pods have to go", "with a GPU: team/train-1"]
    assert api.log == [CORDON, "evict web-1", "evict train-1"]
    assert api.nodes["gpu1"]["spec"]["unschedulable"]


def test_check_mode_and_a_second_run(drained) -> None:
    api = Leaving(pod("web-1"))
    predicted = drained(api, check=True)
    assert api.log == []
    done = drained(api)
    assert (predicted["changed"], predicted["diff"]) == (done["changed"], done["diff"])
    assert not drained(api)["changed"]


def test_case_87_a_budget_and_its_pod_are_named_and_the_node_serves_again(drained) -> None:
    api = Leaving(pod("web-1", app="web"), pod("other-1"))
    api.refused = {"web-1": 1000}
    api.budgets = [disruption_budget("web", app="web"), disruption_budget("db", app="db")]
    result = drained(api)
    assert result["failed"]
    assert (
        "gpu1 keeps pods after 20 s: pod team/web-1: disruption budget team/web (minAvailable 1, 0 may go now): The "
        "disruption budget web needs 1 healthy pods and has 1 currently. It is in service again." in result["msg"]
    )
    assert "team/db" not in result["msg"]
    assert result["evicted"] == ["team/other-1"]
    assert "unschedulable" not in api.nodes["gpu1"]["spec"]


def test_a_budget_that_lets_go_after_a_while(drained) -> None:
    api = Leaving(pod("web-1"))
    api.refused = {"web-1": 3}
    assert drained(api)["evicted"] == ["team/web-1"]


def test_force_deletes_what_a_budget_holds_at_the_end(drained) -> None:
    api = Leaving(pod("web-1", app="web"))
    api.refused = {"web-1": 1000}
    assert drained(api, force=True)["evicted"] == ["team/web-1"]
    assert api.log[-1] == "delete web-1"


@pytest.mark.parametrize("finalizers", [[], ["example.net/hold"]])
def test_case_91_a_pod_that_does_not_end_is_named(drained, finalizers: list[str]) -> None:
    item = pod("web-1")
    item["metadata"]["finalizers"] = finalizers
    item["spec"]["terminationGracePeriodSeconds"] = 3600
    api = Leaving(item)
    api.lingering = {"web-1"}
    said = "its finalizer example.net/hold holds it" if finalizers else "it has been told to end and has 3600 s for it"
    assert f"pod team/web-1: {said}" in drained(api)["msg"]


def test_case_94_pods_that_nothing_makes_anew(drained) -> None:
    done = pod("job-1", owner="")
    done["status"]["phase"] = "Succeeded"
    api = Leaving(pod("bare-1", owner=""), done)
    result = drained(api)
    assert result["failed"]
    assert "gpu1 is left as it is. team/bare-1 would be gone for good" in result["msg"]
    assert "-e force=true" in result["msg"]
    assert api.log == []
    assert sorted(drained(api, force=True)["evicted"]) == ["team/bare-1", "team/job-1"]


def test_data_that_is_on_this_machine_alone(drained) -> None:
    volumes = [volume("pv-1", "data", "gpu1"), volume("pv-2", "net"), volume("pv-3", "both", "gpu1", "gpu2")]
    api = Leaving(pod("db-1", claim="data"), volumes=volumes)
    result = drained(api, force=True)
    assert "The data of claim team/data (5Gi, used by team/db-1) is on this machine alone" in result["msg"]
    assert api.log == []
    assert drained(api, delete_local_data=True)["evicted"] == ["team/db-1"]


def test_all_objections_at_once(drained) -> None:
    api = Leaving(pod("bare-1", owner=""), volumes=[volume("pv-1", "data", "gpu1")])
    text = drained(api)["msg"]
    assert "force=true" in text
    assert "delete_local_data=true" in text


def test_who_was_cordoned_by_somebody_else_stays_so(drained) -> None:
    api = Leaving(pod("web-1"))
    api.nodes["gpu1"]["spec"]["unschedulable"] = True
    api.refused = {"web-1": 1000}
    assert "It stays cordoned." in drained(api)["msg"]
    assert UNCORDON not in api.log


def test_keep_cordon(drained) -> None:
    api = Leaving(pod("web-1"))
    api.refused = {"web-1": 1000}
    assert "It stays cordoned." in drained(api, keep_cordon=True)["msg"]
    assert api.nodes["gpu1"]["metadata"]["annotations"] == {"gshare.io/cordoned-by": "remove_node"}


def test_a_run_that_was_killed_is_gone_on_with(drained) -> None:
    api = Leaving(pod("web-1"))
    api.patch(
        "/api/v1/nodes/gpu1",
        {"metadata": {"annotations": {"gshare.io/cordoned-by": "remove_node"}}, "spec": {"unschedulable": True}},
    )
    api.refused = {"web-1": 1000}
    assert "It is in service again." in drained(api)["msg"], "the cordon was ours"


def test_pods_of_a_node_that_is_off_are_not_waited_for(drained) -> None:
    api = Leaving(pod("web-1"))
    api.nodes["gpu1"]["status"]["conditions"][0]["status"] = "Unknown"
    assert drained(api)["evicted"] == []
    assert api.log == [CORDON]


def test_case_89_a_node_that_is_not_there_is_an_error(drained) -> None:
    api = Leaving()
    del api.nodes["gpu1"]
    assert drained(api)["msg"] == 'gpu1 cannot be drained: nodes "gpu1" not found'


def test_only_cordons_of_ours_are_taken_back(monkeypatch: pytest.MonkeyPatch, run_module: RunModule) -> None:
    api = Leaving()
    monkeypatch.setattr(node_uncordon, "connect", lambda module: api)
    for name, by in (("control1", "somebody"), ("gpu1", "remove_node")):
        api.patch(
            f"/api/v1/nodes/{name}",
            {"metadata": {"annotations": {"gshare.io/cordoned-by": by}}, "spec": {"unschedulable": True}},
        )
    args = {"by": ["remove_node"]}
    assert run_module(node_uncordon.main, {**args, "nodes": ["control1"]})["nodes"] == []
    predicted = run_module(node_uncordon.main, args, check=True, diff=True)
    done = run_module(node_uncordon.main, args, diff=True)
    assert done["nodes"] == ["gpu1"]
    assert (predicted["nodes"], predicted["diff"]) == (done["nodes"], done["diff"])
    assert not run_module(node_uncordon.main, args)["changed"]
    assert api.nodes["control1"]["spec"]["unschedulable"]
    assert api.nodes["gpu1"]["metadata"]["annotations"] == {}
