# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm

NOTHING: dict[str, t.Any] = {
    "marker": False,
    "manifests": [],
    "kubeconfigs": [],
    "kubelet_conf": False,
    "finalized": False,
    "etcd_data": False,
    "external_etcd": False,
    "api": "none",
    "api_detail": "",
}
MANIFESTS = list(kubeadm.MANIFESTS)


def facts(**changes: t.Any) -> dict[str, t.Any]:
    return {**NOTHING, **changes}


@pytest.mark.parametrize(
    ("wanted", "actual", "expected"),
    [
        ("1.36", "1.36.3", True),
        ("1.36.3", "1.36.3-1.1", True),
        ("v1.36.3", "v1.36.3", True),
        ("1.36.3", "1.36.30", False),
        ("1.3", "1.36.3", False),
        ("1.36", "1.37.2", False),
        ("1.36.5", "1.36.3", False),
    ],
)
def test_version_matches(wanted: str, actual: str, expected: bool) -> None:
    assert kubeadm.version_matches(wanted, actual) is expected


@pytest.mark.parametrize("text", ["v1.36.3", "1.36.3-1.1", " 1:1.36.3-2.1 "])
def test_bare_version(text: str) -> None:
    assert kubeadm.bare_version(text) == "1.36.3"


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (facts(), "absent"),
        (facts(kubelet_conf=True), "worker"),
        (facts(api="ready", manifests=MANIFESTS, etcd_data=True, finalized=True), "healthy"),
        (facts(api="ready", manifests=MANIFESTS, etcd_data=True, marker=True), "unfinished"),
        (facts(api="ready", manifests=MANIFESTS, etcd_data=True, marker=True, finalized=True), "unfinished"),
        # the marker alone: killed before kubeadm wrote anything
        (facts(marker=True), "leftover"),
        (facts(marker=True, kubeconfigs=["admin.conf"]), "leftover"),
        (facts(marker=True, manifests=MANIFESTS, etcd_data=True), "leftover"),
        # somebody else's init that stopped before etcd ever ran
        (facts(kubeconfigs=["admin.conf"], kubelet_conf=True), "leftover"),
        (facts(manifests=MANIFESTS), "leftover"),
        # case 71: data is there and the API does not answer
        (facts(manifests=MANIFESTS, etcd_data=True, kubeconfigs=["admin.conf"]), "broken"),
        (facts(manifests=MANIFESTS, etcd_data=True, finalized=True), "broken"),
        # the init came to its last phases before it was cut off: the cluster may be in use
        (facts(marker=True, manifests=MANIFESTS, etcd_data=True, finalized=True), "broken"),
        # etcd's disk is not mounted
        (facts(manifests=MANIFESTS, finalized=True), "broken"),
        (facts(manifests=MANIFESTS[:1], external_etcd=True), "broken"),
        (facts(etcd_data=True), "broken"),
        # slow, not dead
        (facts(api="alive", api_detail="/readyz 500", manifests=MANIFESTS, etcd_data=True), "broken"),
        (facts(api="alive", manifests=MANIFESTS, marker=True), "broken"),
    ],
)
def test_control_plane_state(found: dict[str, t.Any], state: str) -> None:
    assert kubeadm.control_plane_state(found)[0] == state


def test_no_state_that_holds_data_is_ever_reset_unasked() -> None:
    """All combinations: without the marker of an init of ours data is safe; after the last phases it always is."""
    flags = ("marker", "kubelet_conf", "finalized", "etcd_data", "external_etcd")
    for values in itertools.product((False, True), repeat=len(flags)):
        for api, manifests in itertools.product(("none", "alive", "ready"), ([], MANIFESTS)):
            found = facts(api=api, manifests=manifests, **dict(zip(flags, values)))
            state, reason = kubeadm.control_plane_state(found)
            actions = kubeadm.init_actions(state, False)
            assert reason
            if (
                (found["etcd_data"] and not found["marker"])
                or (found["finalized"] and found["manifests"])
                or api != "none"
            ):
                assert "reset" not in (actions or ())


@pytest.mark.parametrize(
    ("state", "force", "actions"),
    [
        ("absent", False, ("init",)),
        ("healthy", False, ()),
        ("healthy", True, ()),
        ("unfinished", False, ("finish",)),
        ("unfinished", True, ("finish",)),
        ("leftover", False, ("reset", "init")),
        ("broken", False, None),
        ("broken", True, ("reset", "init")),
        ("worker", False, None),
        ("worker", True, ("reset", "init")),
    ],
)
def test_init_actions(state: str, force: bool, actions: tuple[str, ...] | None) -> None:
    assert kubeadm.init_actions(state, force) == actions


@pytest.mark.parametrize(
    ("state", "found", "expected"),
    [
        ("broken", facts(manifests=MANIFESTS, etcd_data=True), True),
        ("leftover", facts(manifests=MANIFESTS, etcd_data=True, marker=True), True),
        ("broken", facts(manifests=MANIFESTS, api="alive"), True),
        ("broken", facts(manifests=MANIFESTS, external_etcd=True), True),
        ("leftover", facts(manifests=MANIFESTS), False),
        ("broken", facts(etcd_data=True), False),
        ("healthy", facts(manifests=MANIFESTS, etcd_data=True), False),
    ],
)
def test_waiting_is_for_what_may_come_up(state: str, found: dict[str, t.Any], expected: bool) -> None:
    assert kubeadm.may_come_up(state, found) is expected


WORKER: dict[str, t.Any] = {
    "node_name": "gpu-1",
    "kubelet.conf": True,
    "bootstrap-kubelet.conf": False,
    "pki/ca.crt": True,
    "config.yaml": True,
    "client_cert": True,
    "server": "https://192.0.2.10:6443",
    "ca_hash": "sha256:aa",
    "kubelet_active": True,
    "control_plane": [],
}
FRESH = {**WORKER, "kubelet.conf": False, "pki/ca.crt": False, "config.yaml": False, "client_cert": False}
FRESH.update(server="", ca_hash="", kubelet_active=False)
WISH = {"address": "192.0.2.11", "endpoint": "192.0.2.10:6443", "ca_hash": "sha256:aa"}
NODES = [
    {"name": "cp", "addresses": ["192.0.2.10"], "ready": True},
    {"name": "gpu-1", "addresses": ["192.0.2.11"], "ready": True},
]


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "joined"),
        ({"bootstrap-kubelet.conf": True}, "joined"),
        ({"client_cert": False}, "half"),
        ({"kubelet.conf": False, "bootstrap-kubelet.conf": True}, "half"),
        ({"config.yaml": False}, "half"),
        ({"kubelet.conf": False, "config.yaml": False}, "half"),
        ({"kubelet.conf": False, "config.yaml": False, "pki/ca.crt": False}, "absent"),
    ],
)
def test_worker_state(changes: dict[str, t.Any], state: str) -> None:
    assert kubeadm.worker_state({**WORKER, **changes})[0] == state


@pytest.mark.parametrize(
    ("changes", "nodes", "action"),
    [
        ({}, NODES, "none"),
        ({"kubelet_active": False}, NODES, "start"),
        # the node was deleted, or the join was killed before kubelet registered
        ({}, NODES[:1], "reset"),
        ({"client_cert": False}, NODES, "reset"),
        ({"kubelet.conf": False, "bootstrap-kubelet.conf": True}, NODES[:1], "reset"),
        # the control plane was built anew, this machine missed the reset
        ({"ca_hash": "sha256:bb"}, NODES[:1], "reset"),
        ({"ca_hash": "sha256:bb"}, NODES, "reset"),
        # another cluster
        ({"ca_hash": "sha256:bb", "server": "https://198.51.100.1:6443"}, NODES[:1], "refuse"),
        # the same cluster by another of its names
        ({"server": "https://k8s.example.net:6443"}, NODES, "none"),
        ({"control_plane": ["etcd.yaml"]}, NODES[:1], "refuse"),
    ],
)
def test_join_action(changes: dict[str, t.Any], nodes: list[dict[str, t.Any]], action: str) -> None:
    assert kubeadm.join_action({**WORKER, **changes}, WISH, nodes)[0] == action


def test_case_68_a_node_is_known_by_its_address_whatever_its_name() -> None:
    nodes = [{"name": "gpu-1.example.net", "addresses": ["192.0.2.11"], "ready": True}]
    assert kubeadm.join_action(WORKER, WISH, nodes)[0] == "none"


def test_a_fresh_machine_joins_also_in_check_mode() -> None:
    assert kubeadm.join_action(FRESH, WISH, NODES[:1])[0] == "join"
    assert kubeadm.join_action(FRESH, {**WISH, "ca_hash": "", "endpoint": ""}, [])[0] == "join"
    assert kubeadm.join_action(WORKER, {**WISH, "ca_hash": "", "endpoint": ""}, [])[0] == "reset"


def test_a_node_that_serves_is_not_reset_on_no_knowledge() -> None:
    action, reason = kubeadm.join_action(WORKER, WISH, [])
    assert action == "refuse"
    assert "lists no node" in reason
    assert kubeadm.join_action(FRESH, WISH, [])[0] == "join"


def test_case_66_a_name_that_another_node_has_is_refused() -> None:
    taken = [{"name": "gpu-1", "addresses": ["192.0.2.12"], "ready": False}]
    action, reason = kubeadm.join_action(FRESH, WISH, taken)
    assert action == "refuse"
    assert "gpu-1" in reason
    assert "192.0.2.12" in reason


def test_case_69_a_serving_node_with_another_address_is_not_reset() -> None:
    """It joined with the address of its other network card: the inventory is to be corrected."""
    other = [{"name": "gpu-1", "addresses": ["203.0.113.5"], "ready": True}]
    action, reason = kubeadm.join_action(WORKER, WISH, other)
    assert action == "refuse"
    assert "gshare_node_ip" in reason


def test_node_summaries() -> None:
    items = [
        {
            "metadata": {"name": "gpu-1.example.net", "labels": {"gshare.io/node-type": "cpu"}},
            "status": {
                "addresses": [
                    {"type": "Hostname", "address": "gpu-1.example.net"},
                    {"type": "InternalIP", "address": "192.0.2.11"},
                ],
                "conditions": [{"type": "Ready", "status": "Unknown"}],
                "nodeInfo": {"kubeletVersion": "v1.36.3"},
            },
        },
        {"metadata": {"name": "new"}},
    ]
    assert kubeadm.node_summaries({"items": items}) == [
        {
            "name": "gpu-1.example.net",
            "addresses": ["192.0.2.11"],
            "ready": False,
            "labelled": True,
            "kubelet_version": "v1.36.3",
        },
        {"name": "new", "addresses": [], "ready": False, "labelled": False, "kubelet_version": ""},
    ]


def test_ranges_of_a_living_cluster_are_compared() -> None:
    text = "networking:\n  dnsDomain: cluster.local\n  podSubnet: 10.244.0.0/16\n  serviceSubnet: 10.96.0.0/12\n"
    same = {"pod_cidr": "10.244.0.0/16", "service_cidr": "10.96.0.0/12"}
    assert kubeadm.subnet_conflicts(text, same) == []
    assert kubeadm.subnet_conflicts("", same) == []
    (conflict,) = kubeadm.subnet_conflicts(text, {**same, "pod_cidr": "10.10.0.0/16"})
    assert "gshare_pod_cidr (POD_CIDR) to 10.244.0.0/16" in conflict


def test_failed_checks() -> None:
    text = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/x failed\nlivez check failed\n"
    assert kubeadm.failed_checks(text) == ["etcd failed", "poststarthook/x failed"]
    assert kubeadm.failed_checks("ok") == []


def test_case_64_an_expired_token_is_named() -> None:
    output = 'error execution phase preflight: couldn\'t validate: could not find a JWS signature for token ID "abcdef"'
    assert "expired" in kubeadm.failure_hint(output)


def test_failure_lines_without_colours_and_without_what_is_well() -> None:
    output = "\x1b[0;37mOVERLAY_FS\x1b[0m: \x1b[0;32menabled\x1b[0m\n[WARNING x]: y\nkubeadm did not end within 9 s\n"
    assert kubeadm.failure_lines(output) == ["kubeadm did not end within 9 s"]
    assert kubeadm.failure_lines(output[: output.index("kubeadm")]) == ["[WARNING x]: y"]


def test_failure_lines_are_the_errors() -> None:
    output = """[init] Using Kubernetes version: v1.36.3
[preflight] Running pre-flight checks
[preflight] Some fatal errors occurred:
\t[ERROR Port-10250]: Port 10250 is in use
\t[ERROR Swap]: running with swap on is not supported. Please disable swap
[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`
error: error execution phase preflight: preflight checks failed
To see the stack trace of this error execute with --v=5 or higher
"""
    lines = kubeadm.failure_lines(output)
    assert "[ERROR Port-10250]: Port 10250 is in use" in lines
    assert not any("stack trace" in line or "If you know" in line for line in lines)
    assert kubeadm.failure_lines("one\n\ntwo\n") == ["one", "two"]
    assert kubeadm.failure_lines("") == []
