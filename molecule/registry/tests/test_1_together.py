# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The registry is served, every node pulls from it and through its mirror, and nothing is restarted without need."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import NODES


@pytest.fixture(scope="module")
def first(playbooks):
    return playbooks.run("up")


def test_every_node_pulls_from_it_and_through_its_mirror(first, registry) -> None:
    assert first.status == 0
    said = " ".join(first.output.split())
    assert f"an image pushed to {registry} was pulled by 3 nodes" in said
    assert re.search(r"3 nodes pulled through \S+:5001, as its log says", said)


def test_old_and_new_configurations_are_there(first, machines) -> None:
    assert machines.schema("cpu1") == 2
    assert machines.schema("gpu1") == 4


def test_a_second_run_changes_and_restarts_nothing(first, playbooks, machines) -> None:
    before = {node: machines.containerd(node) for node in NODES}
    assert playbooks.run("up").changed == {}
    assert {node: machines.containerd(node) for node in NODES} == before


def test_check_mode_finds_nothing(first, playbooks) -> None:
    check = playbooks.run("registry", "--check", "--diff")
    assert (check.status, check.changed) == (0, {})


def test_a_key_that_was_changed_by_hand_comes_back_without_a_restart(
    first, playbooks, machines, addresses, registry
) -> None:
    file = f"/etc/containerd/certs.d/{registry}/hosts.toml"
    text, before = machines.run("gpu1", f"cat {file}"), machines.containerd("gpu1")
    machines.run("gpu1", f"sed -i s/http:/https:/ {file}")
    repair = playbooks.run("registry")
    assert {host for host, _task in repair.changes} == {addresses["gpu1"]}
    assert machines.run("gpu1", f"cat {file}") == text
    assert machines.containerd("gpu1") == before


def test_a_value_of_containerd_restarts_it_once_and_pods_run_on(first, playbooks, machines) -> None:
    settings = json.dumps({"containerd_image_settings": {"max_concurrent_downloads": 5}})
    starts = {node: machines.containerd(node) for node in NODES}
    running = {node: machines.containers(node) for node in NODES}
    assert playbooks.run("up", "-e", settings).status == 0
    for node in NODES:
        assert machines.containerd(node) != starts[node]
        assert "max_concurrent_downloads = 5" in machines.run(node, "containerd config dump")
        assert machines.containers(node).items() >= running[node].items()
    after = {node: machines.containerd(node) for node in NODES}
    assert playbooks.run("up", "-e", settings).changed == {}
    assert {node: machines.containerd(node) for node in NODES} == after


def test_without_the_mirror_the_upstream_serves(first, machines) -> None:
    machines.registry("scale deployment mirror-docker-io --replicas=0")
    machines.registry("wait --for=delete pod -l app.kubernetes.io/instance=mirror-docker-io --timeout=60s")
    for node in NODES:
        assert "up to date" in machines.crictl(node, "pull docker.io/library/debian:12-slim")


def test_a_node_that_does_not_reach_it_is_named_with_the_reason(first, playbooks, machines, registry) -> None:
    # The mirror is still stopped; a run brings it back.
    machines.run("gpu1", f"rm -r /etc/containerd/certs.d/{registry}")
    told = playbooks.run("verify")
    assert told.status != 0
    said = " ".join(told.output.split())
    assert f"gpu1 cannot pull an image of {registry}" in said
    assert "server gave HTTP response to HTTPS client" in said
    repair = playbooks.run("registry")
    assert repair.status == 0
    assert playbooks.run("verify").status == 0
