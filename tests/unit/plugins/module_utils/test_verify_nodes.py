# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import time

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._verify_nodes import (
    check_addresses,
    check_api,
    check_flannel,
    check_labels,
    check_nodes,
    check_pod_ranges,
    check_unlisted,
    check_versions,
    matched,
    same_address,
    version_fits,
)
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot, node_name
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import moment, node, not_ready

FIXTURES = pathlib.Path(__file__).parent / "fixtures/verify"


def host(address: str, name: str = "", **more: object) -> dict:
    return {"host": name or address, "address": address, "labels": {}, "roles": [], **more}


def snapshot(*nodes: dict) -> Snapshot:
    return Snapshot(now=time.time(), version="v1.36.3", nodes=list(nodes))


def expect(*hosts: dict, version: str = "", ranges: tuple[str, ...] = ("10.244.0.0/16",)) -> Expectation:
    return Expectation(hosts=hosts, kubernetes_version=version, pod_ranges=ranges)


@pytest.fixture(scope="module")
def same_public_ip() -> Snapshot:
    return snapshot(*json.loads((FIXTURES / "same_public_ip.json").read_text(encoding="utf-8"))["items"])


def test_case_97_same_flannel_address_and_not_the_internal_one(same_public_ip):
    found = check_flannel(same_public_ip, expect())
    assert found.status == "failed"
    assert found.problems == (
        "cp, gpu-1 use the same flannel address 198.51.100.15",
        "flannel on cp uses 198.51.100.15, not the InternalIP 192.0.2.10",
        "flannel on gpu-1 uses 198.51.100.15, not the InternalIP 192.0.2.11",
        "gpu-2 has no flannel address, /run/flannel/subnet.env is missing there",
    )


def test_case_95_node_without_pod_range_is_named_with_the_range_of_the_cluster(same_public_ip):
    found = check_pod_ranges(same_public_ip, expect())
    assert found.status == "failed"
    assert found.problems == ("gpu-2 has no podCIDR, flannel has no range for it (cluster: 10.244.0.0/16)",)


def test_flannel_address_that_was_set_on_purpose():
    item = node("edge", "192.0.2.20", public_ip="203.0.113.9")
    item["metadata"]["annotations"]["flannel.alpha.coreos.com/public-ip-overwrite"] = "203.0.113.9"
    assert check_flannel(snapshot(item), expect()).status == "ok"


def test_pod_ranges():
    outside = node("a", "192.0.2.10", spec={"podCIDR": "10.42.0.0/24", "podCIDRs": ["10.42.0.0/24"]})
    twin = [node(name, "192.0.2.10", 7) for name in ("b", "c")]
    found = check_pod_ranges(snapshot(outside, *twin), expect())
    assert found.problems == (
        "podCIDR 10.42.0.0/24 of a is outside 10.244.0.0/16",
        "c and b have the same podCIDR 10.244.7.0/24",
    )


def test_pod_ranges_of_two_families():
    ranges = ["10.244.1.0/24", "fd00:10:244:1::/64"]
    item = node("a", "192.0.2.10", spec={"podCIDR": ranges[0], "podCIDRs": ranges})
    assert check_pod_ranges(snapshot(item), expect(ranges=("10.244.0.0/16", "fd00:10:244::/56"))).status == "ok"
    assert check_pod_ranges(snapshot(item), expect(ranges=("10.244.0.0/16",))).status == "failed"


def test_nodes_are_matched_by_address_then_by_name():
    nodes = [node("gpu-1", "10.0.2.15"), node("b", "192.0.2.12"), node("gpu-1.example.net", "192.0.2.50")]
    hosts = [host("192.0.2.11", "GPU-1"), host("192.0.2.12"), host("192.0.2.13")]
    pairs = matched(snapshot(*nodes), expect(*hosts))
    assert [found and node_name(found) for _host, found in pairs] == ["gpu-1", "b", None]


@pytest.mark.parametrize("name", ["gpu-1", "GPU-1.example.net", "gpu-1.other.example.net", "192.0.2.11"])
def test_case_68_a_short_or_a_full_name_makes_no_difference(name):
    snap = snapshot(node("gpu-1.example.net", "192.0.2.11"), node("gpu-2", "192.0.2.12"))
    expectation = expect(host("192.0.2.11", name), host("192.0.2.12", "gpu-2.example.net"))
    assert [check(snap, expectation).status for check in (check_nodes, check_addresses, check_unlisted)] == ["ok"] * 3


def test_an_address_match_is_not_taken_away_by_a_name():
    nodes = [node("a", "192.0.2.12"), node("b", "192.0.2.11")]
    pairs = matched(snapshot(*nodes), expect(host("192.0.2.99", "a"), host("192.0.2.12", "c")))
    assert [found and node_name(found) for _host, found in pairs] == [None, "a"]


def test_other_interface():
    found = check_addresses(snapshot(node("gpu-1", "10.0.2.15")), expect(host("192.0.2.11", "gpu-1")))
    assert found.problems == ("gpu-1 has InternalIP 10.0.2.15, the inventory says 192.0.2.11",)
    assert "--node-ip=192.0.2.11" in found.remedy


def test_ipv6_spelling():
    assert same_address("2001:db8::1", "2001:0db8:0:0:0:0:0:1")
    assert not same_address("a", "b")


def test_missing_and_not_ready_nodes():
    away = not_ready(node("gpu-1", "192.0.2.11"), age=300)
    found = check_nodes(snapshot(node("cp", "192.0.2.10"), away), expect(host("192.0.2.10"), host("192.0.2.12", "new")))
    assert found.problems == (
        "new (192.0.2.12) is in the inventory and not in the cluster",
        "gpu-1 is not Ready for 5 min: Kubelet stopped posting node status.",
    )


def test_trouble_of_unlisted_nodes_is_a_warning():
    nodes = snapshot(not_ready(node("gone", "192.0.2.30", version="v1.30.0")))
    assert check_nodes(nodes, expect()).status == "warning"
    assert check_versions(nodes, expect()).status == "warning"
    assert check_nodes(nodes, expect(host("192.0.2.30"))).status == "failed"


def test_a_node_that_only_just_registered():
    item = node("a", "192.0.2.10")
    item["status"]["conditions"] = []
    assert "no condition Ready yet" in check_nodes(snapshot(item), expect()).detail


def test_disk_pressure_says_how_much_must_be_free():
    full = node("a", "192.0.2.10")
    full["status"]["conditions"] += [{"type": "DiskPressure", "status": "True", "message": "kubelet has disk pressure"}]
    found = check_nodes(snapshot(full), expect())
    assert found.status == "warning"
    assert "15 % of /var/lib/containerd are free, see df -h" in found.remedy


def test_cordon_and_pressure_are_warnings():
    item = node("a", "192.0.2.10", spec={"unschedulable": True})
    item["status"]["conditions"][0]["status"] = "True"
    found = check_nodes(snapshot(item), expect())
    assert (found.status, len(found.problems)) == ("warning", 2)
    assert "kubectl uncordon a" in found.remedy


@pytest.mark.parametrize(
    ("actual", "wanted", "fits"),
    [
        ("v1.36.3", "1.36", True),
        ("v1.36.3", "1.36.3", True),
        ("v1.36.3", "v1.36.3", True),
        ("v1.36.3+k3s1", "1.36.3", True),
        ("v1.36.3", "1.36.5", False),
        ("v1.36.30", "1.36.3", False),
        ("v1.3.6", "1.36", False),
        ("v1.36.3", "1.3", False),
        ("unknown", "1.36", False),
        ("v1.36.3", "latest", False),
    ],
)
def test_version_fits(actual, wanted, fits):
    assert version_fits(actual, wanted) is fits


def test_versions():
    nodes = snapshot(node("a", "192.0.2.10"), node("b", "192.0.2.11", version="v1.35.9"))
    assert check_versions(nodes, expect(version="1.36")).problems == ("b runs kubelet v1.35.9, wanted is 1.36",)
    assert check_versions(nodes, expect()).problems == ("b runs kubelet v1.35.9, wanted is v1.36.3",)
    assert len(check_versions(nodes, expect(version="1.36.5")).problems) == 3


def test_labels():
    wanted = {"gshare.io/node-type": "cpu"}
    nodes = snapshot(
        node("cp", "192.0.2.10"),
        node("b", "192.0.2.11"),
        node("c", "192.0.2.12", labels={"gshare.io/node-type": "gpu"}),
    )
    hosts = [host(f"192.0.2.{i}", labels=wanted) for i in (10, 11, 12)]
    assert check_labels(nodes, expect(*hosts)).problems == (
        "b has no gshare.io/node-type, wanted is gshare.io/node-type=cpu",
        "c has gshare.io/node-type=gpu, wanted is gshare.io/node-type=cpu",
    )


def test_taints():
    item = node(
        "s", "192.0.2.10", spec={"taints": [{"key": "gshare.io/role", "value": "storage", "effect": "NoExecute"}]}
    )
    wanted = [{"key": "gshare.io/role", "value": "storage", "effect": "NoSchedule"}]
    found = check_labels(snapshot(item), expect(host("192.0.2.10", taints=wanted)))
    assert found.problems == ("s lacks the taint gshare.io/role=storage:NoSchedule",)
    item["spec"]["taints"] += wanted
    assert check_labels(snapshot(item), expect(host("192.0.2.10", taints=wanted))).status == "ok"


def test_unlisted():
    nodes = snapshot(node("a", "192.0.2.10"), node("old", "192.0.2.30"))
    found = check_unlisted(nodes, expect(host("192.0.2.10")))
    assert found.status == "warning"
    assert "Add 192.0.2.30 to the inventory, or remove it from the cluster: kubectl drain old" in found.remedy


def test_api_that_does_not_answer():
    found = check_api(Snapshot(ready={"status": None, "text": "connection refused"}), expect())
    assert found.detail == "the API server does not answer: connection refused"


def test_fifty_nodes_do_not_make_a_novel_of_the_remedy():
    nodes = snapshot(*[node(f"n{i}", f"192.0.2.{i}", i, version="v1.35.1") for i in range(50)])
    assert check_versions(nodes, expect(version="1.36")).remedy.count("up never changes") == 1


def test_moments_of_the_future_are_no_age():
    item = not_ready(node("a", "192.0.2.10"))
    item["status"]["conditions"][-1]["lastTransitionTime"] = moment(-100)
    assert "a is not Ready: Kubelet" in check_nodes(snapshot(item), expect()).detail
