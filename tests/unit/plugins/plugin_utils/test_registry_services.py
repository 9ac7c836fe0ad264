# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.registry_services import FilterModule
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import mistakes

registry_services = FilterModule().filters()["registry_services"]
MACHINES = {"cp": "192.0.2.10", "store": "192.0.2.40"}


def served(**settings: t.Any) -> list[tuple[str, int, str, str]]:
    found = registry_services(settings, MACHINES)["services"]
    return [(entry["name"], entry["port"], entry["server"], entry["address"]) for entry in found]


def test_registry_and_mirrors_of_a_machine_of_the_cluster_are_served_there() -> None:
    assert served(registry="192.0.2.40:5000", mirror="192.0.2.40:5001", pull_through={"ghcr.io": 5002}) == [
        ("registry", 5000, "", "192.0.2.40"),
        ("mirror-docker-io", 5001, "https://registry-1.docker.io", "192.0.2.40"),
        ("mirror-ghcr-io", 5002, "https://ghcr.io", "192.0.2.40"),
    ]


def test_a_registry_elsewhere_is_somebody_elses() -> None:
    assert served(registry="192.0.2.99:5000", mirror="192.0.2.10:5001") == [
        ("mirror-docker-io", 5001, "https://registry-1.docker.io", "192.0.2.10")
    ]
    assert served() == []


def test_a_name_is_served_by_the_machine_that_is_named() -> None:
    assert served(registry="registry.example.net:5000") == []
    assert served(registry="registry.example.net:5000", node="store") == [("registry", 5000, "", "192.0.2.40")]


def test_only_the_machine_that_serves_is_marked() -> None:
    machines = {**MACHINES, "six": "2001:db8::5"}
    found = registry_services({"registry": "[2001:db8::5]:5000"}, machines)
    assert found["nodes"] == [
        {"address": "192.0.2.10", "labels": {}},
        {"address": "192.0.2.40", "labels": {}},
        {"address": "2001:db8::5", "labels": {"gshare.io/registry": "2001-db8--5"}},
    ]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"registry": "192.0.2.40"}, "gshare_local_registry is '192.0.2.40' without a port: write the port"),
        (
            {"registry": "192.0.2.40:5000", "mirror": "192.0.2.40:5000"},
            "registry and mirror-docker-io would both listen on port 5000: change one",
        ),
        ({"pull_through": {"ghcr.io": 5002}}, "gshare_registry_pull_through['ghcr.io'] needs gshare_local_registry"),
        (
            {"mirror": "192.0.2.40:5001", "pull_through": {"ghcr.io": "x", "quay.io": True}},
            "gshare_registry_pull_through['ghcr.io'] is 'x': write the port that its mirror is to listen on. "
            "gshare_registry_pull_through['quay.io'] is True",
        ),
        (
            {"mirror": "192.0.2.40:5001", "pull_through": {"docker.io": 5002}},
            "set gshare_local_registry_mirror for Docker Hub instead",
        ),
        ({"node": "stor"}, "gshare_registry_node is 'stor', which is no machine of kube_cluster: name one of them"),
    ],
)
def test_mistakes_are_told_with_their_remedy(settings: dict[str, t.Any], told: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        served(**settings)
    assert told in str(caught.value)


def test_preflight_gets_them_one_by_one() -> None:
    found = mistakes("192.0.2.40", "192.0.2.40", {}, MACHINES, "")
    assert [sentence.partition(" is ")[0] for sentence in found] == [
        "gshare_local_registry",
        "gshare_local_registry_mirror",
    ]
    assert mistakes("192.0.2.40:5000", "", {}, MACHINES, "") == []
