# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Machines leave: by force where a budget holds them, again and again, and when they are off."""

from __future__ import annotations

import pytest

NODE = "cpu2"
GUARDED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: guarded}
spec:
  selector: {matchLabels: {app: guarded}}
  template:
    metadata: {labels: {app: guarded}}
    spec:
      nodeSelector: {kubernetes.io/hostname: cpu2}
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: "docker.io/library/busybox:1.37.0", command: [sleep, "100000"]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guarded}
spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
"""


@pytest.fixture
def guarded(machines, cluster):
    """A pod on cpu2 that a budget keeps there."""
    machines.apply(GUARDED)
    machines.kubectl("rollout", "status", "deployment/guarded", "--timeout=120s")
    yield "default/guarded"
    machines.kubectl("delete", "deployment,pdb", "guarded")


def test_a_budget_holds_the_node_until_it_is_forced(guarded, playbooks, machines) -> None:
    arguments = ("-e", f"node={NODE}", "-e", "membership_drain_timeout=15")
    run = playbooks.run("remove_node", *arguments)
    assert run.status != 0
    told = " ".join(run.output.split())
    assert f"pod {guarded}" in told
    assert f"disruption budget {guarded} (minAvailable 1, 0 may go now)" in told
    assert "It is in service again." in told
    assert machines.nodes()[NODE] == "Ready"
    assert playbooks.run("remove_node", *arguments, "-e", "force=true").status == 0
    assert NODE not in machines.nodes()


def test_the_machine_is_clean_and_a_second_run_finds_nothing(playbooks, machines, addresses) -> None:
    for trace in ("/etc/kubernetes/kubelet.conf", "/etc/cni/net.d/10-flannel.conflist", "/sys/class/net/cni0"):
        assert machines.run(NODE, f"test -e {trace} && echo there || echo gone").strip() == "gone", trace
    assert "KUBE-" not in machines.run(NODE, "iptables-save")
    assert machines.run(NODE, "systemctl is-active containerd").strip() == "active"
    again = playbooks.run("remove_node", "-e", f"node={addresses[NODE]}")
    assert (again.status, again.changed) == (0, {})


def test_a_machine_is_named_on_the_command_line_and_listed_afterwards(inventory, machines, addresses) -> None:
    small = inventory(addresses["cpu1"], addresses["gpu1"])
    before = small.inventory.read_text(encoding="utf-8")
    entry = f"ubuntu@{addresses[NODE]}:cpu"
    assert small.run("add_node", "-e", f"machine={entry}", "-e", "record=true").status == 0
    assert machines.nodes()[NODE] == "Ready"
    kept = f"CPU_WORKERS=ubuntu@{addresses['cpu1']}"
    assert small.inventory.read_text(encoding="utf-8") == before.replace(kept, f"{kept},{entry.removesuffix(':cpu')}")
    assert small.run("remove_node", "-e", f"node={NODE}", "-e", "record=true").status == 0
    assert small.inventory.read_text(encoding="utf-8") == before


def test_it_comes_and_goes_any_number_of_times(caller, playbooks, machines) -> None:
    assert playbooks.run("add_node").status == 0
    assert machines.nodes()[NODE] == "Ready"
    assert playbooks.run("remove_node", "-e", f"node={NODE}").status == 0
    assert NODE not in machines.nodes()
    assert playbooks.run("add_node").status == 0
    assert caller.failures == []


def test_a_machine_that_is_off(playbooks, machines, lab, addresses) -> None:
    lab("kill", NODE)
    early = playbooks.run("remove_node", "-e", f"node={NODE}")
    assert early.status != 0
    assert "wait a minute and run again" in " ".join(early.output.split())
    machines.kubectl("wait", "--for=condition=Ready=Unknown", "--timeout=120s", f"node/{NODE}")
    run = playbooks.run("remove_node", "-e", f"node={NODE}")
    assert run.status == 0
    assert f"{addresses[NODE]} was not cleaned" in run.output
    assert NODE not in machines.nodes()


def test_others_may_be_off_while_machines_are_looked_for(playbooks, lab, machines, addresses) -> None:
    lab("kill", "gpu1")
    lab("start", NODE)
    # Its kubelet has never heard that the node is gone: it registers again, and is not in service.
    machines.kubectl("wait", "--for=create", "--timeout=60s", f"node/{NODE}")
    run = playbooks.run("add_node", "-e", f"node={addresses[NODE]}")
    assert run.status == 0
    assert set(run.recap) == {"localhost", addresses["control1"], addresses[NODE]}
    labels = machines.kubectl("get", "node", NODE, "-o", "json")["metadata"]["labels"]
    assert labels["gshare.io/node-type"] == "cpu"
    lab("start", "gpu1")
    machines.kubectl("wait", "--for=condition=Ready", "--timeout=120s", "node/gpu1")
    assert playbooks.run("verify").status == 0
