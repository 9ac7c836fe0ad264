# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs that were cut off: the next one goes on. Those of `up` are in the scenarios faults and gpu."""

from __future__ import annotations

import getpass
import subprocess
import threading

import pytest

from ...conftest import kill_tree

NODE = "cpu2"


@pytest.fixture
def remove(playbooks, addresses):
    """Take the machine out; whether that went well. Its node, and so its name, may be gone already."""
    return lambda: playbooks.run("remove_node", "-e", f"node={addresses[NODE]}").status == 0


@pytest.mark.parametrize("task", ["Install the Kubernetes packages", "Join the cluster", "Label the nodes"])
def test_add_node_killed(task, remove, playbooks, machines) -> None:
    assert remove()
    if task.startswith("Install"):
        machines.run(NODE, "apt-get purge -qy --allow-change-held-packages kubelet kubeadm kubectl")
    assert playbooks.kill("add_node", task, after=1)
    assert playbooks.run("add_node").status == 0
    assert machines.nodes()[NODE] == "Ready"
    assert secrets(machines) == 0, "tokens of the run that was killed"


def secrets(machines) -> int:
    """How many bootstrap tokens of ours there are."""
    found = machines.kubectl("-n", "kube-system", "get", "secrets", "-o", "json")["items"]
    return len([item for item in found if item["type"] == "bootstrap.kubernetes.io/token"])


def test_add_node_loses_the_machine(remove, playbooks, machines, lab) -> None:
    assert remove()
    thread = threading.Timer(20, lab, ("kill", NODE))
    thread.start()
    run = playbooks.run("add_node")
    thread.join()
    assert run.status != 0
    lab("start", NODE)
    assert playbooks.run("add_node").status == 0
    assert machines.nodes()[NODE] == "Ready"


def test_remove_node_killed_while_it_drains(playbooks, machines) -> None:
    arguments = ("-e", f"node={NODE}")
    assert playbooks.kill("remove_node", "Send its pods elsewhere", *arguments, after=4)
    # Who thinks better of it has `up` put the node back into service.
    assert playbooks.run("up").status == 0
    assert machines.nodes()[NODE] == "Ready"


@pytest.mark.parametrize("task", ["Take the node out", "Take the cluster off this machine"])
def test_remove_node_killed(task, playbooks, machines, remove) -> None:
    assert playbooks.kill("remove_node", task, "-e", f"node={NODE}", after=1)
    assert remove()
    assert NODE not in machines.nodes()
    assert machines.run(NODE, "ls /etc/kubernetes").split() in ([], ["manifests"])
    assert playbooks.run("add_node").status == 0


def test_remove_node_loses_the_machine(playbooks, machines, lab, addresses, remove) -> None:
    thread = threading.Timer(4, lab, ("cut", NODE))
    thread.start()
    playbooks.run("remove_node", "-e", f"node={NODE}")
    thread.join()
    if NODE in machines.nodes():
        machines.kubectl("wait", "--for=condition=Ready=Unknown", "--timeout=120s", f"node/{NODE}")
        assert remove()
    lab("mend", NODE)
    assert playbooks.run("add_node", "-e", f"node={addresses[NODE]}").status == 0


def test_of_two_runs_one_works_and_one_that_is_killed_is_followed(playbooks, machines) -> None:
    first = subprocess.Popen(
        playbooks.command("up"), cwd=playbooks.root, env=playbooks.environment, stdout=subprocess.DEVNULL
    )
    machines.run("control1", "timeout 60 sh -c 'until test -e /run/gshare-cluster.lock; do sleep 0.2; done'")
    second = playbooks.run("up")
    assert second.status != 0
    assert f"Another run works on this cluster: up.yml by {getpass.getuser()} on" in " ".join(second.output.split())
    kill_tree(first.pid)
    first.wait()
    assert playbooks.run("add_node").status == 0
    waits = "timeout 20 sh -c 'while test -e /run/gshare-cluster.lock; do sleep 0.2; done'"
    machines.run("control1", waits)


def test_all_is_well_in_the_end(playbooks) -> None:
    assert playbooks.run("verify").status == 0
