# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory folder of a lab: all that `ansible-playbook -i` needs."""

from __future__ import annotations

import os
import shlex
import shutil
import typing as t
from dataclasses import dataclass
from pathlib import Path

USER = "ubuntu"


@dataclass(frozen=True)
class Host:
    """What the inventory says of a node."""

    name: str
    kind: str
    address: str
    mode: str = ""


def ssh_options(key: Path) -> list[str]:
    """Return the options with which ssh reaches a node; its host key changes whenever it is made anew."""
    return ["-i", str(key), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]


def cluster_info(lab: str, hosts: t.Sequence[Host], key: Path) -> str:
    """Return the text of cluster-info."""
    lines = [f"# Written by the lab '{lab}'; it is written again by each `lab up`."]
    for kind, variable in (("control", "MASTER_NODE"), ("gpu", "WORKER_NODES"), ("cpu", "CPU_WORKERS")):
        entries = [f"{USER}@{host.address}{':' if host.mode else ''}{host.mode}" for host in hosts if host.kind == kind]
        if entries:
            lines.append(f"{variable}={','.join(entries)}")
    lines.append(f'SSH_OPTS="{shlex.join(ssh_options(key))}"')
    return "\n".join(lines) + "\n"


def group_vars(facts: t.Mapping[str, t.Any]) -> str:
    """Return the text of group_vars/all.yml: what a lab node needs to be told and a real machine does not."""
    return _VERSIONS.format(**facts) + _NODES


_VERSIONS = """\
---
# Settings that only the nodes of a lab need. Written again by each `lab up`.

# The versions that the lab has built, and helm's archive as it has it.
gshare_kubernetes_version: "{kubernetes}"
kube_client_helm_version: "{helm}"
kube_client_helm_checksum: "{helm_sha256}"
flannel_version: "{flannel}"
flannel_cni_plugin_version: "{flannel_cni_plugin}"
local_path_version: "{local_path}"
registry_image: docker.io/library/registry:{registry}

# The newest of NVIDIA's plugin that the lab can build, and the digests of its own images.
# Node feature discovery, without which NVIDIA's feature discovery fails, does not build with the cluster's Kubernetes.
nvidia_device_plugin_version: "{nvidia_plugin}"
nvidia_device_plugin_feature_discovery: false
ingress_nginx_image_digest: "{ingress_nginx_digest}"
ingress_nginx_certgen_digest: "{ingress_nginx_certgen_digest}"

# The lab signs its packages with a key of its own.
containerd_repository_key_checksum: "sha256:{docker_key_sha256}"
nvidia_runtime_repository_key_checksum: "sha256:{docker_key_sha256}"
nvidia_driver_repository_fingerprint:
  debian12: "{key_fingerprint}"
  debian13: "{key_fingerprint}"
"""

_NODES = """
# The nodes share the machine's control groups (version 1 on some machines) and its DMI data.
gshare_accept: [cgroup_v1, duplicate_product_uuid]

# kubeadm's own check of the system refuses control groups of version 1, as does the kubelet unless told otherwise.
kubeadm_ignore_preflight_errors: [SystemVerification]
kubeadm_kubelet_config:
  failCgroupV1: false
  # The disk is the machine's: a node that evicts pods or removes images makes no room on it that would count in
  # per cent. What is too little for a lab, the lab says itself.
  evictionHard:
    memory.available: 100Mi
    nodefs.available: 1Gi
    imagefs.available: 1Gi
  imageGCHighThresholdPercent: 100

# The size of the connection tracking table belongs to the machine; a node cannot write it.
kubeadm_kube_proxy_config:
  conntrack:
    maxPerCore: 0
    min: 0

# A node may not lower the OOM score of a process below its own.
containerd_runtime_settings:
  restrict_oom_score_adj: true
"""


def write(folder: Path, lab: str, hosts: t.Sequence[Host], facts: t.Mapping[str, t.Any], key: Path) -> Path:
    """Write the inventory folder and return the path of its cluster-info."""
    (folder / "group_vars").mkdir(parents=True, exist_ok=True)
    own_key = folder / "id"
    if not own_key.exists() or own_key.read_bytes() != key.read_bytes():
        own_key.unlink(missing_ok=True)
        descriptor = os.open(own_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as target, key.open("rb") as source:
            shutil.copyfileobj(source, target)
    (folder / "group_vars" / "all.yml").write_text(group_vars(facts), encoding="utf-8")
    path = folder / "cluster-info"
    path.write_text(cluster_info(lab, hosts, own_key), encoding="utf-8")
    return path
