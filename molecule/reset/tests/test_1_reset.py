# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster is taken apart, the machines keep nothing of it, and it is built again."""

from __future__ import annotations

import pytest

testinfra_hosts = ["ansible://kube_cluster?sudo=true"]


@pytest.fixture(scope="module")
def cluster(lab, playbooks) -> None:
    """A cluster to take apart: that of the scenarios before, or a new one if this one runs alone."""
    if "there" not in lab("ssh", "control1", "if test -e /etc/kubernetes/admin.conf; then echo there; fi"):
        assert playbooks.run("up").status == 0


@pytest.fixture(scope="module")
def refused(playbooks, cluster):
    return playbooks.run("reset", "-e", "confirm=10.255.255.255")


@pytest.fixture(scope="module")
def killed(playbooks, addresses, refused):
    """A reset that dies while it takes the workers apart."""
    confirm = f"confirm={addresses['control1']}"
    return playbooks.kill(
        "reset", "gshare.cluster.kubeadm : Take the cluster off this machine", "-e", confirm, after=1.5
    )


@pytest.fixture(scope="module")
def reset(playbooks, addresses, killed):
    return playbooks.run("reset", "-e", f"confirm={addresses['control1']}")


def test_needs_the_address_of_the_control_plane(refused) -> None:
    assert refused.status != 0
    assert refused.changed == {}


def test_gets_as_far_as_where_it_is_killed(killed) -> None:
    assert killed


def test_ends_without_an_error(reset) -> None:
    assert reset.status == 0


def test_goes_on_where_the_killed_one_ended(reset, addresses) -> None:
    assert addresses["control1"] in reset.changed


@pytest.mark.parametrize("interface", ["cni0", "flannel.1"])
def test_no_interface_is_left(reset, host, interface) -> None:
    assert not host.interface(interface).exists


@pytest.mark.parametrize(
    "path",
    [
        "/etc/kubernetes/admin.conf",
        "/etc/kubernetes/kubelet.conf",
        "/etc/cni/net.d",
        "/run/flannel",
        "/var/lib/cni",
        "/usr/local/vgpu",
    ],
)
def test_no_file_is_left(reset, host, path) -> None:
    assert not host.file(path).exists or host.file(path).listdir() == []


def test_no_rule_is_left(reset, host) -> None:
    rules = host.check_output("iptables-save")
    assert [line for line in rules.splitlines() if "KUBE" in line or "FLANNEL" in line] == []


def test_no_mount_is_left(reset, host) -> None:
    mounts = host.file("/proc/mounts").content_string
    assert [
        line for line in mounts.splitlines() if "/var/lib/kubelet/pods" in line or "/run/containerd/io" in line
    ] == []


def test_no_kubeconfig_is_left(reset, host) -> None:
    assert not host.file("/home/ubuntu/.kube/config").exists
