# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
import time

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_probes as probes
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import moment

ANSWER = """@bridge
1
@resolv
search x.svc.cluster.local svc.cluster.local cluster.local example.net
nameserver 10.96.0.10
options ndots:5
@domain
cluster.local
@dns
Server:\t\t10.96.0.10
Address:\t10.96.0.10:53

Name:\tkubernetes.default.svc.cluster.local
Address: 10.96.0.1

*** Can't find kubernetes.default.svc.cluster.local.: No answer
@http gpu-1
gpu-1
@http cpu-1
wget: download timed out

@end
"""


def test_read_answer():
    assert probes.read_answer(ANSWER, "10.96.0.10") == {
        "whole": True,
        "bridge": True,
        "servers": ["10.96.0.10"],
        "domain": "cluster.local",
        "dns": ["10.96.0.1"],
        "dns_text": probes.read_answer(ANSWER, "10.96.0.10")["dns_text"],
        "http": {"gpu-1": "gpu-1", "cpu-1": "wget: download timed out"},
    }


def test_older_nslookup():
    text = (
        "@dns\nServer:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns\n\nName:      k\nAddress 1: 10.96.0.1 kubernetes\n"
    )
    assert probes.read_answer(text, "10.96.0.10")["dns"] == ["10.96.0.1"]


@pytest.mark.parametrize("cut", range(0, len(ANSWER) - 6, 17))
def test_a_cut_answer_is_seen(cut):
    assert not probes.read_answer(ANSWER[:cut], "10.96.0.10")["whole"]


def test_case_72_missing_module_file():
    assert not probes.read_answer("@bridge\n@resolv\n@end\n", "")["bridge"]


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        ([], []),
        (["a"], []),
        (["a", "b"], [("a", "b")]),
        (["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]),
    ],
)
def test_ring(names, pairs):
    assert probes.ring(names) == pairs


def test_scripts_are_shell():
    for text in (
        probes.script("10.96.0.10", {"a": "10.244.0.5", "b": "fd00::5"}),
        probes.port_script([("192.0.2.1", 6443)]),
    ):
        assert subprocess.run(["sh", "-n", "-c", text], check=False).returncode == 0
    assert "http://[fd00::5]:8080/" in probes.script("", {"b": "fd00::5"})
    assert "@dns" not in probes.script("", {})


def test_the_claim_script_is_shell_and_says_why():
    command = probes.claim_pod("busybox")["spec"]["containers"][0]["command"]
    done = subprocess.run(
        ["sh", "-c", command[2].replace("/data", "/nonexistent").replace("> /dev/termination-log", "")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "nonexistent" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("wget: server returned error: HTTP/1.0 400 Bad Request", True),
        ("wget: server returned error: HTTP/1.1 403 Forbidden", True),
        ("wget: download timed out", False),
        ("Terminated", False),
        ("wget: can't connect to remote host (192.0.2.1): Connection refused", False),
        ("wget: can't connect to remote host (192.0.2.1): No route to host", False),
        ("", False),
    ],
)
def test_read_ports(body, passes):
    text = f"@port 192.0.2.1 6443\n{body}\n@port 192.0.2.1 10250\nok\n\n@end\n"
    assert probes.read_ports(text) == {("192.0.2.1", 6443): passes, ("192.0.2.1", 10250): True}


def test_read_counters():
    text = (
        "Inter-|   Receive                           |  Transmit\n"
        " face |bytes    packets errs drop fifo frame |bytes    packets errs drop fifo colls\n"
        "  eth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
        "flannel.1:  5210       5    0    0    0     0          0     0  6000      9    0    0    0     0   0   0\n"
    )
    assert probes.read_counters(text) == (5210, 6000)
    assert probes.read_counters("  eth0: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n") is None


def test_moved():
    assert probes.moved((100, 100), (100 + 5210, 100)) == (True, False)
    assert probes.moved((100, 100), (100 + 900, 100 + 5210)) == (False, True)
    assert probes.moved(None, (1, 1)) is None


def test_leftovers():
    def namespace(name: str, age: float, owner: str, **more: str) -> dict:
        return {
            "metadata": {"name": name, "creationTimestamp": moment(age), "annotations": {probes.OWNER: owner}, **more}
        }

    items = [
        namespace("dead", 60, "dead"),
        namespace("live", 60, "live"),
        namespace("old", 7200, "live"),
        namespace("leaving", 7200, "dead", deletionTimestamp=moment(1)),
    ]
    assert probes.leftovers(items, time.time(), lambda owner: owner == "live") == ["dead", "old"]


def test_manifests_reach_every_node_and_carry_the_label():
    made = probes.daemonset("busybox")
    spec = made["spec"]["template"]["spec"]
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert "hostNetwork" not in spec
    host = probes.host_probe("busybox", "gpu-1", 0)
    assert host["spec"]["hostNetwork"]
    assert host["spec"]["nodeName"] == "gpu-1"
    everything = [made, host, probes.claim("local-path"), probes.claim_pod("busybox"), probes.namespace("x", "me")]
    for item in everything:
        for pair in probes.LABEL.split(","):
            key, value = pair.split("=")
            assert item["metadata"]["labels"][key] == value
    # A claim on a node that is not well would say nothing about storage.
    assert {"operator": "Exists"} not in probes.claim_pod("busybox")["spec"]["tolerations"]
