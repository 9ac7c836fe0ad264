#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: support_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Gather what somebody needs who is to help with a machine
description:
  - Versions, configurations, the ends of journals, and on a control plane what the API says of nodes and pods.
  - Secrets are taken out on the machine, before anything is sent. Secrets of the API are not asked for.
  - What is not there or cannot be read is left out or told of; nothing of that is an error.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  limit:
    description: Bytes of one file; of a longer one the end is taken.
    type: int
    default: 200000
  timeout:
    description: Seconds for one command.
    type: int
    default: 30
"""

EXAMPLES = r"""
- name: Gather what there is
  gshare.cluster.support_info:
  become: true
"""

RETURN = r"""
files:
  description: Texts by the names that they have in the archive.
  type: dict
  returned: success
"""

import glob
import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact

_KUBECTL = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--request-timeout=20s")
_JOURNAL = ("journalctl", "--no-pager", "--output=short-iso", "--lines=1500")
# Name in the archive -> command.
COMMANDS = {
    "system/kernel": ("uname", "-a"),
    "system/uptime": ("uptime",),
    "system/disks": ("df", "-h"),
    "system/memory": ("free", "-m"),
    "system/processes": ("ps", "-eo", "pid,ppid,etime,rss,stat,args", "--sort=-rss"),
    "system/packages": ("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\n"),
    "system/holds": ("apt-mark", "showhold"),
    "system/units-failed": ("systemctl", "--no-pager", "--failed"),
    "system/kernel-log": ("journalctl", "--no-pager", "-k", "-b", "--lines=800"),
    "network/addresses": ("ip", "address"),
    "network/routes": ("ip", "route"),
    "network/links": ("ip", "-d", "link"),
    "network/listening": ("ss", "-lntup"),
    "network/iptables": ("iptables-save",),
    "network/nft": ("nft", "list", "ruleset"),
    "containerd/status": ("systemctl", "--no-pager", "--full", "status", "containerd"),
    "containerd/journal": (*_JOURNAL, "-u", "containerd"),
    "containerd/effective": ("containerd", "config", "dump"),
    "containerd/version": ("containerd", "--version"),
    "containerd/containers": ("crictl", "--runtime-endpoint=unix:///run/containerd/containerd.sock", "ps", "-a"),
    "kubernetes/kubelet-status": ("systemctl", "--no-pager", "--full", "status", "kubelet"),
    "kubernetes/kubelet-journal": (*_JOURNAL, "-u", "kubelet"),
    "gpu/nvidia-smi": ("nvidia-smi", "-q"),
    "gpu/modules": ("lsmod",),
    "gpu/cdi": ("nvidia-ctk", "cdi", "list"),
}
# What only a control plane can ask.
API = {
    "api/nodes.yml": ("get", "nodes", "-o", "yaml"),
    "api/nodes": ("describe", "nodes"),
    "api/pods": ("get", "pods", "-A", "-o", "wide"),
    "api/events": ("get", "events", "-A", "--sort-by=.metadata.creationTimestamp"),
    "api/workloads.yml": ("get", "deployments,daemonsets,jobs,poddisruptionbudgets", "-A", "-o", "yaml"),
    "api/system-pods.yml": ("get", "pods", "-n", "kube-system", "-o", "yaml"),
    "api/configmaps.yml": ("get", "configmaps", "-n", "kube-system", "-o", "yaml"),
    "api/flannel.yml": ("get", "configmaps,pods", "-n", "kube-flannel", "-o", "yaml"),
    "api/storage.yml": ("get", "storageclasses,persistentvolumes,volumeattachments", "-o", "yaml"),
    "api/claims": ("get", "persistentvolumeclaims", "-A", "-o", "wide"),
    "api/leases": ("get", "leases", "-A"),
    "api/ready": ("get", "--raw", "/readyz?verbose"),
}
FILES = (
    "etc/os-release",
    "etc/fstab",
    "etc/environment",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/containerd/*.toml",
    "etc/containerd/conf.d/*",
    "etc/containerd/certs.d/*/hosts.toml",
    "etc/systemd/system/containerd.service.d/*",
    "etc/systemd/system/kubelet.service.d/*",
    "etc/default/kubelet",
    "etc/cni/net.d/*",
    "etc/crictl.yaml",
    "etc/kubernetes/manifests/*.yaml",
    "etc/sysctl.d/*",
    "etc/modules-load.d/*",
    "etc/modprobe.d/*nvidia*",
    "var/lib/kubelet/config.yaml",
    "var/lib/kubelet/kubeadm-flags.env",
    "proc/swaps",
    "proc/driver/nvidia/version",
    "run/flannel/subnet.env",
    "run/gshare-cluster.lock",
)


def shortened(data: bytes, limit: int) -> str:
    """The end of a text. It is cut before the secrets are taken out, at the end of a line, so that none is halved."""
    if len(data) > limit:
        data = b"[the beginning was left out]\n" + data[-limit:].partition(b"\n")[2]
    return redact(data.decode("utf-8", "replace"))


def run(module: AnsibleModule, command: t.Sequence[str]) -> str | None:
    """What a command prints; nothing if the machine does not have it."""
    if not module.get_bin_path(command[0]):
        return None
    limit = str(module.params["timeout"])
    rc, out, err = module.run_command(["timeout", limit, *command], encoding=None, environ_update={"LC_ALL": "C.UTF-8"})
    tail = f"\n[exit status {rc}]\n".encode() if rc else b""
    return shortened(out + err + tail, module.params["limit"])


def read(root: str, patterns: t.Iterable[str], limit: int) -> dict[str, str]:
    found = {}
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            name = os.path.relpath(path, root)
            try:
                with open(path, "rb") as file:
                    found[name] = shortened(file.read(), limit)
            except IsADirectoryError:
                continue
            except OSError as exc:
                found[name] = f"[cannot be read: {exc.strerror}]\n"
    return found


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={"limit": {"type": "int", "default": 200000}, "timeout": {"type": "int", "default": 30}},
        supports_check_mode=True,
    )
    commands = dict(COMMANDS)
    if os.path.exists(os.path.join(root, "etc/kubernetes/admin.conf")):
        commands.update({name: (*_KUBECTL, *words) for name, words in API.items()})
    files = read(root, FILES, module.params["limit"])
    for name, command in commands.items():
        text = run(module, command)
        if text is not None:
            files[name] = text
    module.exit_json(changed=False, files=files)


if __name__ == "__main__":
    main()
