# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What containerd reaches without a proxy, by the inventory."""

from __future__ import annotations

import typing as t

from ansible.template import trust_as_template

from ansible_collections.gshare.cluster.plugins.filter.node_ip import FilterModule
from ansible_collections.gshare.cluster.tests.unit.roles.settings import templar

CLUSTER = {
    "192.0.2.10": {},
    "gpu-1": {"ansible_host": "[2001:db8::0:1]"},
    "gpu-2": {"ansible_host": "gpu-2.invalid", "gshare_node_ip": "192.0.2.12"},
}


def no_proxy(hosts: dict[str, t.Any], **settings: t.Any) -> list[str]:
    groups = {"kube_cluster": list(hosts)} if hosts else {}
    engine = templar("containerd", groups=groups, hostvars=hosts, **settings)
    # Without a run, Ansible finds no filter of a collection.
    for name, function in FilterModule().filters().items():
        engine._engine.environment.filters[f"gshare.cluster.{name}"] = function
    return engine.template(trust_as_template("{{ containerd_no_proxy }}"))


def test_case_77_all_machines_and_ranges() -> None:
    ranges = ["10.244.0.0/16", "10.96.0.0/12", ".svc", ".cluster.local"]
    assert no_proxy(CLUSTER) == ["192.0.2.10", "2001:db8::1", "192.0.2.12", *ranges]
    assert no_proxy({}) == ranges


def test_case_77_what_the_inventory_says() -> None:
    settings = {
        "gshare_pod_cidr": "10.1.0.0/16, fd00::/56",
        "gshare_service_cidr": "10.2.0.0/16",
        "gshare_local_registry": "192.0.2.5:5000",
        "gshare_local_registry_mirror": "mirror.example.net:5001",
    }
    ranges = ["10.1.0.0/16", "fd00::/56", "10.2.0.0/16", ".svc", ".cluster.local"]
    assert no_proxy({}, **settings) == [*ranges, "192.0.2.5:5000", "mirror.example.net:5001"]
