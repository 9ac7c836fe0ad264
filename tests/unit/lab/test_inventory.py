# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import yaml
from nodelab.inventory import Host, cluster_info, group_vars, write

HOSTS = [
    Host("control1", "control", "10.77.0.10"),
    Host("gpu1", "gpu", "10.77.0.21", "fractional"),
    Host("gpu2", "gpu", "10.77.0.22", "exclusive"),
    Host("cpu1", "cpu", "10.77.0.61"),
]
FACTS = {
    "kubernetes": "1.36.5",
    "helm": "4.2.3",
    "helm_sha256": "00ff",
    "flannel": "v0.28.9",
    "flannel_cni_plugin": "v0.9.1",
    "local_path": "v0.0.30",
    "registry": "3.0.0",
    "nvidia_plugin": "0.19.3",
    "ingress_nginx_digest": "sha256:22ff",
    "ingress_nginx_certgen_digest": "sha256:33ff",
    "docker_key_sha256": "11ee",
    "key_fingerprint": "00112233",
}


def test_cluster_info_names_every_node_in_its_role() -> None:
    assert cluster_info("lab", HOSTS, Path("/labs/lab/id")).splitlines()[1:] == [
        "MASTER_NODE=ubuntu@10.77.0.10",
        "WORKER_NODES=ubuntu@10.77.0.21:fractional,ubuntu@10.77.0.22:exclusive",
        "CPU_WORKERS=ubuntu@10.77.0.61",
        'SSH_OPTS="-i /labs/lab/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"',
    ]


def test_a_kind_without_nodes_has_no_line() -> None:
    assert "WORKER_NODES" not in cluster_info("lab", HOSTS[:1], Path("/id"))


def test_a_key_path_with_spaces_stays_one_word() -> None:
    line = cluster_info("lab", HOSTS[:1], Path("/my labs/id")).splitlines()[-1]
    value = line.removeprefix('SSH_OPTS="').removesuffix('"')
    assert shlex.split(value)[:2] == ["-i", "/my labs/id"]


def test_lab_only_settings() -> None:
    settings = yaml.safe_load(group_vars(FACTS))
    assert settings["gshare_kubernetes_version"] == "1.36.5"
    assert settings["flannel_version"] == "v0.28.9"
    assert settings["containerd_repository_key_checksum"] == "sha256:11ee"
    assert settings["nvidia_driver_repository_fingerprint"]["debian12"] == "00112233"
    assert settings["gshare_accept"] == ["cgroup_v1", "duplicate_product_uuid"]
    kubelet = settings["kubeadm_kubelet_config"]
    assert kubelet["failCgroupV1"] is False
    # In per cent, a machine that is nearly full would get the lab's pods evicted.
    assert not [value for value in kubelet["evictionHard"].values() if "%" in value]
    assert settings["kubeadm_kube_proxy_config"] == {"conntrack": {"maxPerCore": 0, "min": 0}}
    assert settings["containerd_runtime_settings"] == {"restrict_oom_score_adj": True}


def test_the_folder_has_all_that_a_run_needs(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret\n", encoding="ascii")
    folder = tmp_path / "inventory"
    path = write(folder, "lab", HOSTS, FACTS, key)
    assert path == folder / "cluster-info"
    assert (folder / "id").read_text(encoding="ascii") == "secret\n"
    assert stat.S_IMODE((folder / "id").stat().st_mode) == 0o600
    assert yaml.safe_load((folder / "group_vars" / "all.yml").read_text(encoding="utf-8"))


def test_writing_again_takes_a_new_key_and_nothing_else(tmp_path: Path) -> None:
    key = tmp_path / "key"
    for content in ("first\n", "second\n"):
        key.write_text(content, encoding="ascii")
        write(tmp_path / "inventory", "lab", HOSTS, FACTS, key)
        assert (tmp_path / "inventory" / "id").read_text(encoding="ascii") == content
