# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.leaving_machines import leaving_machines

GROUPS = {"kube_control_plane": ["10.0.0.10"], "kube_cluster": ["10.0.0.10", "10.0.0.20", "rack7"]}
HOSTVARS: dict[str, t.Any] = {"10.0.0.10": {}, "10.0.0.20": {}, "rack7": {"ansible_host": "10.0.0.27"}}
NODES = [
    {"name": "control1", "addresses": ["10.0.0.10"], "ready": True},
    {"name": "gpu1", "addresses": ["10.0.0.20"], "ready": True},
    {"name": "old1", "addresses": ["10.0.0.99"], "ready": False},
]
GPU1 = {"host": "10.0.0.20", "node": "gpu1", "ready": True, "listed": True}


def leaving(wanted: t.Any) -> list[dict[str, t.Any]]:
    return leaving_machines(wanted, GROUPS, HOSTVARS, NODES)


@pytest.mark.parametrize("wanted", ["10.0.0.20", "gpu1", ["gpu1"], " gpu1 , 10.0.0.20"])
def test_case_68_by_address_or_by_the_name_of_the_node(wanted: t.Any) -> None:
    assert leaving(wanted) == [GPU1]


def test_a_node_that_the_inventory_has_forgotten_and_a_machine_that_is_no_node() -> None:
    assert leaving("old1,rack7") == [
        {"host": "10.0.0.99", "node": "old1", "ready": False, "listed": False},
        {"host": "rack7", "node": "", "ready": False, "listed": True},
    ]


def test_all_that_is_wrong_at_once() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        leaving("gpu1,gpu2,control1,xyz")
    text = str(caught.value)
    assert "There is no machine gpu2: did you mean gpu1?" in text
    assert "control1 is the control plane, and the cluster ends with it: see the playbook reset." in text
    assert "There is no machine xyz: neither the inventory nor the cluster has it." in text
    assert text.endswith("A machine whose node is gone already is named as the inventory has it. Nothing was touched.")


@pytest.mark.parametrize("wanted", ["", [], " , "])
def test_nobody_is_named(wanted: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match="Say which machine is to leave: add -e node=NAME"):
        leaving(wanted)
