# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each machine of a finished cluster looks like."""

from __future__ import annotations

import pytest

testinfra_hosts = ["ansible://kube_cluster?sudo=true"]


@pytest.mark.parametrize("service", ["containerd", "kubelet"])
def test_services_run_and_start_at_boot(host, service) -> None:
    assert host.service(service).is_running
    assert host.service(service).is_enabled


def test_packages_are_held(host) -> None:
    held = set(host.check_output("apt-mark showhold").split())
    assert {"kubelet", "kubeadm", "kubectl"} <= held


def test_version_is_the_one_asked_for(host) -> None:
    wanted = host.ansible.get_variables()["gshare_kubernetes_version"]
    assert host.check_output("kubelet --version").split()[1].startswith(f"v{wanted}")


def test_containerd_uses_systemd_cgroups(host) -> None:
    assert "SystemdCgroup = true" in host.check_output("containerd config dump")


def test_swap_is_off_after_a_reboot_too(host) -> None:
    fstab = [line.split() for line in host.file("/etc/fstab").content_string.splitlines()]
    assert [
        fields for fields in fstab if len(fields) > 2 and not fields[0].startswith("#") and fields[2] == "swap"
    ] == []


@pytest.mark.parametrize("name", ["net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables"])
def test_kernel_forwards(host, name) -> None:
    assert host.sysctl(name) == 1


def test_no_secret_is_left(host) -> None:
    token = "[a-z0-9]{6}[.][a-z0-9]{16}"
    found = host.run("grep -rlsE --include='*.y*ml' --include='*.conf' --include='*.json' '%s' /run /tmp", token)
    assert found.stdout == ""
