# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A machine made of files and of fake programs, for the modules that run kubeadm."""

from __future__ import annotations

import os
import pathlib
import stat

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine

PROGRAMS = ("kubeadm", "kubectl", "systemctl", "ip", "nft", "dpkg-query", "apt-mark", "umount")
FIXTURES = pathlib.Path(__file__).parent / "module_utils" / "fixtures"
CA = (FIXTURES / "kubeadm" / "ca.crt").read_text()
CA_HASH = "sha256:33d52318fc9bad959c05dbe006b1bd7d6baa05a305a32076a76a261230980e28"

APISERVER = """\
spec:
  containers:
  - command:
    - kube-apiserver
    - --advertise-address=192.0.2.10
    - --etcd-servers=https://127.0.0.1:2379
    - --secure-port=6443
"""
ETCD = "spec:\n  containers:\n  - command:\n    - etcd\n    - --data-dir=/var/lib/etcd\n"
FINALIZED = """\
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://192.0.2.10:6443
users:
- name: system:node:gpu-1
  user:
    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem
    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem
"""
ADMIN = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://192.0.2.10:6443
  name: kubernetes
users:
- name: kubernetes-admin
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
"""


class Machine:
    """`root` is its file system; each program appends its arguments to `log` and runs the script that a test gave."""

    def __init__(self, root: pathlib.Path, bin_dir: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.bin, self.log = root, bin_dir, bin_dir / "log"
        self.log.write_text("")
        self.patch = monkeypatch
        for name in PROGRAMS:
            self.program(name)
        self.program("systemctl", '[ "$1" = is-active ] && exit 3; exit 0')

    def program(self, name: str, script: str = "exit 0") -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.log}"\nROOT="{self.root}"\n{script}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def service(self, state: str) -> None:
        """The state of every unit, as systemd calls it."""
        self.program("systemctl", f'[ "$1" = show ] && echo ActiveState={state}; exit 0')

    def missing(self, name: str) -> None:
        (self.bin / name).unlink()

    def file(self, name: str, text: str = "x\n") -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def has(self, name: str) -> bool:
        return os.path.lexists(self.root / name)

    def runs(self, program: str = "") -> list[str]:
        return [line for line in self.log.read_text().splitlines() if line.startswith(program)]

    def api(self, state: str, detail: str = "") -> None:
        """What /livez and /readyz say."""
        self.patch.setattr(machine, "api_state", lambda address, port: (state, detail))

    def control_plane(self) -> None:
        """The files of a complete one."""
        for name in ("kube-controller-manager", "kube-scheduler"):
            self.file(f"etc/kubernetes/manifests/{name}.yaml")
        self.file("etc/kubernetes/manifests/kube-apiserver.yaml", APISERVER)
        self.file("etc/kubernetes/manifests/etcd.yaml", ETCD)
        self.file("etc/kubernetes/admin.conf", ADMIN)
        self.file("etc/kubernetes/kubelet.conf", FINALIZED)
        self.file("etc/kubernetes/pki/ca.crt", CA)
        self.file("var/lib/etcd/member/snap/db")

    def worker(self, server: str = "https://192.0.2.10:6443", ca: str = CA) -> None:
        """The files of a joined one."""
        self.file("etc/kubernetes/kubelet.conf", FINALIZED.replace("https://192.0.2.10:6443", server))
        self.file("etc/kubernetes/pki/ca.crt", ca)
        self.file("var/lib/kubelet/config.yaml")
        self.file("var/lib/kubelet/pki/kubelet-client-current.pem")


def make(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    root, bin_dir = tmp_path / "root", tmp_path / "bin"
    root.mkdir()
    bin_dir.mkdir()
    monkeypatch.setattr(machine, "ROOT", str(root))
    monkeypatch.setattr(machine, "node_name", lambda: "gpu-1")
    # Nothing of the real machine is to be found or changed: of its programs only these few.
    for name in ("timeout", "sh", "cat", "mkdir", "rm", "grep", "sleep"):
        (bin_dir / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(bin_dir))
    monkeypatch.setattr("ansible.module_utils.common.process.os.path.exists", os.path.exists)
    return Machine(root, bin_dir, monkeypatch)
