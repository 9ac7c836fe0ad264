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

from nodelab import deb, packages, versions
from nodelab.deb import MTIME, Package
from nodelab.secrets import Keyring

HELM_ARCHIVE = f"helm-v{versions.HELM}-linux-amd64.tar.gz"


def write_kubernetes_repository(web: Path, offered: t.Sequence[Package], signing: Path) -> None:
    """Write the flat repository of one Kubernetes minor release, as pkgs.k8s.io lays it out."""
    root = web / "pkgs.k8s.io" / "core:" / "stable:" / f"v{versions.KUBERNETES_MINOR}" / "deb"
    pool = root / "amd64"
    pool.mkdir(parents=True)
    paragraphs = []
    for package in offered:
        file = deb.write_package(package, pool)
        paragraphs.append(deb.index_entry(package, file, f"amd64/{file.name}"))
    index = "\n".join(paragraphs).encode()
    indices = {"Packages": index, "Packages.gz": gzip.compress(index, mtime=MTIME)}
    _write_all(root, indices)
    label = f"isv:kubernetes:core:stable:v{versions.KUBERNETES_MINOR}"
    fields = {
        **dict.fromkeys(("Archive", "Codename"), "deb"),
        **dict.fromkeys(("Origin", "Label"), f"obs://build.opensuse.org/{label}/deb"),
        "Architectures": "amd64",
    }
    _sign(root, deb.release_text(fields, indices), signing)
    (root / "Release.key").write_bytes((signing / "public.asc").read_bytes())


def write_docker_repository(web: Path, suite: str, offered: t.Sequence[Package], signing: Path) -> None:
    """Write one Debian release of download.docker.com; other releases beside it stay."""
    root = web / "download.docker.com" / "linux" / "debian"
    dist = root / "dists" / suite
    pool = dist / "pool" / "stable" / "amd64"
    pool.mkdir(parents=True)
    paragraphs = []
    for package in offered:
        file = deb.write_package(package, pool)
        paragraphs.append(deb.index_entry(package, file, str(file.relative_to(root))))
    index = "\n".join(paragraphs).encode()
    indices = {
        "stable/binary-amd64/Packages": index,
        "stable/binary-amd64/Packages.gz": gzip.compress(index, mtime=MTIME),
    }
    _write_all(dist, indices)
    fields = {
        **dict.fromkeys(("Origin", "Label"), "Docker"),
        **dict.fromkeys(("Suite", "Codename"), suite),
        "Architectures": "amd64",
        "Components": "stable",
    }
    _sign(dist, deb.release_text(fields, indices), signing)
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


def write_web(web: Path, *, binaries: Path, helm: Path, runc: Path, signing: Path) -> None:
    """Write the whole tree. ``binaries`` holds the programs by name, ``signing`` the key of the repositories."""
    write_kubernetes_repository(web, packages.kubernetes_packages(binaries), signing)
    for suite in versions.SUITES:
        write_docker_repository(web, suite, [packages.containerd_package(suite, binaries, runc)], signing)
    write_helm_archive(web, helm)


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
