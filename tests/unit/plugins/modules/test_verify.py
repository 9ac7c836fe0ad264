# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_run
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.modules import verify
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import (
    HOSTS,
    KUBECONFIG,
    OLD,
    bad,
    node,
    not_ready,
    pod,
    waiting,
)


def test_a_healthy_cluster(cluster, checked):
    result = checked()
    assert bad(result) == set(), result["checks"]
    assert [row["roles"] for row in result["nodes"]] == [["control plane"], ["gpu exclusive"], ["cpu"]]
    assert result["by_name"]["pod_network"]["detail"] == "HTTP passes between pods of 3 pairs of nodes"
    assert cluster.namespaces == {}


def test_check_mode_creates_nothing(cluster, checked):
    result = checked(check=True)
    assert bad(result) == {"traffic"}
    assert result["by_name"]["traffic"]["status"] == "skipped"
    assert not [line for line in cluster.log if line.startswith(("POST", "DELETE"))]


def test_check_mode_without_a_cluster(checked):
    result = checked(check=True, kubeconfig="/nonexistent/admin.conf")
    assert [entry["status"] for entry in result["checks"]] == ["skipped"]


def test_api_down(cluster, checked):
    cluster.ready = (0, "https://192.0.2.10:6443: connection refused")
    result = checked()
    assert [(entry["name"], entry["status"]) for entry in result["checks"]] == [
        ("api", "failed"),
        ("everything else", "skipped"),
    ]


def test_etcd_down(cluster, checked):
    cluster.ready = (500, "[+]ping ok\n[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n")
    assert "these parts are not: etcd, etcd-readiness" in checked()["by_name"]["api"]["detail"]


def test_two_nodes_are_one_pair_and_one_node_is_none(cluster, checked):
    cluster.__init__(["cp", "gpu-1"])
    assert "1 pairs" in checked(hosts=HOSTS[:2])["by_name"]["pod_network"]["detail"]
    cluster.__init__(["cp"])
    result = checked(hosts=HOSTS[:1])
    assert bad(result) == set()
    assert "no second node" in result["by_name"]["pod_network"]["detail"]


def test_a_node_that_is_away_does_not_hold_up_the_others(cluster, checked):
    not_ready(cluster.nodes[1])
    result = checked()
    assert bad(result) == {"nodes"}
    assert "gpu-1 is not Ready for 60 min" in result["by_name"]["nodes"]["detail"]
    assert "1 pairs" in result["by_name"]["pod_network"]["detail"]


def test_an_unlisted_node_is_a_warning_with_both_remedies(cluster, checked):
    cluster.nodes.append(node("stranger", "192.0.2.99", 9))
    found = checked()["by_name"]["unlisted"]
    assert found["status"] == "warning"
    assert "Add 192.0.2.99 to the inventory" in found["remedy"]
    assert "kubectl delete node stranger" in found["remedy"]


def test_image_that_cannot_be_pulled_is_seen_through_the_kubelet(cluster, checked):
    cluster.bad_image["gpu-1"] = "dial tcp: lookup registry-1.docker.io: no such host"
    result = checked()
    assert bad(result) == {"pods_start"}
    assert "no pod runs on gpu-1: ImagePullBackOff: dial tcp" in result["by_name"]["pods_start"]["detail"]
    assert "crictl pull" in result["by_name"]["pods_start"]["remedy"]
    assert "without gpu-1" not in result["by_name"]["pods_start"]["detail"]


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        (True, "6443/tcp does not pass from gpu-1 to 192.0.2.10"),
        (False, "it does not answer on 10250/tcp either: gpu-1 is off or cut off, or its kubelet does not run"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_kubelet_that_says_nothing(cluster, checked, answers, cause, known):
    cluster.no_kubelet = set() if answers else {"gpu-1"}
    if known:
        not_ready(cluster.nodes[1])
    else:
        cluster.untouched = {"gpu-1"}
    result = checked(timeout=5)
    assert bad(result) == {"nodes" if known else "pods_start"}
    assert cause in result["by_name"]["nodes" if known else "pods_start"]["detail"]


def test_a_remedy_does_not_lead_to_what_is_gone(cluster, checked):
    cluster.claim_works = False
    cluster.claim_status = {"containerStatuses": [], "startTime": OLD}
    cluster.own_status["gpu-1"] = {"phase": "Pending", "conditions": [], "startTime": OLD, "containerStatuses": []}
    result = checked(timeout=5)
    assert bad(result) == {"pods_start", "storage_claim"}
    assert "On gpu-1: journalctl -u kubelet" in result["by_name"]["pods_start"]["remedy"]
    assert not any("gshare-verify" in check["remedy"] for check in result["checks"])
    assert "no answer within" not in result["by_name"]["storage_claim"]["detail"]


def test_a_claim_waits_for_a_port(cluster, checked):
    cluster.claim_works = False
    cluster.claim_status = {"phase": "Pending", "containerStatuses": []}
    cluster.no_exec["gpu-1"] = "error dialing backend"
    found = checked(timeout=5)["by_name"]["storage_claim"]
    assert found["detail"] == "a claim of the default class was not bound: there was no answer within 5 s"
    assert found["remedy"] == "Put kubelet_port right first"


def test_nothing_is_called_good_that_nobody_tried(cluster, checked):
    cluster.bad_image = dict.fromkeys(["cp", "gpu-1", "cpu-1"], "not found")
    result = checked()
    found = {name: result["by_name"][name]["status"] for name in ("kubelet_port", "bridge", "dns", "pod_network")}
    assert set(found.values()) == {"skipped"}
    assert result["by_name"]["pods_start"]["remedy"].count("crictl pull") == 1


def test_no_dns_on_one_node(cluster, checked):
    cluster.dns_dead = {"cpu-1"}
    result = checked()
    assert bad(result) == {"dns"}
    assert "does not answer pods on cpu-1, CoreDNS is ready on cp" in result["by_name"]["dns"]["detail"]


def test_coredns_scaled_to_zero(cluster, checked):
    cluster.dns_dead = {"cp", "gpu-1", "cpu-1"}
    cluster.pods["kube-system"] = [
        item for item in cluster.pods["kube-system"] if "coredns" not in item["metadata"]["name"]
    ]
    cluster.deployments["kube-system"][0]["spec"]["replicas"] = 0
    result = checked()
    assert bad(result) == {"dns", "system_pods"}
    assert "does not answer pods on any node: no CoreDNS pod exists" in result["by_name"]["dns"]["detail"]
    assert "scale deployment coredns" in result["by_name"]["dns"]["remedy"]
    assert result["by_name"]["system_pods"]["status"] == "warning"


def test_pods_ask_another_dns(cluster, checked):
    cluster.resolver = "169.254.25.10"
    assert "pods on cp ask 169.254.25.10 instead of 10.96.0.10" in checked()["by_name"]["dns"]["detail"]


def test_case_72_br_netfilter(cluster, checked):
    cluster.no_bridge = {"gpu-1"}
    result = checked()
    assert bad(result) == {"bridge"}
    assert "br_netfilter is not loaded on gpu-1" in result["by_name"]["bridge"]["detail"]


@pytest.mark.parametrize(
    ("lost", "cause"),
    [
        ({("cp", "gpu-1")}, "8472/udp does not pass from cp to gpu-1"),
        ({("gpu-1", "cp")}, "8472/udp does not pass from gpu-1 to cp"),
        (set(), "ping passes and TCP does not"),
    ],
)
def test_broken_ring_names_the_direction(cluster, checked, lost, cause):
    cluster.no_http = {("cp", "gpu-1")}
    cluster.no_udp = lost
    result = checked()
    assert bad(result) == {"pod_network"}
    assert cause in result["by_name"]["pod_network"]["detail"]
    assert "8472/udp" in result["by_name"]["pod_network"]["remedy"] or not lost


def test_all_paths_of_one_node_broken(cluster, checked):
    cluster.no_http = {("cp", "gpu-1"), ("gpu-1", "cpu-1")}
    cluster.no_udp = {("cp", "gpu-1"), ("cpu-1", "gpu-1")}
    found = checked()["by_name"]["pod_network"]
    assert found["problems"][0] == "all broken paths have gpu-1 at one end: look there first"
    assert len(found["problems"]) == 3


def test_other_closed_ports_are_named(cluster, checked):
    cluster.no_http = {("gpu-1", "cpu-1")}
    cluster.no_udp = {("gpu-1", "cpu-1")}
    cluster.closed = {("gpu-1", "cpu-1", 10250), ("gpu-1", "cp", 6443)}
    detail = checked()["by_name"]["pod_network"]["detail"]
    assert "also closed: 6443/tcp from gpu-1 to the API server, 10250/tcp from gpu-1 to cpu-1" in detail


def test_no_vxlan_link(cluster, checked):
    cluster.no_http = {("gpu-1", "cpu-1")}
    cluster.no_link = {"cpu-1"}
    assert "cpu-1 has no link flannel.1" in checked()["by_name"]["pod_network"]["detail"]


def test_kubelet_port_closed(cluster, checked):
    cluster.no_exec["gpu-1"] = "error dialing backend: dial tcp 192.0.2.11:10250: i/o timeout"
    result = checked()
    assert bad(result) == {"kubelet_port"}
    assert "does not reach 10250/tcp of gpu-1" in result["by_name"]["kubelet_port"]["detail"]
    assert "2 nodes" in result["by_name"]["dns"]["detail"]


def test_path_is_tried_from_the_end_that_can_be_asked(cluster, checked):
    cluster.no_exec["gpu-1"] = "error dialing backend"
    cluster.no_http = {("gpu-1", "cpu-1")}
    assert bad(checked()) == {"kubelet_port", "pod_network"}


def test_rollout_under_way_is_waited_for(cluster, checked, monkeypatch):
    cluster.pods["kube-flannel"][1]["status"].update(waiting("PodInitializing", age=5))
    looks = []

    def sleep(_seconds: float) -> None:
        looks.append(1)
        if len(looks) == 3:
            cluster.pods["kube-flannel"][1] = pod("kube-flannel-ds-gpu-1", "kube-flannel", "gpu-1")

    monkeypatch.setattr(_verify_run.time, "sleep", sleep)
    assert bad(checked()) == set()
    assert len(looks) >= 3


def test_probes_come_up_while_a_rollout_is_waited_for(cluster, checked, monkeypatch):
    cluster.pods["kube-flannel"][1]["status"].update(waiting("PodInitializing", age=5))
    begun = []

    def sleep(_seconds: float) -> None:
        begun.append(bool(cluster.namespaces))
        cluster.pods["kube-flannel"][1] = pod("kube-flannel-ds-gpu-1", "kube-flannel", "gpu-1")

    monkeypatch.setattr(_verify_run.time, "sleep", sleep)
    assert bad(checked()) == set()
    assert begun[0]


def test_a_node_that_has_just_booted_is_waited_for_although_the_api_calls_it_ready(cluster, checked, monkeypatch):
    cluster.last_heard["gpu-1"] = 18
    looks = []

    def sleep(_seconds: float) -> None:
        looks.append(1)
        if len(looks) == 3:
            del cluster.last_heard["gpu-1"]

    monkeypatch.setattr(_verify_run.time, "sleep", sleep)
    assert bad(checked()) == set()
    assert len(looks) >= 3


def test_a_node_whose_clock_is_behind_is_waited_for_until_it_says_something(cluster, checked, monkeypatch):
    cluster.last_heard["gpu-1"] = 300
    looks = []

    def sleep(_seconds: float) -> None:
        looks.append(1)
        cluster.last_heard["gpu-1"] = 290

    monkeypatch.setattr(_verify_run.time, "sleep", sleep)
    assert bad(checked()) == set()
    assert len(looks) < 6


def test_old_trouble_is_not_waited_for(cluster, checked, monkeypatch):
    cluster.pods["kube-system"][0]["status"].update(waiting("CrashLoopBackOff", restarts=40, last={"exitCode": 1}))
    monkeypatch.setattr(_verify_run.time, "sleep", lambda seconds: pytest.fail("waited"))
    assert "system_pods" in bad(checked())


def test_objects_for_the_users_checks(cluster, checked):
    cluster.objects = lambda kind, api_version, namespace: [{"kind": kind}]
    entry = {"name": "x", "kind": "Deployment", "query": "items", "expect": 1, "remedy": "none"}
    assert checked(checks=[entry])["objects"] == [{"items": [{"kind": "Deployment"}]}]


def test_unusable_access_is_one_sentence(checked, monkeypatch):
    def refuse(kubeconfig: str) -> None:
        raise ApiError(0, f"cannot use {kubeconfig}: no such file")

    monkeypatch.setattr(verify, "KubeApi", refuse)
    result = checked()
    assert result["failed"]
    assert result["msg"] == f"The cluster cannot be looked at: cannot use {KUBECONFIG}: no such file"


def test_no_cluster_here_is_one_sentence(checked):
    result = checked(kubeconfig="/nonexistent/admin.conf")
    assert result["failed"]
    assert result["msg"].startswith("There is no /nonexistent/admin.conf on this machine: build the cluster first")


def test_dns_is_not_blamed_for_a_node_that_is_away(cluster, checked):
    not_ready(cluster.nodes[1])
    away = pod("coredns-1", on="gpu-1", labels={"k8s-app": "kube-dns"}, conditions=[])
    cluster.pods["kube-system"][0] = away
    cluster.dns_dead = {"cp", "cpu-1"}
    found = checked()["by_name"]["dns"]
    assert found["detail"].endswith("does not answer pods on any node: all CoreDNS pods are on gpu-1")
    assert found["remedy"] == "Put nodes and pods_start right first"


def test_some_machines_alone(cluster, checked):
    not_ready(cluster.nodes[2])
    cluster.pods["kube-system"].append(pod("kube-proxy-2", on="cpu-1", **waiting("CrashLoopBackOff")))
    cluster.untouched = {"cpu-1"}
    result = checked(only=["192.0.2.10", "192.0.2.11"])
    assert bad(result) == set(), result["checks"]
    assert [row["name"] for row in result["nodes"]] == ["cp", "gpu-1"]
    assert result["by_name"]["pods_start"]["detail"] == "a pod starts on each of 2 nodes"
    specs = [
        body["spec"].get("template", body)["spec"] for body in cluster.made if body["kind"] in ("DaemonSet", "Pod")
    ]
    assert len(specs) == 2
    assert all('"values": ["cp", "gpu-1"]' in json.dumps(spec["affinity"]) for spec in specs), "no probe runs elsewhere"


def test_a_machine_alone_that_did_not_join(cluster, checked):
    del cluster.nodes[1]
    assert bad(checked(only=["192.0.2.10", "192.0.2.11"])) == {"nodes"}
