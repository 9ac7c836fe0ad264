# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keys of one lab cache: certificate authority, server certificate, SSH key, key that signs the apt repositories."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from nodelab import process

REGISTRY_HOSTS = ["registry.k8s.io", "registry-1.docker.io", "ghcr.io", "quay.io", "nvcr.io"]
UPSTREAM_HOSTS = [
    *REGISTRY_HOSTS,
    "auth.docker.io",
    "production.cloudflare.docker.com",
    "docker.io",
    "index.docker.io",
    "pkgs.k8s.io",
    "download.docker.com",
    "get.helm.sh",
    "developer.download.nvidia.com",
    "nvidia.github.io",
    "project-hami.github.io",
    "democratic-csi.github.io",
    "kubernetes.github.io",
    "traefik.github.io",
]
VALID_DAYS = 730
_RENEW_SECONDS = 30 * 24 * 3600


def make_authority(folder: Path) -> None:
    """Write ca.crt and ca.key."""
    process.run([
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", str(VALID_DAYS)),
        *("-subj", "/CN=lab upstream CA", "-addext", "basicConstraints=critical,CA:TRUE"),
        *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        *("-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.crt")),
    ])  # fmt: skip


def make_server_certificate(folder: Path, authority: Path) -> None:
    """Write server.crt (the authority behind it) and server.key for all upstream hosts, and copy the authority."""
    for name in ("ca.crt", "ca.key"):
        (folder / name).write_bytes((authority / name).read_bytes())
    names = ",".join(f"DNS:{host}" for host in UPSTREAM_HOSTS)
    with tempfile.TemporaryDirectory() as scratch:
        request, extensions, leaf = (Path(scratch, name) for name in ("request", "extensions", "leaf"))
        extensions.write_text(
            f"subjectAltName={names}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n", encoding="utf-8"
        )
        process.run([
            *("openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=lab upstream"),
            *("-keyout", str(folder / "server.key"), "-out", str(request)),
        ])  # fmt: skip
        process.run([
            *("openssl", "x509", "-req", "-in", str(request), "-days", str(VALID_DAYS), "-sha256"),
            *("-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key"), "-set_serial", f"0x{_serial()}"),
            *("-extfile", str(extensions), "-out", str(leaf)),
        ])  # fmt: skip
        (folder / "server.crt").write_bytes(leaf.read_bytes() + (folder / "ca.crt").read_bytes())


def still_valid(folder: Path) -> bool:
    """Say whether every certificate in the folder has a month or more to go."""
    for certificate in folder.glob("*.crt"):
        answer = subprocess.run(
            ["openssl", "x509", "-noout", "-checkend", str(_RENEW_SECONDS), "-in", certificate],
            capture_output=True,
            check=False,
        )
        if answer.returncode != 0:
            return False
    return True


def make_ssh_key(folder: Path) -> None:
    """Write id and id.pub, the key of the user ubuntu on every node."""
    process.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", folder / "id"])


def make_signing_key(folder: Path) -> None:
    """Write secret.asc and public.asc (ASCII armour): the key that signs the lab's apt repositories."""
    with Keyring() as keyring:
        keyring.gpg("--quick-generate-key", "Lab upstream packages <packages@lab.invalid>", "rsa3072", "sign", "never")
        (folder / "secret.asc").write_text(keyring.gpg("--armor", "--export-secret-keys"), encoding="utf-8")
        (folder / "public.asc").write_text(keyring.gpg("--armor", "--export"), encoding="utf-8")


def fingerprint(public: Path) -> str:
    """Return the fingerprint of a public key in a file."""
    with Keyring() as keyring:
        lines = keyring.gpg("--show-keys", "--with-colons", str(public)).splitlines()
    return next(line.split(":")[9] for line in lines if line.startswith("fpr:"))


class Keyring:
    """A GnuPG home that exists only inside the ``with`` block, agent included."""

    def __init__(self, secret: Path | None = None) -> None:
        self._secret = secret
        # Below /tmp: the path of the agent's socket must stay under 108 bytes.
        self._folder = tempfile.TemporaryDirectory(prefix="lab-gpg-", dir="/tmp")
        self._env = {"GNUPGHOME": self._folder.name}

    def __enter__(self) -> Keyring:
        if self._secret is not None:
            self.gpg("--import", str(self._secret))
        return self

    def __exit__(self, *_exc: object) -> None:
        subprocess.run(
            ["gpgconf", "--kill", "all"],
            env={"PATH": "/usr/bin:/bin", **self._env},
            capture_output=True,
            check=False,
        )
        self._folder.cleanup()

    def gpg(self, *arguments: str) -> str:
        """Run gpg without questions and return what it prints."""
        return process.run(
            ["gpg", "--batch", "--yes", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", *arguments],
            env=self._env,
        )


def _serial() -> str:
    return process.run(["openssl", "rand", "-hex", "16"]).strip()
