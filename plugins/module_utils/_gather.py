# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gathers the facts of one machine for preflight: reads files, starts no program.

Note that this module util is **PRIVATE** to the collection. The parsing is in _preflight, _apt_sources, _swap,
_proxy and _apt_lock.
"""

from __future__ import annotations

import array
import fcntl
import glob
import hashlib
import os
import platform
import re
import socket
import struct
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _apt_lock,
    _apt_sources,
    _gpu_driver,
    _gpu_gather,
    _gpu_pci,
    _preflight,
    _proxy,
    _swap,
)
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

PACKAGES = ("kubeadm", "kubectl", "kubelet", "containerd", "containerd.io", "docker-ce", "docker.io")
# What else runs containers or a cluster: name and the files that show it.
OTHERS = {
    "k3s": ("/etc/systemd/system/k3s.service", "/etc/systemd/system/k3s-agent.service", "/var/lib/rancher/k3s/agent"),
    "rke2": ("/var/lib/rancher/rke2/agent", "/usr/local/lib/systemd/system/rke2-agent.service"),
    "k0s": ("/etc/systemd/system/k0scontroller.service", "/etc/systemd/system/k0sworker.service", "/var/lib/k0s"),
    "microk8s": ("/var/snap/microk8s/current", "/snap/bin/microk8s"),
    "crio": ("/run/crio/crio.sock", "/usr/lib/systemd/system/crio.service", "/lib/systemd/system/crio.service"),
    "cri-dockerd": ("/run/cri-dockerd.sock",),
    "docker": ("/run/docker.sock", "/usr/bin/dockerd"),
}
_CLOUD_FILES = ("/etc/cloud/cloud.cfg", "/etc/cloud/cloud.cfg.d/*.cfg", "/var/lib/cloud/instance/cloud-config.txt")
_CA = "/etc/kubernetes/pki/ca.crt"


_SIOCGIFCONF = 0x8912


def interface_addresses() -> bytes:
    """The kernel's list of IPv4 addresses, as bytes for _preflight.addresses."""
    size = 64 * 1024
    buffer = array.array("B", bytes(size))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        answer = fcntl.ioctl(sock.fileno(), _SIOCGIFCONF, struct.pack("iL", size, buffer.buffer_info()[0]))
    return buffer.tobytes()[: struct.unpack("iL", answer)[0]]


class Gather:
    def __init__(self, host: Host, ports: list[int], paths: list[str]) -> None:
        self.host = host
        self.ports = ports
        self.paths = paths

    def facts(self) -> dict[str, t.Any]:
        host = self.host
        root = os.geteuid() == 0
        return {
            "root": root,
            "container": host.container(),
            "cpus": len(os.sched_getaffinity(0)),
            "memory_mb": _preflight.memory_mb(host.text("/proc/meminfo")),
            "cgroup": _preflight.cgroup_version(host.text("/proc/mounts")),
            "time_sync": host.time_sync()[0],
            **self.identity(),
            **self.system(),
            **self.swap(),
            **self.network(),
            **self.apt(root),
            **self.cluster(),
            "gpu": self.gpu(),
            "disks": {path: self.disk(path) for path in self.paths},
            "proxy": self.proxy(),
            "time": time.time(),
        }

    def identity(self) -> dict[str, t.Any]:
        return {
            "hostname": self.host.text("/proc/sys/kernel/hostname").strip(),
            "machine_id": self.host.text("/etc/machine-id").strip(),
            "product_uuid": self.host.text("/sys/class/dmi/id/product_uuid").strip().lower(),
        }

    def system(self) -> dict[str, t.Any]:
        release = _preflight.assignments(self.host.text("/etc/os-release"))
        return {
            "os": {
                "id": release.get("ID", ""),
                "version": release.get("VERSION_ID", ""),
                "codename": release.get("VERSION_CODENAME", ""),
                "name": release.get("PRETTY_NAME", ""),
            },
            "architecture": platform.machine(),
            "kernel": platform.release(),
        }

    def swap(self) -> dict[str, t.Any]:
        plan = self.host.swap_plan()
        return {
            "swaps": [area._asdict() for area in _swap.areas(self.host.text("/proc/swaps"))],
            "swap_at_boot": (["/etc/fstab"] if plan.fstab is not None else [])
            + [os.path.basename(path) for path in plan.masks],
        }

    def network(self) -> dict[str, t.Any]:
        host = self.host
        return {
            "addresses": _preflight.addresses(interface_addresses(), host.text("/proc/net/if_inet6")),
            "routes": _preflight.routes(host.text("/proc/net/route"), host.text("/proc/net/ipv6_route")),
            "ports": self.listening(),
            "firewalls": self.firewalls(),
            "ufw_allowed": _preflight.ufw_allowed(host.text("/etc/ufw/user.rules")),
        }

    def listening(self) -> list[dict[str, t.Any]]:
        found = []
        for protocol in ("tcp", "udp"):
            for table in (protocol, protocol + "6"):
                found += _preflight.listeners(self.host.text(f"/proc/net/{table}"), protocol, self.ports)
        owners = self.owners({entry["inode"] for entry in found})
        for entry in found:
            pid = owners.get(entry.pop("inode"), 0)
            entry["pid"] = pid
            # A kernel tunnel has no process.
            entry["process"] = _apt_lock.describe(pid)[0] if pid else ""
        return found

    def owners(self, inodes: set[str]) -> dict[str, int]:
        """Process of each socket; every descriptor on the machine is looked at only if there is something to find."""
        wanted = {f"socket:[{inode}]": inode for inode in inodes if inode != "0"}
        found: dict[str, int] = {}
        for pid in self.host.names("/proc") if wanted else []:
            if not pid.isdigit():
                continue
            for fd in self.host.names(f"/proc/{pid}/fd"):
                try:
                    link = os.readlink(self.host.path(f"/proc/{pid}/fd/{fd}"))
                except OSError:
                    continue
                if link in wanted:
                    found[wanted.pop(link)] = int(pid)
            if not wanted:
                break
        return found

    def firewalls(self) -> list[str]:
        found = []
        if _preflight.assignments(self.host.text("/etc/ufw/ufw.conf")).get("ENABLED", "").lower() == "yes":
            found.append("ufw")
        if "firewalld" in self.host.processes():
            found.append("firewalld")
        return found

    def apt(self, root: bool) -> dict[str, t.Any]:
        host = self.host
        files = ["/etc/apt/sources.list"]
        files += [
            f"/etc/apt/sources.list.d/{name}"
            for name in host.names("/etc/apt/sources.list.d")
            if name.endswith((".list", ".sources"))
        ]
        fetched = host.names("/var/lib/apt/lists")
        sources = []
        for source in [entry for name in files for entry in _apt_sources.parse(name, host.text(name))]:
            start = _apt_sources.lists_prefix(source.uri, source.suite)
            sources.append({**source._asdict(), "fetched": any(name.startswith(start) for name in fetched)})
        keys = {key for source in sources for key in source["signed_by"].split(",") if key.startswith("/")}
        return {
            "apt_sources": sources,
            "apt_keys": {key: len(host.data(key, 16)) for key in sorted(keys)},
            # Only root may open the lock files.
            "apt_locks": [holder._asdict() for holder in _apt_lock.holders()] if root and str(host.root) == "/" else [],
            "packages": _preflight.dpkg_packages(host.text("/var/lib/dpkg/status"), PACKAGES),
        }

    def cluster(self) -> dict[str, t.Any]:
        host = self.host
        ca = host.data(_CA).strip()
        return {
            "others": [name for name, signs in OTHERS.items() if any(host.exists(sign) for sign in signs)],
            "kubelet_server": _preflight.yaml_value(host.text("/etc/kubernetes/kubelet.conf"), "server"),
            "control_plane": host.exists("/etc/kubernetes/admin.conf"),
            "cluster_ca": hashlib.sha256(ca).hexdigest() if ca else "",
            "apiserver_version": _preflight.image_tag(host.text("/etc/kubernetes/manifests/kube-apiserver.yaml")),
            "hosts_entries": _preflight.hosts_entries(host.text("/etc/hosts")),
            "cloud_init_hosts": _preflight.cloud_init_hosts(self.cloud_texts()),
        }

    def cloud_texts(self) -> list[str]:
        if self.host.exists("/etc/cloud/cloud-init.disabled"):
            return []
        root = str(self.host.root).rstrip("/")
        names = [name for pattern in _CLOUD_FILES for name in sorted(glob.glob(root + pattern))]
        return [self.host.text(name[len(root) :]) for name in names]

    def gpu(self) -> dict[str, t.Any]:
        """Cards and driver as far as files tell; gpu_info asks the driver itself."""
        host, folder = self.host, f"/lib/modules/{platform.release()}"
        cards = _gpu_pci.cards(_gpu_gather.devices(host))
        return {
            "cards": cards,
            "needs": _gpu_pci.needs(cards),
            "module": any(
                re.search(r"(^|/)nvidia\.ko", line) for line in host.text(f"{folder}/modules.dep").split("\n")
            ),
            "loaded": _gpu_driver.loaded_version(host.text("/proc/driver/nvidia/version", 4096)),
            "smi": host.exists("/usr/bin/nvidia-smi"),
            "secure_boot": _gpu_gather.secure_boot(host),
        }

    def disk(self, path: str) -> dict[str, t.Any]:
        """Space for a folder that may not exist yet."""
        folder = path
        while folder != "/" and not self.host.exists(folder):
            folder = os.path.dirname(folder)
        found = os.statvfs(self.host.path(folder))
        return {
            "free_mb": found.f_bavail * found.f_frsize // 2**20,
            "total_mb": found.f_blocks * found.f_frsize // 2**20,
        }

    def proxy(self) -> dict[str, str]:
        found = _proxy.of_environment(self.host.text("/etc/environment"))
        return {name: _proxy.hide(value) for name, value in found.items()}
