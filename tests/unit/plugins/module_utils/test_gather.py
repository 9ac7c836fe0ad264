# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import socket
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gather
from ansible_collections.gshare.cluster.plugins.module_utils._gather import Gather
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

FILES = {
    "/proc/sys/kernel/hostname": "GPU-1\n",
    "/etc/machine-id": "aaaa0000000000000000000000000001\n",
    "/sys/class/dmi/id/product_uuid": "00000000-0000-4000-8000-00000000000A\n",
    "/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n',
    "/proc/meminfo": "MemTotal: 4194304 kB\nMemAvailable: 2097152 kB\n",
    "/proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
    "/proc/swaps": "Filename Type Size Used Priority\n/dev/zram0 partition 8388604 0 100\n",
    "/proc/net/tcp": "head\n 0: 00000000:192B 00000000:0000 0A 0:0 0:0 0 0 0 1151 1\n",
    "/etc/ufw/ufw.conf": "# x\nENABLED=yes\n",
    "/etc/ufw/user.rules": "### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in\n",
    "/proc/9/comm": "firewalld\n",
    "/etc/apt/sources.list": "deb [signed-by=/usr/share/keyrings/a.gpg] http://a.example.net/ noble main\n",
    "/etc/apt/sources.list.d/b.list": "deb [signed-by=/etc/apt/keyrings/none.gpg] http://b.example.net/ /\n",
    "/etc/apt/sources.list.d/c.list.save": "deb http://c.example.net/ /\n",
    "/usr/share/keyrings/a.gpg": "key",
    "/var/lib/apt/lists/a.example.net_dists_noble_InRelease": "",
    "/var/lib/dpkg/status": "Package: kubelet\nStatus: hold ok installed\nVersion: 1.35.4-1.1\n\n",
    "/etc/systemd/system/k3s.service": "",
    "/run/docker.sock": "",
    "/etc/kubernetes/kubelet.conf": "clusters:\n- cluster:\n    server: https://192.0.2.99:6443\n",
    "/etc/kubernetes/pki/ca.crt": "CA\n",
    "/etc/kubernetes/manifests/kube-apiserver.yaml": "    image: registry.k8s.io/kube-apiserver:v1.36.3\n",
    "/etc/hosts": "127.0.0.1 localhost\n192.0.2.10 api\n",
    "/etc/cloud/cloud.cfg": "manage_etc_hosts: false\n",
    "/etc/cloud/cloud.cfg.d/50-x.cfg": "manage_etc_hosts: true\n",
    "/etc/environment": 'export http_proxy=http://u:secret@p:3128\nNO_PROXY="a"\nPATH="/bin"\n',
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def facts(root: Path) -> dict[str, t.Any]:
    return Gather(Host(str(root)), [6443], ["/var/lib/etcd/not/yet"]).facts()


def test_who_the_machine_is(facts: dict[str, t.Any]) -> None:
    assert facts["hostname"] == "GPU-1"
    assert facts["machine_id"].endswith("01")
    assert facts["product_uuid"].endswith("00a")
    assert facts["os"] == {"id": "ubuntu", "version": "24.04", "codename": "noble", "name": "Ubuntu 24.04.3 LTS"}
    assert facts["memory_mb"] == {"total": 4096, "available": 2048}
    assert facts["cgroup"] == "v2"
    assert facts["cpus"] >= 1


def test_swap_now_and_at_boot(facts: dict[str, t.Any]) -> None:
    assert [area["name"] for area in facts["swaps"]] == ["/dev/zram0"]
    assert facts["swap_at_boot"] == ["dev-zram0.swap", "swap.target"]


def test_network(facts: dict[str, t.Any]) -> None:
    assert facts["ports"] == [{"protocol": "tcp", "port": 6443, "address": "0.0.0.0", "pid": 0, "process": ""}]
    assert facts["firewalls"] == ["ufw", "firewalld"]
    assert facts["ufw_allowed"] == ["22/tcp"]
    assert facts["proxy"] == {"HTTP_PROXY": "http://u:********@p:3128", "NO_PROXY": "a"}
    assert facts["cloud_init_hosts"] is True


def test_packages_and_their_sources(facts: dict[str, t.Any]) -> None:
    assert [entry["file"] for entry in facts["apt_sources"]] == [
        "/etc/apt/sources.list",
        "/etc/apt/sources.list.d/b.list",
    ]
    assert [entry["fetched"] for entry in facts["apt_sources"]] == [True, False]
    assert facts["apt_keys"] == {"/etc/apt/keyrings/none.gpg": 0, "/usr/share/keyrings/a.gpg": 3}
    assert facts["packages"] == {"kubelet": {"version": "1.35.4-1.1", "hold": True}}


def test_clusters_and_engines(facts: dict[str, t.Any]) -> None:
    assert facts["others"] == ["k3s", "docker"]
    assert facts["kubelet_server"] == "https://192.0.2.99:6443"
    assert facts["control_plane"] is False
    assert len(facts["cluster_ca"]) == 64
    assert facts["apiserver_version"] == "1.36.3"


def test_space_of_a_folder_that_is_not_there_yet(facts: dict[str, t.Any]) -> None:
    assert facts["disks"]["/var/lib/etcd/not/yet"]["total_mb"] > 0


def test_an_empty_machine_is_no_error(tmp_path: Path) -> None:
    facts = Gather(Host(str(tmp_path)), [6443], ["/var/lib"]).facts()
    assert json.loads(json.dumps(facts))["swaps"] == []


def test_the_owner_of_a_socket_is_found() -> None:
    """On this machine: a socket of this very process."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        (found,) = Gather(Host(), [server.getsockname()[1]], []).listening()
    assert found["pid"] > 0
    assert found["process"] not in ("", "?")


def test_addresses_come_from_the_kernel() -> None:
    assert b"lo\0" in _gather.interface_addresses()
