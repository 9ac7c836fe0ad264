# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files that the lab serves over HTTPS in place of the real upstream: ``web/HOST/PATH``."""

from __future__ import annotations

import gzip
import os
import tarfile
import typing as t
from pathlib import Path

from nodelab import charts, deb, nvidia, packages, versions
from nodelab.deb import MTIME, Package
from nodelab.secrets import Keyring

NVIDIA_KEYS = {"bookworm": "3bf863cc.pub", "trixie": "8793F200.pub"}
HELM_ARCHIVE = f"helm-v{versions.HELM}-linux-amd64.tar.gz"


def write_repository(
    root: Path,
    pool: Path,
    offered: t.Sequence[Package],
    fields: t.Mapping[str, str],
    signing: Path,
    *,
    prefix: str,
    component: str = "",
) -> None:
    """Write packages into ``pool``, where the index has them behind ``prefix``, and the signed index below ``root``."""
    pool.mkdir(parents=True)
    files = [(package, deb.write_package(package, pool)) for package in offered]
    index = "\n".join(deb.index_entry(package, file, f"{prefix}{file.name}") for package, file in files).encode()
    indices = {f"{component}Packages": index, f"{component}Packages.gz": gzip.compress(index, mtime=MTIME)}
    _write_all(root, indices)
    _sign(root, deb.release_text(fields, indices), signing)


def write_kubernetes_repository(web: Path, offered: t.Sequence[Package], signing: Path) -> None:
    """Write the flat repository of one Kubernetes minor release, as pkgs.k8s.io lays it out."""
    root = web / "pkgs.k8s.io" / "core:" / "stable:" / f"v{versions.KUBERNETES_MINOR}" / "deb"
    label = f"isv:kubernetes:core:stable:v{versions.KUBERNETES_MINOR}"
    fields = {
        **dict.fromkeys(("Archive", "Codename"), "deb"),
        **dict.fromkeys(("Origin", "Label"), f"obs://build.opensuse.org/{label}/deb"),
        "Architectures": "amd64",
    }
    write_repository(root, root / "amd64", offered, fields, signing, prefix="amd64/")
    (root / "Release.key").write_bytes((signing / "public.asc").read_bytes())


def write_docker_repository(web: Path, suite: str, offered: t.Sequence[Package], signing: Path) -> None:
    """Write one Debian release of download.docker.com; other releases beside it stay."""
    root = web / "download.docker.com" / "linux" / "debian"
    dist = root / "dists" / suite
    pool = dist / "pool" / "stable" / "amd64"
    fields = {
        **dict.fromkeys(("Origin", "Label"), "Docker"),
        **dict.fromkeys(("Suite", "Codename"), suite),
        "Architectures": "amd64",
        "Components": "stable",
    }
    prefix = f"{pool.relative_to(root)}/"
    write_repository(dist, pool, offered, fields, signing, prefix=prefix, component="stable/binary-amd64/")
    (root / "gpg").write_bytes((signing / "public.asc").read_bytes())


def write_helm_archive(web: Path, helm: Path) -> str:
    """Write helm's archive and its .sha256sum as get.helm.sh has them; return the archive's SHA-256."""
    folder = web / "get.helm.sh"
    folder.mkdir(parents=True)
    archive = folder / HELM_ARCHIVE
    with (
        open(archive, "wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=MTIME) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
        open(helm, "rb") as program,
    ):
        info = tarfile.TarInfo("linux-amd64/helm")
        info.size, info.mode, info.mtime = helm.stat().st_size, 0o755, MTIME
        tar.addfile(info, program)
    digest = deb.hash_file(archive)
    (folder / f"{HELM_ARCHIVE}.sha256sum").write_text(f"{digest}  {HELM_ARCHIVE}\n", encoding="utf-8")
    (folder / f"{HELM_ARCHIVE}.sha256").write_text(digest, encoding="utf-8")
    return digest


def write_driver_repository(web: Path, suite: str, driver: Path, signing: Path) -> None:
    """Write the repository of NVIDIA's driver for one Debian release; ``driver`` is what gpu.compile_drivers made."""
    name = f"debian{versions.SUITES[suite]}"
    root = web / "developer.download.nvidia.com/compute/cuda/repos" / name / "x86_64"
    key = (signing / "public.asc").read_bytes()
    with Keyring() as keyring:
        keyring.gpg("--import", os.fspath(signing / "public.asc"))
        binary = root.parent / "key.gpg"
        root.parent.mkdir(parents=True)
        keyring.gpg("--export", "--output", os.fspath(binary))
    offered = [*nvidia.driver_packages(driver), nvidia.keyring_package(name, binary.read_bytes())]
    fields = {
        **dict.fromkeys(("Origin", "Label"), "NVIDIA"),
        "Suite": f"{name}-x86_64",
        "Codename": f"{name}-x86_64",
        "Architecture": "amd64",
    }
    write_repository(root, root, offered, fields, signing, prefix="./")
    (root / NVIDIA_KEYS[suite]).write_bytes(key)
    binary.rename(root / "cuda-archive-keyring.gpg")


def write_toolkit_repository(web: Path, toolkit: Path, signing: Path) -> None:
    """Write the repository of NVIDIA's container toolkit; ``toolkit`` is what gpu.build_toolkit made."""
    root = web / "nvidia.github.io/libnvidia-container"
    fields = {**dict.fromkeys(("Origin", "Label"), "https://nvidia.github.io/libnvidia-container"), "Suite": "stable"}
    offered = [
        package
        for version in (versions.NVIDIA_TOOLKIT_OLDER, versions.NVIDIA_TOOLKIT)
        for package in nvidia.toolkit_packages(toolkit, version)
    ]
    write_repository(root / "stable/deb/amd64", root / "stable/deb/amd64", offered, fields, signing, prefix="./")
    address = "deb https://nvidia.github.io/libnvidia-container"
    (root / "stable/deb/nvidia-container-toolkit.list").write_text(
        f"{address}/stable/deb/$(ARCH) /\n#{address}/experimental/deb/$(ARCH) /\n", encoding="utf-8"
    )
    (root / "gpgkey").write_bytes((signing / "public.asc").read_bytes())


def write_chart_repositories(web: Path, nvidia_chart: Path) -> None:
    """Write the chart repositories, each at its true address."""
    for place, folder, keys in (
        ("project-hami.github.io/HAMi", charts.CHARTS / "hami", f"hami-{versions.HAMI}"),
        ("nvidia.github.io/k8s-device-plugin", nvidia_chart, ""),
        (
            "kubernetes.github.io/ingress-nginx",
            charts.CHARTS / "ingress-nginx",
            f"ingress-nginx-{versions.INGRESS_NGINX_CHART}",
        ),
        ("traefik.github.io/charts", charts.CHARTS / "traefik", "traefik"),
    ):
        charts.write_repository(web / place, [(folder, keys)])


def write_web(
    web: Path,
    *,
    binaries: Path,
    helm: Path,
    runc: Path,
    driver: Path,
    toolkit: Path,
    signing: Path,
    nvidia_chart: Path,
) -> None:
    """Write the whole tree. ``binaries`` holds the programs by name, ``signing`` the key of the repositories."""
    write_kubernetes_repository(web, packages.kubernetes_packages(binaries), signing)
    for suite in versions.SUITES:
        write_docker_repository(web, suite, [packages.containerd_package(suite, binaries, runc)], signing)
        write_driver_repository(web, suite, driver, signing)
    write_toolkit_repository(web, toolkit, signing)
    write_helm_archive(web, helm)
    write_chart_repositories(web, nvidia_chart)


def helm_sha256(web: Path) -> str:
    """Return the SHA-256 of the helm archive in a finished tree."""
    return (web / "get.helm.sh" / f"{HELM_ARCHIVE}.sha256").read_text(encoding="utf-8").strip()


def _write_all(root: Path, files: t.Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def _sign(root: Path, release: str, signing: Path) -> None:
    """Write Release, Release.gpg and InRelease."""
    target = root / "Release"
    target.write_text(release, encoding="utf-8")
    with Keyring(signing / "secret.asc") as keyring:
        keyring.gpg("--armor", "--detach-sign", "--output", os.fspath(root / "Release.gpg"), os.fspath(target))
        keyring.gpg("--clearsign", "--output", os.fspath(root / "InRelease"), os.fspath(target))
