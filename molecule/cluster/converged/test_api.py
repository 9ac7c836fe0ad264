# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API says of a finished cluster, asked as the login user on the control plane."""

from __future__ import annotations

import json

import pytest

testinfra_hosts = ["ansible://kube_control_plane"]


@pytest.fixture(scope="module")
def nodes(host):
    items = json.loads(host.check_output("kubectl get nodes -o json"))["items"]
    return {node["metadata"]["name"]: node for node in items}


def test_all_machines_are_ready_nodes(nodes) -> None:
    ready = {
        name
        for name, node in nodes.items()
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    }
    assert ready == set(nodes) == {"control1", "gpu1", "cpu1"}


@pytest.mark.parametrize("name", ["control1", "cpu1"])
def test_type_of_a_node_is_its_label(nodes, name) -> None:
    assert nodes[name]["metadata"]["labels"]["gshare.io/node-type"] == "cpu"


def test_mode_of_a_gpu_worker_is_its_label(nodes) -> None:
    labels = nodes["gpu1"]["metadata"]["labels"]
    assert labels["gpu"] == "on"
    assert labels["gshare.io/gpu"] == "true"
    assert labels["gshare.io/gpu-mode"] == "fractional"


def test_storage_class_is_the_default(host) -> None:
    classes = json.loads(host.check_output("kubectl get storageclass -o json"))["items"]
    default = [
        item["metadata"]["name"]
        for item in classes
        if item["metadata"]["annotations"].get("storageclass.kubernetes.io/is-default-class") == "true"
    ]
    assert default == ["local-path"]


def test_verify_cleaned_up(host) -> None:
    namespaces = host.check_output("kubectl get namespaces -o name").split()
    assert [name for name in namespaces if "verify" in name] == []


def test_no_join_token_is_left(host) -> None:
    secrets = host.check_output(
        "kubectl -n kube-system get secrets --field-selector type=bootstrap.kubernetes.io/token -o name"
    )
    assert secrets == ""


def test_kubeconfig_belongs_to_the_login_user_alone(host) -> None:
    file = host.file(f"{host.user().home}/.kube/config")
    assert file.mode == 0o600
    assert file.user == host.user().name
