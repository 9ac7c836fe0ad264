# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A machine whose cards are in use is neither rebooted nor has its containerd restarted, unless it is named."""

from __future__ import annotations

import json

import pytest

NODE = "gpu1"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train"},
    "spec": {
        "nodeSelector": {"kubernetes.io/hostname": NODE},
        "containers": [
            {
                "name": "train",
                "image": "docker.io/library/debian:12-slim",
                "command": ["sleep", "100000"],
                "resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 2048}},
            }
        ],
    },
}


@pytest.fixture(scope="module")
def pod(machines):
    """A pod with a slice of a card; when its container was started."""
    machines.run("control1", f"echo {json.dumps(json.dumps(POD))} > /tmp/pod.json")
    machines.kubectl("apply", "-f", "/tmp/pod.json")
    machines.kubectl("wait", "--for=condition=Ready", "--timeout=120s", "pod/train")
    yield started(machines)
    machines.kubectl("delete", "pod", "train", "--grace-period=1")


def started(machines) -> str:
    found = machines.kubectl("get", "pod", "train", "-o", "json")["status"]["containerStatuses"][0]
    assert found["restartCount"] == 0
    return found["state"]["running"]["startedAt"]


@pytest.fixture(scope="module")
def disturbed(pod, machines) -> tuple[str, str]:
    """What tells whether the machine or its containerd was started anew."""
    return machines.boot_id(NODE), machines.containerd(NODE)


@pytest.fixture(scope="module")
def run(playbooks, disturbed):
    # A setting that takes a restart of containerd.
    setting = {"containerd_runtime_settings": {"restrict_oom_score_adj": True, "max_container_log_line_size": 32768}}
    return playbooks.run("up", "-e", json.dumps(setting))


def test_run_goes_on_to_its_end(run, machines) -> None:
    assert run.status == 0
    # The other machines have it.
    assert "32768" in machines.run("gpu2", "cat /etc/containerd/config.toml")


def test_pod_and_containerd_are_as_before(run, pod, disturbed, machines) -> None:
    assert started(machines) == pod
    assert (machines.boot_id(NODE), machines.containerd(NODE)) == disturbed
    assert "32768" not in machines.run(NODE, "cat /etc/containerd/config.toml")


def test_run_says_what_it_left_undone_and_why(run, addresses) -> None:
    end = " ".join(run.output.partition("PLAY RECAP")[2].split())
    assert addresses[NODE] in end
    assert "pod default/train" in end
    assert "gshare_disrupt" in end


def test_named_machine_is_disturbed(run, playbooks, machines, addresses, disturbed) -> None:
    setting = {"containerd_runtime_settings": {"restrict_oom_score_adj": True, "max_container_log_line_size": 32768}}
    again = playbooks.run("up", "-e", json.dumps(setting), "-e", f"gshare_disrupt={addresses[NODE]}")
    assert again.status == 0
    assert machines.containerd(NODE) != disturbed[1]


def test_process_on_a_card_counts_as_use(ask, machines, addresses) -> None:
    machines.run(NODE, "lab-gpu set process1 4711 0 2048 /usr/bin/python3")
    try:
        found = ask(addresses[NODE], "gshare.cluster.gpu_info")
    finally:
        machines.run(NODE, "lab-gpu unset process1")
    assert any("4711" in sentence for sentence in found["in_use"])
