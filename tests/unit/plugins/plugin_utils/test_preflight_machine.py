# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_machine as checks
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import Machine

SWAP = [{"name": "/dev/zram0", "kind": "partition", "size": 8388604, "used": 2097152}]
KUBELET = {"kubelet": {"version": "1.35.4-1.1", "hold": True}}
JOINED = {"kubelet_server": "https://192.0.2.10:6443"}


def source(
    uri: str, suite: str, signed_by: str = "", file: str = "a.list", line: int = 1, fetched: bool = True
) -> dict[str, t.Any]:
    path = f"/etc/apt/sources.list.d/{file}"
    return {"file": path, "line": line, "uri": uri, "suite": suite, "signed_by": signed_by, "fetched": fetched}


PKGS = "https://pkgs.k8s.io/core:/stable:/v1.36/deb"
OWN_KEY = "/etc/apt/keyrings/kubernetes.asc"


def test_a_good_machine_has_no_finding(make, settings):
    assert checks.check(make(), settings) == []
    assert checks.check(make(10, "kube_control_plane"), settings) == []


CASES = [
    ({"os": {"id": "rocky", "version": "9", "codename": "", "name": "Rocky 9"}}, "os_unsupported", "It runs Rocky 9."),
    (
        {"os": {"id": "ubuntu", "version": "20.04", "codename": "", "name": ""}},
        "os_unsupported",
        "It runs an unknown system.",
    ),
    ({"architecture": "riscv64"}, "architecture_unsupported", "Its processor is riscv64."),
    ({"hostname": "gpu_1"}, "host_name_invalid", "Its host name 'gpu_1' cannot be a node name."),
    ({"hostname": "localhost.localdomain"}, "host_name_invalid", "'localhost.localdomain'"),
    ({"hostname": ""}, "host_name_invalid", "''"),
    ({"hostname": "-x"}, "host_name_invalid", "'-x'"),
    ({"hostname": "x" * 64}, "host_name_invalid", "cannot"),
    (
        {"disks": {"/var/lib": {"free_mb": 5000, "total_mb": 9000}}},
        "disk_low",
        "/var/lib has 5000 MB free, 10240 MB are needed.",
    ),
    ({"disks": {"/var/lib": {"free_mb": 14000, "total_mb": 100000}}}, "disk_nearly_full", "14000 of 100000 MB"),
    ({"cgroup": "v1"}, "cgroup_v1", "It runs with cgroup v1"),
    ({"swaps": SWAP}, "swap_on", "Swap is on: /dev/zram0."),
    (
        {"swap_at_boot": ["dev-zram0.swap", "swap.target"]},
        "swap_on",
        "would be on after a reboot: dev-zram0.swap and swap.target.",
    ),
    ({"swaps": SWAP, "container": "lxc"}, "swap_outside", "a container cannot switch it off"),
    (
        {"swaps": SWAP, "memory_mb": {"total": 4000, "available": 2000}},
        "swap_in_use",
        "Swap (/dev/zram0) holds 2048 MB, but only 2000 MB of memory are free.",
    ),
    (
        {"apt_locks": [{"pid": 812, "process": "unattended-upgrade", "seconds": 180, "paths": ["/var/lib/dpkg/lock"]}]},
        "apt_lock",
        "unattended-upgrade (pid 812, running for 3 min) holds /var/lib/dpkg/lock.",
    ),
    ({"apt_sources": [source("https://x.example.net", "/", "/k.gpg")], "apt_keys": {"/k.gpg": 0}}, "apt_key", "/k.gpg"),
    ({"others": ["k3s"]}, "other_cluster", "k3s is installed on it."),
    ({"others": ["docker"]}, "other_runtime", "Docker Engine is installed on it."),
    (
        {**JOINED, "packages": KUBELET},
        "kubernetes_version",
        "It runs kubelet 1.35.4, but 1.36 is asked for; `up` never changes the version of a running node.",
    ),
    (
        {"packages": {"kubelet": {"version": "1.37.0-1.1", "hold": True}}},
        "kubernetes_newer",
        "kubelet 1.37.0 is installed and held, newer than 1.36.",
    ),
]


@pytest.mark.parametrize(
    ("changes", "name", "text"), CASES, ids=[f"{case[1]}{number}" for number, case in enumerate(CASES)]
)
def test_each_fault_is_one_finding(make, settings, changes, name, text):
    (found,) = checks.check(make(**changes), settings)
    assert found.name == name
    assert text in found.text
    assert found.remedy
    assert found.hosts == ("192.0.2.11",)


@pytest.mark.parametrize("hostname", ["gpu-1", "GPU-1", "gpu-1.example.net", "1", "a" * 63])
def test_good_host_names(make, settings, hostname):
    assert checks.check(make(hostname=hostname), settings) == []


def test_only_a_control_plane_has_floors(make, settings):
    small = {"cpus": 1, "memory_mb": {"total": 1024, "available": 900}}
    assert checks.check(make(**small), settings) == []
    found = checks.check(make(10, "kube_control_plane", **small), settings)
    assert [one.name for one in found] == ["cpu_low", "memory_low"]
    assert "1024 MB" in found[1].text


def test_a_full_disk_of_a_running_node_is_a_warning(make, settings):
    (found,) = checks.check(make(**JOINED, disks={"/var/lib": {"free_mb": 500, "total_mb": 90000}}), settings)
    assert (found.name, found.severity) == ("disk_nearly_full", "warning")


@pytest.mark.parametrize(
    ("asked", "installed", "same"),
    [("1.36", "1.36.5", True), ("1.36.5", "1.36.5", True), ("1.36.3", "1.36.5", False), ("1.3", "1.36.5", False)],
)
def test_a_minor_version_stands_for_each_of_its_patches(make, settings, asked, installed, same):
    settings.kubernetes_version = asked
    machine = make(10, "kube_control_plane", control_plane=True, apiserver_version=installed)
    assert [one.name for one in checks.check(machine, settings)] == ([] if same else ["kubernetes_version"])


def test_kubelet_and_api_server_are_one_finding(make, settings):
    machine = make(10, "kube_control_plane", control_plane=True, apiserver_version="1.35.4", packages=KUBELET)
    (found,) = checks.check(machine, settings)
    assert "kubelet 1.35.4 and API server 1.35.4" in found.text


def test_case_84_an_older_held_package_is_no_hindrance_before_the_join(make, settings):
    assert checks.check(make(packages=KUBELET), settings) == []


def test_case_81_two_files_for_one_repository_with_different_keys(make, settings):
    settings.apt_source = {}
    entries = [
        source(PKGS + "/", "/", file="kubernetes.list"),
        source("https://pkgs.k8s.io/", "kubernetes-xenial", "/tmp/Release.key", "old.list", 2),
        source(PKGS, "/", "/etc/apt/keyrings/kubernetes-apt-keyring.gpg", "k8s.sources", 2),
    ]
    conflict, retired = checks.check(make(apt_sources=entries), settings)
    assert conflict.name == "apt_conflict"
    assert "/etc/apt/sources.list.d/kubernetes.list:1 (no key)" in conflict.text
    assert "/etc/apt/sources.list.d/k8s.sources:2 (/etc/apt/keyrings/kubernetes-apt-keyring.gpg)" in conflict.text
    assert retired.name == "apt_retired"
    assert "old.list:2" in retired.text


def test_case_81_the_entry_that_up_writes_counts_too(make, settings):
    other = source(PKGS, "/", "/etc/apt/keyrings/other.gpg", "k8s.list")
    (found,) = checks.check(make(apt_sources=[other]), settings)
    assert found.name == "apt_conflict"
    assert "the entry that `up` writes (/etc/apt/sources.list.d/kubernetes.sources)" in found.text
    assert checks.check(make(apt_sources=[{**other, "signed_by": OWN_KEY}]), settings) == []


def test_case_81_our_own_file_is_written_anew(make, settings):
    own = source(PKGS, "/", "/etc/apt/keyrings/before.gpg", "kubernetes.sources")
    assert checks.check(make(apt_sources=[own]), settings) == []


BOOKWORM = {"os": {"id": "debian", "version": "12", "codename": "bookworm", "name": "Debian 12"}}
DOCKER = ("https://download.docker.com/linux/debian", "bookworm", "/etc/apt/keyrings/docker.asc", "docker.list")


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        # containerd will come from Docker's repository, and the entry that would do is not in use yet
        ({"apt_sources": [source(*DOCKER, fetched=False)]}, "apt-get update"),
        (
            {"apt_sources": [source(*DOCKER, fetched=False)], "packages": {"containerd": {"version": "1.6.20"}}},
            "apt-get",
        ),
        # it already does, from the entry that `up` wrote
        (
            {"apt_sources": [source(*DOCKER), source(*DOCKER[:2], "/x.asc", "gshare-docker.sources")]},
            "Remove the file that is not of `up`.",
        ),
        # another entry is used, or none is needed
        ({"apt_sources": [source(*DOCKER)]}, ""),
        ({"apt_sources": [source(*DOCKER, fetched=False)], "packages": {"containerd.io": {"version": "1.7.27-1"}}}, ""),
        ({"apt_sources": [source(DOCKER[0], "trixie", *DOCKER[2:], fetched=False)]}, ""),
        ({"apt_sources": [source(*DOCKER, fetched=False)], "os": {**BOOKWORM["os"], "version": "13"}}, ""),
    ],
)
def test_case_81_another_entry_for_dockers_packages(make, settings, changes, remedy):
    found = checks.check(make(**{**BOOKWORM, **changes}), settings)
    assert [one.name for one in found] == (["apt_conflict"] if remedy else [])
    for one in found:
        assert "/etc/apt/sources.list.d/docker.list:1 (/etc/apt/keyrings/docker.asc)" in one.text
        assert "/etc/apt/sources.list.d/gshare-docker.sources" in one.text
        assert remedy in one.remedy


@pytest.mark.parametrize(
    ("file", "minor", "told"),
    [("old.list", "v1.35", True), ("old.list", "v1.36", False), ("kubernetes.sources", "v1.35", False)],
)
def test_case_83_an_entry_for_another_minor_version(make, settings, file, minor, told):
    for uri in (PKGS, "https://mirror.example.net/k8s/core:/stable:/v1.36/deb/"):
        entry = source(uri.replace("v1.36", minor), "/", OWN_KEY, file)
        found = checks.check(make(apt_sources=[entry]), settings)
        assert [(one.name, one.severity) for one in found] == ([("apt_other_version", "warning")] if told else [])


@pytest.mark.parametrize(
    ("uri", "suite", "gone"),
    [
        ("https://apt.kubernetes.io/", "kubernetes-xenial", True),
        ("https://packages.cloud.google.com/apt", "kubernetes-xenial", True),
        ("https://packages.cloud.google.com/apt", "cloud-sdk", False),
        ("https://pkgs.k8s.io/", "kubernetes-jammy", True),
        ("https://pkgs.k8s.io/addons:/cri-o:/stable:/v1.36/deb/", "/", False),
    ],
)
def test_case_83_retired_repositories(make, settings, uri, suite, gone):
    found = checks.check(make(apt_sources=[source(uri, suite)]), settings)
    assert [one.name for one in found] == (["apt_retired"] if gone else [])


def test_case_82_our_own_empty_key_is_replaced_another_is_told(make, settings):
    entries = [source(PKGS, "/", OWN_KEY, "kubernetes.sources")]
    assert checks.check(make(apt_sources=entries, apt_keys={OWN_KEY: 0}), settings) == []


def test_nothing_is_said_about_a_machine_that_was_not_asked(settings):
    assert checks.check(Machine("a", "192.0.2.1"), settings) == []


@pytest.mark.parametrize("name", ["unreachable", "worker_away", "python_missing", "sudo", "gather_failed"])
def test_why_a_machine_could_not_be_asked(name):
    (found,) = checks.reach(Machine("a", "192.0.2.1", problem={"name": name, "text": "x"}))
    assert (found.name, found.text) == (name, "x")


def test_versions_of_packages():
    assert checks.plain_version("1.36.3-1.1") == "1.36.3"
    assert checks.plain_version("1:528.0.0-0") == "528.0.0"
    assert checks.numbers("1.36.10") > checks.numbers("1.36.9")
