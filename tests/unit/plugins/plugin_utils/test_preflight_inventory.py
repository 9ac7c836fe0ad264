# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_inventory as checks
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import Machine, Settings

GROUPS = {
    "kube_control_plane": ["a"],
    "gpu_node": ["b"],
    "gpu_fractional": ["b"],
    "cpu_node": ["c"],
    "kube_worker": ["b", "c"],
}
MACHINES = [
    Machine("a", "192.0.2.10", ("kube_control_plane",)),
    Machine("b", "192.0.2.11", ("gpu_node",)),
    Machine("c", "192.0.2.12", ("cpu_node",)),
]


def found(machines=None, groups=None, **settings):
    machines = MACHINES if machines is None else machines
    groups = GROUPS if groups is None else groups
    return [(one.name, one.hosts) for one in checks.check(machines, Settings(**settings), groups)]


def test_a_good_inventory_has_no_finding():
    assert found() == []


def test_no_control_plane_and_two():
    assert found([], {}) == [("control_plane_count", ("the inventory",))]
    assert found(groups={"kube_cluster": ["a"]})[0] == ("control_plane_count", ("the inventory",))
    assert found(MACHINES[:1], {"kube_control_plane": ["a"]}) == [("no_worker", ("the inventory",))]
    two = {**GROUPS, "kube_control_plane": ["a", "c"]}
    assert found(groups=two) == [("control_plane_count", ("a", "c"))]


def test_no_role_and_two_roles():
    machines = [*MACHINES, Machine("d", "192.0.2.13"), Machine("e", "192.0.2.14", ("cpu_node", "storage_node"))]
    assert found(machines) == [("role_count", ("d",)), ("role_count", ("e",))]


def test_a_machine_outside_kube_cluster():
    assert found(groups={**GROUPS, "storage_node": ["z"]}) == [("role_count", ("z",))]


def test_both_gpu_modes():
    assert found(groups={**GROUPS, "gpu_exclusive": ["b"]}) == [("role_count", ("b",))]


def test_addresses():
    unresolved = Machine(
        "d", "d.invalid", ("cpu_node",), problem={"name": "address_unresolved", "text": "no such name"}
    )
    twice = Machine("e", "192.0.2.10", ("cpu_node",))
    assert found([*MACHINES, unresolved, twice]) == [("address_unresolved", ("d",)), ("duplicate_address", ("a", "e"))]


def test_ranges():
    assert found(pod_cidr="10.244.0.0") == []
    assert found(pod_cidr="10.244.0.1/16") == [("range_invalid", ("the inventory",))]
    assert found(service_cidr="ten") == [("range_invalid", ("the inventory",))]
    assert found(pod_cidr="10.96.0.0/16") == [("ranges_overlap", ("the inventory",))]
    assert found(pod_cidr="192.0.2.0/28") == [("ranges_overlap", (name,)) for name in "abc"]
    assert found(pod_cidr="10.244.0.0/16,2001:db8::/64", service_cidr="10.96.0.0/12,2001:db8::/112") == [
        ("ranges_overlap", ("the inventory",))
    ]


def test_the_port_of_the_api_server():
    for port in (6443, "443", 8443):
        assert found(api_port=port, ports_control_plane=["10250/tcp"]) == []
    for port in (0, 70000, "x", "", None, "6443/tcp", "10250"):
        assert found(api_port=port, ports_control_plane=["10250/tcp"]) == [("port_invalid", ("the inventory",))]


def test_versions():
    for version in ("1.36", "1.36.5", 1.36):
        assert found(kubernetes_version=version) == []
    for version in ("stable", "1", "1.36.x", "", "v1.36.5"):
        assert found(kubernetes_version=version) == [("version_invalid", ("the inventory",))]


def test_names_in_accept():
    assert found(accept=["cgroup_v1"]) == []
    assert found(accept=["cgroup_v2", "sudo"]) == [("accept_unknown", ("the inventory",))] * 2


def test_the_users_own_checks():
    good = {"name": "web", "kind": "Pod", "query": "length(items)", "expect": 3, "remedy": "Scale it."}
    assert found(checks=[good]) == found(checks=None) == []
    # The sentences are those of _custom_checks.
    (one,) = checks.check(MACHINES, Settings(checks=[{**good, "query": "items[?"}]), GROUPS)
    assert one.text.startswith("gshare_checks, entry 1 (web): query is not JMESPath: ")
    assert found(checks="web") == [("check_invalid", ("the inventory",))]


def test_all_mistakes_at_once():
    wrong = found(groups={}, pod_cidr="x", kubernetes_version="y", accept=["z"], checks=["a", "b"])
    assert [name for name, _hosts in wrong] == [
        "control_plane_count",
        "range_invalid",
        "version_invalid",
        "accept_unknown",
        "check_invalid",
        "check_invalid",
    ]


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"gpu_sharing": "hamy"}, "gshare_gpu_sharing is 'hamy', and has to be one of hami, nvidia, none."),
        ({"ingress": "nginx"}, "gshare_ingress is 'nginx', and has to be one of ingress-nginx, traefik, none."),
        ({"gpu_split": "x"}, "gshare_gpu_split is 'x', and has to be a number of pods a card."),
    ],
)
def test_settings_with_few_values(choices, said):
    (one,) = checks.check(MACHINES, Settings(choices=choices), GROUPS)
    assert (one.name, one.text) == ("setting_invalid", said)


def test_who_may_be_disturbed_is_a_machine():
    known = MACHINES[0].name
    assert found(choices={"disrupt": [known]}) == found(choices={"disrupt": f"{known}, all"}) == []
    (one,) = checks.check(MACHINES, Settings(choices={"disrupt": f"{known}x"}), GROUPS)
    assert one.text == f"gshare_disrupt names '{known}x', which is no machine of the inventory; did you mean {known}."


def test_registries():
    wrong = {"address": "http://192.0.2.40:5000", "mirrors": {"quay.io": ["mirror.example.net"]}}
    assert found(registries=wrong) == [("registry_invalid", ("the inventory",))] * 2
    assert found(registries={"address": "192.0.2.40:5000", "mirror": "", "mirrors": {}, "tls": False}) == []
