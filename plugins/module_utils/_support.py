# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody needs who is to help with a machine: files, and commands by the names of what they tell.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

FILES = (
    "etc/os-release",
    "etc/fstab",
    "etc/environment",
    "etc/hosts",
    "etc/resolv.conf",
    "etc/apt/apt.conf",
    "etc/apt/apt.conf.d/*",
    "etc/apt/preferences.d/*",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/containerd/*.toml",
    "etc/containerd/conf.d/*",
    "etc/containerd/certs.d/*/hosts.toml",
    "etc/systemd/system/containerd.service.d/*",
    "etc/systemd/system/kubelet.service.d/*",
    "usr/lib/systemd/system/kubelet.service.d/*",
    "etc/default/kubelet",
    "etc/cni/net.d/*",
    "etc/crictl.yaml",
    "etc/kubernetes/manifests/*.yaml",
    "etc/sysctl.d/*",
    "etc/modules-load.d/*",
    "etc/modprobe.d/*nvidia*",
    "var/lib/kubelet/config.yaml",
    "var/lib/kubelet/kubeadm-flags.env",
    "proc/cmdline",
    "proc/modules",
    "proc/swaps",
    "proc/sys/kernel/random/boot_id",
    "proc/driver/nvidia/version",
    "run/flannel/subnet.env",
    "run/gshare-cluster.lock",
)

_JOURNAL = ("journalctl", "--no-pager", "--output=short-iso")
_STATUS = ("systemctl", "--no-pager", "--full", "status")
_CRICTL = ("crictl", "--runtime-endpoint=unix:///run/containerd/containerd.sock")
COMMANDS = {
    "system/kernel": ("uname", "-a"),
    "system/uptime": ("uptime",),
    "system/disks": ("df", "-h"),
    "system/memory": ("free", "-m"),
    "system/processes": ("ps", "-eo", "pid,ppid,etime,rss,stat,args", "--sort=-rss"),
    "system/packages": ("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\n"),
    "system/holds": ("apt-mark", "showhold"),
    "system/units-failed": ("systemctl", "--no-pager", "--failed"),
    "system/kernel-log": (*_JOURNAL, "-k", "-b", "--lines=800"),
    "system/kernel-warnings": (*_JOURNAL, "-k", "-b", "--priority=warning", "--lines=500"),
    "system/kernel-log-before": (*_JOURNAL, "-k", "-b", "-1", "--lines=300"),
    "network/addresses": ("ip", "address"),
    "network/routes": ("ip", "route"),
    "network/rules": ("ip", "rule"),
    "network/links": ("ip", "-d", "link"),
    "network/listening": ("ss", "-lntup"),
    "network/iptables": ("iptables-save",),
    "network/nft": ("nft", "list", "ruleset"),
    "containerd/status": (*_STATUS, "containerd"),
    "containerd/journal": (*_JOURNAL, "--lines=1500", "-u", "containerd"),
    "containerd/effective": ("containerd", "config", "dump"),
    "containerd/version": ("containerd", "--version"),
    "containerd/containers": (*_CRICTL, "ps", "-a"),
    "containerd/images": (*_CRICTL, "images"),
    "kubernetes/kubelet-status": (*_STATUS, "kubelet"),
    "kubernetes/kubelet-journal": (*_JOURNAL, "--lines=1500", "-u", "kubelet"),
    "gpu/kernel-log": (*_JOURNAL, "-k", "-b", "--lines=500", "--grep=NVRM|Xid|nvidia|nouveau"),
    "gpu/nvidia-smi": ("nvidia-smi", "-q"),
    "gpu/cdi": ("nvidia-ctk", "cdi", "list"),
}

# What only a control plane can ask. Secrets are never asked for. kubectl has no time limit of its own, so that an API
# that does not answer shows as a program that hangs.
_KUBECTL = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf")
_GET = (*_KUBECTL, "get")
API = {
    "api/ready": (*_GET, "--raw", "/readyz?verbose"),
    "api/nodes.yml": (*_GET, "nodes", "-o", "yaml"),
    "api/nodes": (*_KUBECTL, "describe", "nodes"),
    "api/pods": (*_GET, "pods", "-A", "-o", "wide"),
    "api/events": (*_GET, "events", "-A", "--sort-by=.metadata.creationTimestamp"),
    "api/workloads.yml": (*_GET, "deployments,daemonsets,jobs,poddisruptionbudgets", "-A", "-o", "yaml"),
    "api/system-pods.yml": (*_GET, "pods", "-n", "kube-system", "-o", "yaml"),
    "api/configmaps.yml": (*_GET, "configmaps", "-n", "kube-system", "-o", "yaml"),
    "api/flannel.yml": (*_GET, "configmaps,pods", "-n", "kube-flannel", "-o", "yaml"),
    "api/storage.yml": (*_GET, "storageclasses,persistentvolumes,volumeattachments", "-o", "yaml"),
    "api/claims": (*_GET, "persistentvolumeclaims", "-A", "-o", "wide"),
    "api/leases": (*_GET, "leases", "-A"),
}


def tail(text: str, limit: int) -> str:
    """The end of a text, whole lines if there are any; C(limit) in bytes."""
    data = text.encode()
    if len(data) <= limit:
        return text
    end = data[-limit:].decode("utf-8", "ignore")
    return "[the beginning was left out]\n" + (end.partition("\n")[2] or end)
