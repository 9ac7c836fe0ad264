# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.missing_machines import missing_machines

WORKERS = ["10.0.0.20", "10.0.0.21", "cpu9"]
GROUPS = {
    "kube_control_plane": ["10.0.0.10"],
    "kube_worker": WORKERS,
    "kube_cluster": ["10.0.0.10", *WORKERS],
}
HOSTVARS: dict[str, dict[str, t.Any]] = {
    "10.0.0.10": {},
    "10.0.0.20": {"gshare_node_ip": "192.0.2.20"},
    "10.0.0.21": {},
    "cpu9": {"ansible_host": "10.0.0.29"},
}


def node(address: str, ready: bool = True, labelled: bool = True) -> dict[str, t.Any]:
    return {"name": f"n-{address}", "addresses": [address], "ready": ready, "labelled": labelled}


def missing(*nodes: dict[str, t.Any], only: t.Any = ()) -> list[str]:
    return missing_machines(GROUPS, HOSTVARS, [node("10.0.0.10"), *nodes], only)


def test_machines_are_compared_by_the_address_of_the_node() -> None:
    assert missing() == WORKERS
    assert missing(node("192.0.2.20")) == ["10.0.0.21", "cpu9"]
    assert missing(node("192.0.2.20"), node("10.0.0.21", ready=False), node("10.0.0.29")) == []


@pytest.mark.parametrize("only", ["cpu9, 10.0.0.20", ["cpu9", "192.0.2.20"], "10.0.0.29,10.0.0.20,10.0.0.10"])
def test_named_ones_alone(only: t.Any) -> None:
    assert missing(only=only) == ["10.0.0.20", "cpu9"]
    assert missing(node("192.0.2.20"), node("10.0.0.29"), only=only) == []


def test_a_named_machine_whose_node_is_dead_may_have_been_installed_anew() -> None:
    assert missing(node("10.0.0.21", ready=False), only="10.0.0.21") == ["10.0.0.21"]


def test_names_that_nobody_has_are_told_all_at_once() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        missing(only="10.0.0.22,gpu-x")
    assert "There is no machine 10.0.0.22: did you mean 10.0.0.2" in str(caught.value)
    assert "no machine gpu-x: add it to cluster-info, or name it with -e machine=USER@ADDRESS:MODE." in str(
        caught.value
    )


def test_a_node_that_came_back_by_itself_has_no_label_of_ours() -> None:
    again = node("10.0.0.21", labelled=False)
    assert missing(node("192.0.2.20"), again, node("10.0.0.29")) == ["10.0.0.21"]
