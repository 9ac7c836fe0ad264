# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Debian packages of the lab's upstream: what pkgs.k8s.io and download.docker.com offer, file by file."""

from __future__ import annotations

import typing as t
from pathlib import Path

from nodelab import versions
from nodelab.deb import Content, Package

CNI_PROGRAMS = ["bridge", "host-local", "loopback", "portmap"]

# As their projects and Debian's tools write them.
FIXTURES = Path(__file__).resolve().parent / "fixtures"


def kubernetes_packages(binaries: Path) -> list[Package]:
    """Return the packages of pkgs.k8s.io; ``binaries`` holds the programs by name."""
    return [
        _kubelet(binaries / "kubelet"),
        Package(
            name="kubeadm",
            version=versions.KUBERNETES_PACKAGE,
            description="Command-line utility for administering a Kubernetes cluster\n"
            "Command-line utility for administering a Kubernetes cluster.",
            control=_kubernetes_control("admin"),
            contents=[
                Content("/usr/bin/kubeadm", binaries / "kubeadm", 0o755),
                Content(
                    "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf", FIXTURES / "kubernetes/10-kubeadm.conf"
                ),
            ],
        ),
        Package(
            name="kubectl",
            version=versions.KUBERNETES_PACKAGE,
            description="Command-line utility for interacting with a Kubernetes cluster\n"
            "Command-line utility for interacting with a Kubernetes cluster.",
            control=_kubernetes_control("admin"),
            contents=[Content("/usr/bin/kubectl", binaries / "kubectl", 0o755)],
        ),
        Package(
            name="cri-tools",
            version=versions.CRI_TOOLS_PACKAGE,
            description="Command-line utility for interacting with a container runtime\n"
            "Command-line utility for interacting with a container runtime.",
            control=_kubernetes_control("admin"),
            contents=[Content("/usr/bin/crictl", binaries / "crictl", 0o755)],
        ),
        Package(
            name="kubernetes-cni",
            version=versions.CNI_PLUGINS_PACKAGE,
            description="Binaries required to provision kubernetes container networking\n"
            f"This one holds only {', '.join(CNI_PROGRAMS)}.",
            control=_kubernetes_control("net"),
            contents=[
                *(Content(f"/opt/cni/bin/{name}", binaries / name, 0o755) for name in CNI_PROGRAMS),
                Content("/etc/cni/net.d/.kubernetes-cni-keep", b""),
            ],
        ),
    ]


def containerd_package(suite: str, binaries: Path, runc: Path) -> Package:
    """Return containerd.io as download.docker.com has it for a Debian release; ``runc`` is Debian's program."""
    return Package(
        name="containerd.io",
        version=f"{versions.CONTAINERD}-1~debian.{versions.SUITES[suite]}~{suite}",
        maintainer="Containerd team <help@containerd.io>",
        description="An open and reliable container runtime\n"
        "containerd is built from its own source for the lab; runc is the program of the Debian package of that name.",
        control={
            "Depends": "libc6 (>= 2.34), libseccomp2 (>= 2.5.0)",
            "Conflicts": "containerd, runc",
            "Replaces": "containerd, runc",
            "Provides": "containerd, runc",
            "Section": "devel",
            "Priority": "optional",
            "Homepage": "https://containerd.io",
        },
        scripts=_scripts("containerd/containerd.io"),
        conffiles=["/etc/containerd/config.toml"],
        contents=[
            *(
                Content(f"/usr/bin/{name}", binaries / name, 0o755)
                for name in ("containerd", "containerd-shim-runc-v2", "ctr")
            ),
            Content("/usr/bin/runc", runc, 0o755),
            Content("/usr/lib/systemd/system/containerd.service", FIXTURES / "containerd/containerd.service"),
            Content("/etc/containerd/config.toml", FIXTURES / "containerd/config.toml"),
        ],
    )


def _kubelet(program: Path) -> Package:
    return Package(
        name="kubelet",
        version=versions.KUBERNETES_PACKAGE,
        description="Node agent for Kubernetes clusters\nNode agent for Kubernetes clusters.",
        control={
            "Depends": "kubernetes-cni (>= 1.2.0), mount, util-linux",
            "Recommends": "iptables (>= 1.8.4)",
            **_kubernetes_control("net"),
        },
        scripts=_scripts("kubernetes/kubelet"),
        conffiles=["/etc/default/kubelet"],
        contents=[
            Content("/usr/bin/kubelet", program, 0o755),
            Content("/usr/lib/systemd/system/kubelet.service", FIXTURES / "kubernetes/kubelet.service", 0o600),
            Content("/etc/default/kubelet", b"KUBELET_EXTRA_ARGS=\n"),
            Content("/var/lib/kubelet/.kubelet-keep", b""),
            Content("/etc/kubernetes/manifests/.kubelet-keep", b""),
        ],
    )


def _kubernetes_control(section: str) -> t.Mapping[str, str]:
    return {"Section": section, "Priority": "optional", "Homepage": "https://kubernetes.io"}


def _scripts(prefix: str) -> dict[str, str]:
    """Return the maintainer scripts that lie there as PREFIX.postinst and so on."""
    names = ("postinst", "prerm", "postrm")
    return {name: (FIXTURES / f"{prefix}.{name}").read_text(encoding="utf-8") for name in names}
