# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The repositories and archives that the lab serves, checked with the tools that will read them."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from nodelab import secrets, upstream_content, versions
from nodelab.deb import Content, Package

PACKAGE = Package("tool", "1-1", "a tool", [Content("/usr/bin/tool", b"x", 0o755)])
has_gpg = pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not on this machine")
has_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not on this machine")


@pytest.fixture(scope="module")
def signing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signing")
    secrets.make_signing_key(folder)
    return folder


def check_signed(root: Path, signing: Path, home: Path) -> None:
    """Check both signatures with a keyring that holds nothing but the public key, as apt would."""
    keyring = home / "keyring.gpg"
    subprocess.run(["gpg", "--dearmor", "--output", keyring, signing / "public.asc"], check=True)
    for arguments in ([root / "InRelease"], [root / "Release.gpg", root / "Release"]):
        subprocess.run(["gpgv", "--quiet", "--keyring", keyring, *arguments], check=True, capture_output=True)


def check_index(root: Path, index: str, pool_root: Path) -> None:
    """Check that Release has the index's checksum, and the index that of the package."""
    data = (root / index).read_bytes()
    assert f"{hashlib.sha256(data).hexdigest()} {len(data)} {index}\n" in (root / "Release").read_text(encoding="utf-8")
    assert gzip.decompress((root / f"{index}.gz").read_bytes()) == data
    fields = dict(line.split(": ", 1) for line in data.decode().splitlines())
    file = pool_root / fields["Filename"]
    assert fields["Size"] == str(file.stat().st_size)
    assert fields["SHA256"] == hashlib.sha256(file.read_bytes()).hexdigest()


@has_gpg
def test_the_kubernetes_repository(tmp_path: Path, signing: Path) -> None:
    upstream_content.write_kubernetes_repository(tmp_path, [PACKAGE], signing)
    root = tmp_path / f"pkgs.k8s.io/core:/stable:/v{versions.KUBERNETES_MINOR}/deb"
    check_index(root, "Packages", root)
    check_signed(root, signing, tmp_path)
    assert (root / "amd64/tool_1-1_amd64.deb").exists()
    assert (root / "Release.key").read_text(encoding="utf-8").startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")


@has_gpg
def test_the_docker_repository(tmp_path: Path, signing: Path) -> None:
    for suite in ("bookworm", "trixie"):
        upstream_content.write_docker_repository(tmp_path, suite, [PACKAGE], signing)
    root = tmp_path / "download.docker.com/linux/debian"
    for suite in ("bookworm", "trixie"):
        dist = root / "dists" / suite
        check_index(dist, "stable/binary-amd64/Packages", root)
        assert f"Codename: {suite}\n" in (dist / "Release").read_text(encoding="utf-8")
    check_signed(root / "dists/trixie", signing, tmp_path)
    assert (root / "gpg").exists()


@has_gpg
def test_a_repository_in_one_folder(tmp_path: Path, signing: Path) -> None:
    root = tmp_path / "root"
    upstream_content.write_repository(root, root, [PACKAGE], {"Origin": "NVIDIA"}, signing, prefix="./")
    check_index(root, "Packages", root)
    check_signed(root, signing, tmp_path)
    digits = secrets.fingerprint(signing / "public.asc")
    assert (len(digits), set(digits) <= set("0123456789ABCDEF")) == (40, True)


def test_the_helm_archive(tmp_path: Path) -> None:
    program = tmp_path / "helm"
    program.write_bytes(b"ELF")
    digest = upstream_content.write_helm_archive(tmp_path, program)
    archive = tmp_path / f"get.helm.sh/helm-v{versions.HELM}-linux-amd64.tar.gz"
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == digest == upstream_content.helm_sha256(tmp_path)
    with tarfile.open(archive) as tar:
        member = tar.getmember("linux-amd64/helm")
        assert (member.size, member.mode) == (3, 0o755)


@has_openssl
def test_the_server_certificate(tmp_path: Path) -> None:
    secrets.make_authority(tmp_path)
    served = tmp_path / "served"
    served.mkdir()
    secrets.make_server_certificate(served, tmp_path)
    assert secrets.still_valid(served)
    verify = [
        "openssl",
        "verify",
        "-CAfile",
        tmp_path / "ca.crt",
        "-verify_hostname",
        "pkgs.k8s.io",
        served / "server.crt",
    ]
    subprocess.run(verify, check=True, capture_output=True)
    shown = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "subjectAltName", "-in", served / "server.crt"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(f"DNS:{host}" in shown for host in secrets.UPSTREAM_HOSTS)
