# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_cluster as checks

JOINED = {"kubelet_server": "https://192.0.2.10:6443", "cluster_ca": "aa"}
MASTER = {"control_plane": True, "kubelet_server": "https://192.0.2.10:6443", "cluster_ca": "aa"}


def names(machines, settings):
    return [(one.name, one.hosts) for one in checks.check(machines, settings)]


def test_different_machines_have_no_finding(make, settings):
    assert names([make(10, "kube_control_plane"), make(11), make(12)], settings) == []


def test_case_66_the_same_name_and_the_same_machine_id(make, settings):
    path = Path(__file__).parent / "fixtures" / "preflight" / "duplicate_identity.json"
    given = json.loads(path.read_text(encoding="utf-8"))
    machines = [make(int(one.pop("host").rpartition(".")[2]), "gpu_node", **one) for one in given]
    found = checks.check(machines, settings)
    assert [(one.name, one.severity, one.hosts) for one in found] == [
        ("duplicate_host_name", "error", ("192.0.2.11", "192.0.2.12")),
        ("duplicate_machine_id", "error", ("192.0.2.11", "192.0.2.13")),
    ]
    assert "gpu-1" in found[0].text


def test_node_names_are_lower_case(make, settings):
    assert names([make(11, hostname="GPU-1"), make(12, hostname="gpu-1")], settings) == [
        ("duplicate_host_name", ("192.0.2.11", "192.0.2.12"))
    ]


@pytest.mark.parametrize(
    ("uuid", "found"),
    [
        ("4c4c4544-0000-4000-8000-000000000001", ["duplicate_product_uuid"]),
        ("03000200-0400-0500-0006-000700080009", []),
        ("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", []),
        ("", []),
    ],
)
def test_product_uuids_that_say_something(make, settings, uuid, found):
    result = checks.check([make(11, product_uuid=uuid), make(12, product_uuid=uuid)], settings)
    assert [one.name for one in result] == found


def test_case_65_a_clock_that_is_17_minutes_behind(make, settings):
    machines = [make(10, "kube_control_plane"), make(11, time=1000.5 - 1020), make(12)]
    (found,) = checks.check(machines, settings)
    assert (found.name, found.hosts) == ("clock_skew", ("192.0.2.11",))
    assert found.text == "Its clock is 1020 s behind the other machines."


def test_the_controller_may_be_the_one_that_is_wrong(make, settings):
    machines = [make(number, time=5000.0) for number in (10, 11, 12)]
    assert names(machines, settings) == []


def test_a_control_plane_that_is_wrong_is_told_not_its_workers(make, settings):
    machines = [make(10, "kube_control_plane", time=9000.0), make(11), make(12)]
    (found,) = checks.check(machines, settings)
    assert found.hosts == ("192.0.2.10",)
    assert "8000 s ahead of the other machines" in found.text


def test_one_machine_is_compared_with_the_controller(make, settings):
    (found,) = checks.check([make(10, time=1100.5)], settings)
    assert found.text == "Its clock is 100 s ahead of the controller."


def test_a_slow_answer_is_no_wrong_clock(make, settings):
    slow = make(11, time=1000.0)
    slow.clock = {"before": 1000.0, "after": 1090.0}
    assert names([make(10), slow, make(12)], settings) == []


def test_a_cluster_that_runs_is_its_own(make, settings):
    assert names([make(10, "kube_control_plane", **MASTER), make(11, **JOINED)], settings) == []
    behind_a_name = {**JOINED, "kubelet_server": "https://api.example.net:6443"}
    assert names([make(10, "kube_control_plane", **MASTER), make(11, **behind_a_name)], settings) == []


def test_a_worker_of_another_control_plane(make, settings):
    other = {"kubelet_server": "https://192.0.2.99:6443", "cluster_ca": "bb"}
    for master in (make(10, "kube_control_plane"), make(10, "kube_control_plane", **MASTER)):
        (found,) = checks.check([master, make(11, **other)], settings)
        assert found.name == "other_cluster"
        assert "https://192.0.2.99:6443" in found.text
        assert "kubeadm reset" in found.remedy


def test_a_control_plane_that_works_for_another(make, settings):
    other = {"kubelet_server": "https://192.0.2.99:6443", "cluster_ca": "bb"}
    assert names([make(10, "kube_control_plane", **other)], settings) == [("other_cluster", ("192.0.2.10",))]


def test_leftovers_of_a_cluster_at_the_same_address_are_cleared_later(make, settings):
    left = {**JOINED, "cluster_ca": "old"}
    assert names([make(10, "kube_control_plane", **MASTER), make(11, **left)], settings) == []
    assert names([make(10, "kube_control_plane"), make(11, **left)], settings) == []


def test_without_the_control_plane_nothing_is_known(make, settings):
    assert names([make(11, kubelet_server="https://192.0.2.99:6443")], settings) == []


def test_case_66_a_host_name_that_a_node_of_the_cluster_has(make, settings):
    settings.nodes = [
        {"name": "gpu-1", "addresses": ["192.0.2.99"], "ready": False},
        {"name": "gpu-2", "addresses": ["192.0.2.12"], "ready": True},
    ]
    machines = [make(11, hostname="GPU-1"), make(12, hostname="gpu-2")]
    found = [one for one in checks.check(machines, settings) if one.name == "node_name_taken"]
    assert [(one.hosts, one.text) for one in found] == [
        (("192.0.2.11",), "Its host name is gpu-1, and the node of that name has the address 192.0.2.99.")
    ]
