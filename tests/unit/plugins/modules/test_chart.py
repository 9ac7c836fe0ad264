# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
import sys
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kube_api
from ansible_collections.gshare.cluster.plugins.modules import chart
from ansible_collections.gshare.cluster.tests.unit.plugins.chart_fakes import FakeApi, release

Json = dict[str, t.Any]
SECRETS = "/api/v1/namespaces/ingress-nginx/secrets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ingress-nginx/deployments"
PODS = "/api/v1/namespaces/ingress-nginx/pods"
MANIFEST = "---\nkind: Deployment\nmetadata:\n  name: controller\n"
WISH = {
    "release": "ingress-nginx",
    "namespace": "ingress-nginx",
    "chart": "ingress-nginx",
    "version": "4.15.1",
    "repository": "https://example.net",
    "values": {"a": 1},
}
OURS = release("ingress-nginx", "4.15.1", {"a": 1}, manifest=MANIFEST)
DEPLOYMENT: Json = {
    "metadata": {"name": "controller", "generation": 2},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}},
    "status": {"observedGeneration": 2, "readyReplicas": 1, "updatedReplicas": 1},
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi()
    monkeypatch.setattr(chart, "connect", lambda module: fake)
    monkeypatch.setattr(chart, "PAUSE", 0)
    return fake


@pytest.fixture
def step(api: FakeApi, run_module: t.Callable[..., Json]) -> t.Callable[..., Json]:
    def run(name: str = "look", *, check: bool = False, **more: t.Any) -> Json:
        return run_module(chart.main, {**WISH, **more, "_step": name}, check=check)

    return run


Step = t.Callable[..., Json]


def test_as_wanted(api: FakeApi, step: Step) -> None:
    api.lists = {SECRETS: [OURS], DEPLOYMENTS: [DEPLOYMENT]}
    result = step()
    assert (result["change"], result["reasons"], result["pending"]) == ("nothing", [], [])
    assert result["before"] == result["after"] == "chart ingress-nginx 4.15.1 (deployed)\na = 1\n"


def test_a_deployment_that_somebody_deleted(api: FakeApi, step: Step) -> None:
    api.lists = {SECRETS: [OURS]}
    assert step()["change"] == "repair"


def test_case_119_ports_are_looked_at_where_something_changes(api: FakeApi, step: Step) -> None:
    service = {"metadata": {"namespace": "team", "name": "web"}, "spec": {"ports": [{"nodePort": 30080}]}}
    api.lists = {"/api/v1/services": [service]}
    assert step(node_ports=[30080])["conflicts"] == ["NodePort 30080 belongs to Service team/web"]
    api.lists.update({SECRETS: [OURS], DEPLOYMENTS: [DEPLOYMENT]})
    assert step(node_ports=[30080])["conflicts"] == []


def test_case_119_the_one_that_goes_is_no_conflict(api: FakeApi, step: Step) -> None:
    notes = {"meta.helm.sh/release-namespace": "ingress-nginx", "meta.helm.sh/release-name": "traefik"}
    service = {
        "metadata": {"namespace": "ingress-nginx", "name": "traefik", "annotations": notes},
        "spec": {"ports": [{"nodePort": 30080}]},
    }
    api.lists = {"/api/v1/services": [service]}
    assert step(node_ports=[30080])["conflicts"] != []
    assert step(node_ports=[30080], replaces=["ingress-nginx/traefik"])["conflicts"] == []


def test_gpu_pods_hold_an_upgrade_back_and_no_install(api: FakeApi, step: Step) -> None:
    pod = {
        "metadata": {"namespace": "team", "name": "a"},
        "spec": {"nodeName": "gpu1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        "status": {"phase": "Running"},
    }
    api.lists = {"/api/v1/pods": [pod], DEPLOYMENTS: [DEPLOYMENT]}
    assert step(keep_gpu_work=True)["held_back"] == []
    api.lists[SECRETS] = [OURS]
    assert step(keep_gpu_work=True, version="4.16.0")["held_back"] == ["pod team/a uses a GPU on gpu1"]
    assert step(version="4.16.0")["held_back"] == []


def test_remove_what_is_ours(api: FakeApi, step: Step) -> None:
    assert step(state="absent")["change"] == "nothing"
    api.lists = {SECRETS: [OURS]}
    assert step(state="absent")["change"] == "remove"
    assert step(state="absent", holding={"a": 1})["change"] == "remove"
    assert step(state="absent", holding={"b": 1})["change"] == "nothing"


def test_a_revision_that_a_killed_helm_left(api: FakeApi, step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = release("ingress-nginx", "4.15.1", {"a": 1}, 2, "pending-upgrade")
    api.lists = {SECRETS: [OURS, pending], DEPLOYMENTS: [DEPLOYMENT]}
    assert step()["pending"] == ["sh.helm.release.v1.ingress-nginx.v2"]
    step("clear", check=True)
    assert api.deleted == []
    running = iter([True, False])
    monkeypatch.setattr(chart, "helm_runs", lambda name: next(running))
    step("clear")
    assert api.deleted == [f"{SECRETS}/sh.helm.release.v1.ingress-nginx.v2"]
    assert step()["pending"] == []


def test_a_helm_that_runs_here() -> None:
    program = [sys.executable, "-c", "import time; time.sleep(30)", "gshare-test-release"]
    with subprocess.Popen(["helm", *program[1:]], executable=program[0]) as helm, subprocess.Popen(program) as other:
        try:
            assert chart.helm_runs("gshare-test-release")
            assert not chart.helm_runs("gshare-test")
            helm.kill()
            helm.wait()
            assert not chart.helm_runs("gshare-test-release")
        finally:
            helm.kill()
            other.kill()


def test_a_helm_that_does_not_end_is_waited_for_no_longer_than_the_limit(
    api: FakeApi, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.lists = {SECRETS: [release("ingress-nginx", "4.15.1", {}, 2, "pending-install")]}
    monkeypatch.setattr(chart, "helm_runs", lambda name: True)
    step("clear", timeout=0)
    assert api.deleted == [f"{SECRETS}/sh.helm.release.v1.ingress-nginx.v2"]


def test_wait_until_the_pods_are_ready(api: FakeApi, step: Step) -> None:
    api.lists = {SECRETS: [OURS], DEPLOYMENTS: [DEPLOYMENT]}
    assert "failed" not in step("wait", wait=5)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"observedGeneration": 1}, "was not looked at yet"),
        ({"observedGeneration": 2, "readyReplicas": 0, "updatedReplicas": 1}, "0 of 1 pods ready (controller-x: "),
        ({"observedGeneration": 2, "readyReplicas": 1, "updatedReplicas": 0}, "0 of 1 pods ready (controller-x: "),
    ],
)
def test_what_is_not_ready_is_told(api: FakeApi, step: Step, status: Json, words: str) -> None:
    pod = {
        "metadata": {"namespace": "ingress-nginx", "name": "controller-x", "labels": {"app": "a"}},
        "status": {"phase": "Pending"},
    }
    api.lists = {SECRETS: [OURS], DEPLOYMENTS: [{**DEPLOYMENT, "status": status}], PODS: [pod]}
    result = step("wait", wait=0)
    assert result["failed"]
    assert words in result["msg"]


def test_a_daemonset_is_ready_with_all_of_its_pods(api: FakeApi, step: Step) -> None:
    manifest = MANIFEST.replace("Deployment", "DaemonSet")
    item: Json = {"metadata": {"name": "controller"}, "spec": {}, "status": {"desiredNumberScheduled": 2}}
    status = item["status"]
    api.lists = {
        SECRETS: [release("ingress-nginx", "4.15.1", {"a": 1}, manifest=manifest)],
        DEPLOYMENTS.replace("deployments", "daemonsets"): [item],
    }
    for ready, fresh, words in ((1, 2, "has 1 of 2 pods ready"), (2, 0, "has 0 of 2 pods ready")):
        status.update(numberReady=ready, updatedNumberScheduled=fresh)
        assert f"DaemonSet controller {words}" in step("wait")["msg"]
    status.update(numberReady=2, updatedNumberScheduled=2)
    assert "failed" not in step("wait")


def test_what_is_not_of_the_release_is_not_waited_for(api: FakeApi, step: Step) -> None:
    other = {**DEPLOYMENT, "metadata": {"name": "other", "generation": 2}, "status": {}}
    api.lists = {SECRETS: [OURS], DEPLOYMENTS: [DEPLOYMENT, other]}
    assert "failed" not in step("wait")


def test_only_pods_of_the_workload_itself_explain(api: FakeApi, step: Step) -> None:
    pods = [
        {"metadata": {"namespace": "ingress-nginx", "name": name, "labels": {"app": app}}, "status": status}
        for name, app, status in (
            ("controller-x", "a", {"phase": "Pending"}),
            ("controller-y", "a", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
            ("other-z", "b", {"phase": "Pending"}),
        )
    ]
    api.lists = {SECRETS: [OURS], DEPLOYMENTS: [{**DEPLOYMENT, "status": {"observedGeneration": 2}}], PODS: pods}
    message = step("wait")["msg"]
    assert "controller-x: " in message
    assert "controller-y" not in message
    assert "other-z" not in message


def test_without_the_client_there_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, run_module: t.Callable[..., Json]
) -> None:
    monkeypatch.setattr(_kube_api, "import_error", lambda: "Traceback")
    assert "kubernetes" in run_module(chart.main, WISH)["msg"]
