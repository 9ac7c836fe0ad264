# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils import _preflight


def test_assignments_with_export_quotes_and_both_cases() -> None:
    # Case 77.
    text = (
        'PATH="/usr/local/sbin:/usr/bin"\n'
        "export http_proxy=http://proxy.example.net:3128\n"
        'HTTPS_PROXY="http://proxy.example.net:3128"\n'
        'no_proxy="localhost,127.0.0.1,.example.net"\r\n'
        "# OFF=1\nnothing\n"
    )
    assert _preflight.assignments(text) == {
        "PATH": "/usr/local/sbin:/usr/bin",
        "http_proxy": "http://proxy.example.net:3128",
        "HTTPS_PROXY": "http://proxy.example.net:3128",
        "no_proxy": "localhost,127.0.0.1,.example.net",
    }


def test_memory() -> None:
    text = "MemTotal:       24684444 kB\nMemFree:        1000 kB\nMemAvailable:    2097152 kB\n"
    assert _preflight.memory_mb(text) == {"total": 24105, "available": 2048}
    assert _preflight.memory_mb("") == {"total": 0, "available": 0}


@pytest.mark.parametrize(
    ("mounts", "version"),
    [
        ("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", "v2"),
        ("tmpfs /sys/fs/cgroup tmpfs ro 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", "v1"),
        ("tmpfs /sys/fs/cgroup tmpfs ro 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n", "v1"),
        ("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", "v1"),
        ("proc /proc proc rw 0 0\n", ""),
    ],
)
def test_cgroup_versions(mounts: str, version: str) -> None:
    assert _preflight.cgroup_version(mounts) == version


ROUTE = (
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    "wg0\t0000F40A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
    "*\t0000010A\t00000000\t0200\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
)
ROUTE6 = (
    "20010db8000000000000000000000000 40 00000000000000000000000000000000 00 "
    "00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n"
    "fe800000000000000000000000000000 40 00000000000000000000000000000000 00 "
    "00000000000000000000000000000000 00000100 00000002 00000000 00000001     eth0\n"
    "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
    "20010db8000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n"
    "00000000000000000000000000000001 80 00000000000000000000000000000000 00 "
    "00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo\n"
)


def test_routes() -> None:
    found = _preflight.routes(ROUTE, ROUTE6)
    assert [(str(ipaddress.ip_network(route["to"])), route["via"], route["interface"]) for route in found] == [
        ("0.0.0.0/0", "192.0.2.1", "eth0"),
        ("192.0.2.0/24", "", "eth0"),
        ("10.244.0.0/16", "", "wg0"),
        ("2001:db8::/64", "", "eth0"),
        ("::/0", "2001:0db8:0000:0000:0000:0000:0000:0001", "eth0"),
    ]
    assert _preflight.routes("", "") == []


def ifreq(name: str, address: str) -> bytes:
    return struct.pack("16sHH4s16x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))


def test_addresses_with_their_interfaces() -> None:
    ifconf = ifreq("lo", "127.0.0.1") + ifreq("eth0", "192.0.2.10") + ifreq("eth0:1", "192.0.2.11")
    if_inet6 = (
        "20010db8000000000000000000000010 02 40 00 82     eth0\n"
        "fe8000000000000000fc00fffe000001 02 40 20 80     eth0\n"
        "00000000000000000000000000000001 01 80 10 80       lo\n"
    )
    found = _preflight.addresses(ifconf, if_inet6)
    assert [(ipaddress.ip_address(entry["address"]).compressed, entry["interface"]) for entry in found] == [
        ("192.0.2.10", "eth0"),
        ("192.0.2.11", "eth0"),
        ("2001:db8::10", "eth0"),
    ]


TCP = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 00000000:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1151 1 0 100 0 0 10 0\n"
    "   1: 0100007F:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1152 1 0 100 0 0 10 0\n"
    "   2: 020200C0:192B 507100CB:0050 06 00000000:00000000 03:00001627 00000000     0        0 0 3 0\n"
)
TCP6 = (
    "  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: B80D0120000000000000000010000000:192B 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 1153 1 0 100 0 0 10 0\n"
)
UDP = (
    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref\n"
    "  10: 00000000:2118 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 0 2 0 0\n"
)


def test_listeners() -> None:
    assert _preflight.listeners(TCP, "tcp", {6443, 10250}) == [
        {"protocol": "tcp", "port": 6443, "address": "0.0.0.0", "inode": "1151"},
        {"protocol": "tcp", "port": 10250, "address": "127.0.0.1", "inode": "1152"},
    ]
    (found,) = _preflight.listeners(TCP6, "tcp", {6443})
    assert ipaddress.ip_address(found["address"]).compressed == "2001:db8::10"
    assert _preflight.listeners(UDP, "udp", {8472})[0]["inode"] == "0"
    assert _preflight.listeners(TCP, "tcp", {22}) == []


STATUS = """\
Package: kubelet
Status: hold ok installed
Priority: optional
Version: 1.35.4-1.1

Package: kubeadm
Status: deinstall ok config-files
Version: 1.35.4-1.1

Package: containerd.io
Status: install ok installed
Description: Version: 9
 Status: hold ok installed
Version: 2.3.7-1~debian.12~bookworm

Package: other
Status: install ok installed
Version: 1
"""


def test_packages_with_version_and_hold() -> None:
    assert _preflight.dpkg_packages(STATUS, {"kubelet", "kubeadm", "containerd.io"}) == {
        "kubelet": {"version": "1.35.4-1.1", "hold": True},
        "containerd.io": {"version": "2.3.7-1~debian.12~bookworm", "hold": False},
    }


def test_values_of_kubeadms_files() -> None:
    text = "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: AA==\n    server: https://192.0.2.10:6443\n"
    assert _preflight.yaml_value(text, "server") == "https://192.0.2.10:6443"
    assert _preflight.yaml_value(text, "port") == ""


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.k8s.io/kube-apiserver:v1.36.3", "1.36.3"),
        ("mirror.example.net:5000/kube-apiserver", ""),
        ("mirror.example.net:5000/kube-apiserver:v1.36.3@sha256:aa", "1.36.3"),
    ],
)
def test_image_tags(image: str, version: str) -> None:
    assert _preflight.image_tag(f"spec:\n  containers:\n  - command:\n    - x\n    image: {image}\n") == version


def test_entries_of_hosts() -> None:
    text = "127.0.0.1 localhost\n127.0.1.1 gpu-1\n::1 ip6-localhost\nff02::1 ip6-allnodes\n"
    text += "192.0.2.10 api.example.net api # x\n"
    assert _preflight.hosts_entries(text) == [{"address": "192.0.2.10", "names": ["api.example.net", "api"]}]


@pytest.mark.parametrize(
    ("texts", "state"),
    [
        ([], False),
        (["manage_etc_hosts: true\n"], True),
        (["manage_etc_hosts: 'template'\n"], True),
        (["manage_etc_hosts: localhost\n"], False),
        (["manage_etc_hosts: true\n", "manage_etc_hosts: false\n"], False),
        (["# manage_etc_hosts: true\n"], False),
    ],
)
def test_whether_cloud_init_rewrites_hosts(texts: list[str], state: bool) -> None:
    assert _preflight.cloud_init_hosts(texts) is state


def test_what_ufw_allows() -> None:
    rules = (
        "### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in\n-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n"
        "### tuple ### limit any 6443 0.0.0.0/0 any 0.0.0.0/0 in\n"
        "### tuple ### allow udp 8472,8473 0.0.0.0/0 any 192.0.2.0/24 in_eth0\n"
        "### tuple ### allow tcp 30000:32767 0.0.0.0/0 any 0.0.0.0/0 in\n"
        "### tuple ### deny tcp 10250 0.0.0.0/0 any 0.0.0.0/0 in\n"
        "### tuple ### allow any any 0.0.0.0/0 any 198.51.100.0/24 in\n"
        "### tuple ### allow tcp 9 0.0.0.0/0 any 0.0.0.0/0 out\n"
    )
    assert _preflight.ufw_allowed(rules) == ["22/tcp", "6443", "8472/udp", "8473/udp", "30000:32767/tcp", "any"]


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    _preflight.assignments(text)
    _preflight.memory_mb(text)
    _preflight.cgroup_version(text)
    _preflight.dpkg_packages(text, {"a"})
    _preflight.hosts_entries(text)
    _preflight.ufw_allowed(text)
    _preflight.image_tag(text)
