# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Machines that are new come in together, and who serves does not notice."""

from __future__ import annotations


def test_two_machines_join_together_while_a_pod_answers(caller, playbooks, machines, addresses) -> None:
    before = machines.logins("cpu1"), machines.containerd("cpu1"), machines.boot_id("cpu1"), machines.shared()
    run = playbooks.run("add_node")
    assert run.status == 0
    assert set(run.recap) == {"localhost", *(addresses[name] for name in ("control1", "gpu1", "cpu2"))}
    assert machines.nodes() == dict.fromkeys(addresses, "Ready")
    assert caller.failures == []
    assert caller.calls > 100
    # The second count is itself a login, and so are the two before it.
    assert machines.logins("cpu1") - before[0] == 3
    assert (machines.containerd("cpu1"), machines.boot_id("cpu1")) == before[1:3]
    assert {key: machines.shared()[key] for key in before[3]} == before[3]


def test_labels_and_cards_are_there(machines) -> None:
    found = {node["metadata"]["name"]: node for node in machines.kubectl("get", "nodes", "-o", "json")["items"]}
    assert found["gpu1"]["metadata"]["labels"]["gshare.io/gpu-mode"] == "fractional"
    assert found["gpu1"]["status"]["allocatable"]["nvidia.com/gpu"] == "20"
    assert found["cpu2"]["metadata"]["labels"]["gshare.io/node-type"] == "cpu"


def test_nothing_is_left_to_add(playbooks, addresses) -> None:
    run = playbooks.run("add_node")
    assert run.status == 0
    assert run.changed == {}
    assert "Nothing is missing" in run.output
    assert set(run.recap) == {"localhost", addresses["control1"]}


def test_verify_finds_the_whole_cluster_well(playbooks) -> None:
    assert playbooks.run("verify").status == 0
