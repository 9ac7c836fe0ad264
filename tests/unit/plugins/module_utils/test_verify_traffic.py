# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._verify_traffic import (
    broken_edges,
    check_dns,
    check_pod_network,
    default_classes,
    probable_cause,
)
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot, Traffic

ALL = {"sent": True, "received": True, "returned": True, "answered": True}


def path(**more: object) -> dict:
    return {"from": "a", "to": "b", "ports": [], "no_link": [], **ALL, **more}


@pytest.mark.parametrize(
    ("found", "cause", "remedy"),
    [
        (path(sent=False, received=False), "packets for b do not leave a through flannel.1", "On a: ip route"),
        (path(received=False, returned=False), "8472/udp does not pass from a to b", "firewall of b"),
        (path(returned=False, answered=False), "b receives the packets and sends no answer", "On b: ip route"),
        (path(answered=False), "8472/udp does not pass from b to a", "firewall of a"),
        (path(), "ping passes and TCP does not", "tx-checksum-ip-generic off"),
        (path(no_link=["b"]), "b has no link flannel.1", "kube-flannel"),
        (path(unknown="no answer within 20 s"), "could not be looked at (no answer within 20 s)", "kubelet_port"),
    ],
)
def test_probable_cause(found, cause, remedy):
    text, todo = probable_cause("a", "b", found)
    assert cause in text
    assert remedy in todo


def answers(**http: dict) -> Traffic:
    return Traffic(
        probes={name: {"address": "x"} for name in "abc"},
        answers={
            name: {"bridge": True, "servers": ["10.96.0.10"], "dns": [], "http": seen} for name, seen in http.items()
        },
        ring=[("a", "b"), ("b", "c"), ("c", "a")],
    )


def test_broken_edges():
    good = answers(a={"b": "b"}, b={"c": "c"}, c={"a": "a"})
    assert broken_edges(good) == []
    assert broken_edges(answers(a={"b": "wget: timed out"}, b={"c": "c"}, c={"a": "a"})) == [("a", "b")]
    # Another server answered: the address was given out twice.
    assert broken_edges(answers(a={"b": "c"}, b={"c": "c"}, c={"a": "a"})) == [("a", "b")]


def test_an_end_that_cannot_be_asked_is_replaced_by_the_other():
    traffic = answers(a={"b": "b"}, b={}, c={"a": "a", "b": "wget: timed out"})
    traffic.answers["b"] = {"error": "no answer"}
    assert broken_edges(traffic) == [("b", "c")]


def test_paths_that_nobody_could_try_are_not_called_good():
    traffic = answers(a={"b": "b"}, b={}, c={})
    traffic.answers["b"] = traffic.answers["c"] = {"error": "no answer"}
    found = check_pod_network(Snapshot(traffic=traffic), Expectation())
    assert found.status == "failed"
    assert found.problems == ("nobody could try the path between b and c", "nobody could try the path between c and a")


def test_no_dns_service():
    assert "there is no service kube-system/kube-dns" in check_dns(Snapshot(traffic=Traffic()), Expectation()).detail


def test_default_classes():
    old = {"metadata": {"name": "old", "annotations": {"storageclass.beta.kubernetes.io/is-default-class": "true"}}}
    no = {"metadata": {"name": "no", "annotations": {"storageclass.kubernetes.io/is-default-class": "false"}}}
    assert default_classes([old, no, {"metadata": {"name": "none"}}]) == ["old"]
