# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The root folder that all nodes of one Debian release share: a fresh server and the few units a container needs."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import typing as t
from pathlib import Path

from nodelab import nodekernel, process
from nodelab.errors import LabError

USER = "ubuntu"
PACKAGES = [
    "ca-certificates",
    "curl",
    "dbus",
    "iproute2",
    "iputils-ping",
    "kmod",
    "less",
    "netbase",
    "openssh-server",
    "procps",
    "python3",
    "python3-apt",
    "sudo",
    "systemd",
    "systemd-sysv",
    "systemd-timesyncd",
]
HOST_CERTIFICATES = Path("/usr/local/share/ca-certificates")
MIRROR_VARIABLE = "GSHARE_LAB_DEBIAN_MIRROR"

# Not there or not theirs to do in a container: no devices of its own, no console, no modules, no NFS in the kernel.
MASKED = [
    "console-getty.service",
    "getty.target",
    "run-rpc_pipefs.mount",
    "systemd-modules-load.service",
    "systemd-udevd.service",
]
ENABLED = ["lab-remount.service", "lab-network.service", "ssh.service"]

FILES = Path(__file__).resolve().parent / "files"


@dataclasses.dataclass(frozen=True)
class Mirror:
    """Where Debian comes from: address and archive key of the main and the security archive."""

    main: str
    security: str


def find_mirror(targets: str, codename: str, override: str = "") -> Mirror:
    """Return the mirror that this machine's own apt uses.

    ``targets`` are lines of "ADDRESS RELEASE" as apt-get indextargets prints them, ``codename`` this machine's release;
    ``override`` replaces the main archive. Raises LabError when apt knows no Debian archive.
    """
    by_release: dict[str, str] = {}
    for line in targets.splitlines():
        address, _unused, release = line.partition(" ")
        by_release.setdefault(release, address.rstrip("/"))
    main = override.rstrip("/") or by_release.get(codename, "")
    if not main:
        raise LabError(
            f"apt on this machine names no Debian mirror for {codename}; set {MIRROR_VARIABLE} to the address of one."
        )
    security = by_release.get(f"{codename}-security", "") or f"{main}-security"
    return Mirror(main, security)


def host_mirror() -> Mirror:
    """Return the mirror of this machine's apt configuration."""
    targets = process.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"])
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    return find_mirror(targets, codename, os.environ.get(MIRROR_VARIABLE, ""))


def sources(suite: str, mirror: Mirror) -> str:
    """Return the node's apt sources, in deb822 form."""
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    return (
        f"Types: deb\nURIs: {mirror.main}\nSuites: {suite} {suite}-updates\nComponents: main\nSigned-By: {keyring}\n\n"
        f"Types: deb\nURIs: {mirror.security}\nSuites: {suite}-security\nComponents: main\nSigned-By: {keyring}\n"
    )


def make_base(
    folder: Path, suite: str, *, authority: Path, ssh_key: Path, on_line: t.Callable[[str], None] = lambda _line: None
) -> None:
    """Make ``folder``/root, the root folder of a node. ``authority`` is ca.crt, ``ssh_key`` the public key."""
    root = folder / "root"
    mirror = host_mirror()
    _bootstrap(root, suite, mirror, on_line)
    _write_sources(root, suite, mirror)
    _trust(root, authority)
    _add_user(root, ssh_key)
    _write_units(root)
    _install_kernel(root)
    _make_anonymous(root)


def _bootstrap(root: Path, suite: str, mirror: Mirror, on_line: t.Callable[[str], None]) -> None:
    """Unpack the packages. Documentation and translations are left out: they are a third of the time."""
    excluded = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
    process.run(
        [
            *("mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(PACKAGES)}"),
            *("--aptopt=Acquire::Languages none", "--dpkgopt=force-unsafe-io"),
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in excluded),
            *(suite, str(root), f"deb {mirror.main} {suite} main"),
        ],
        on_line=on_line,
    )


def _write_sources(root: Path, suite: str, mirror: Mirror) -> None:
    (root / "etc/apt/sources.list").unlink(missing_ok=True)
    _write(root / "etc/apt/sources.list.d/debian.sources", sources(suite, mirror))
    proxy = process.run(["apt-config", "dump", "--format", '%F "%v";%n', "Acquire::http::Proxy"])
    if proxy.strip():
        _write(root / "etc/apt/apt.conf.d/90proxy", proxy)


def _trust(root: Path, authority: Path) -> None:
    """Let the node trust the lab's authority and whatever this machine trusts beyond Debian's own list."""
    target = root / "usr/local/share/ca-certificates"
    target.mkdir(parents=True, exist_ok=True)
    for certificate in sorted(HOST_CERTIFICATES.glob("*.crt")):
        shutil.copyfile(certificate, target / certificate.name)
    shutil.copyfile(authority, target / "lab-upstream.crt")
    process.run(["chroot", root, "update-ca-certificates"])


def _add_user(root: Path, ssh_key: Path) -> None:
    process.run(["chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", USER])
    sudoers = root / "etc/sudoers.d/90-lab"
    _write(sudoers, f"{USER} ALL=(ALL) NOPASSWD:ALL\n", 0o440)
    folder = root / f"home/{USER}/.ssh"
    folder.mkdir(mode=0o700)
    shutil.copyfile(ssh_key, folder / "authorized_keys")
    process.run(["chroot", root, "chown", "-R", f"{USER}:", f"/home/{USER}/.ssh"])


def _write_units(root: Path) -> None:
    units = root / "etc/systemd/system"
    for name in ("lab-remount", "lab-network"):
        _write(units / f"{name}.service", (FILES / f"{name}.service").read_text(encoding="utf-8"))
        _write(root / f"usr/local/sbin/{name}", (FILES / f"{name}.sh").read_text(encoding="utf-8"), 0o755)
    # Under cgroup v1 systemd never hears that a container's scope is empty, so every stop waits the full time.
    _write(root / "etc/systemd/system.conf.d/lab.conf", "[Manager]\nDefaultTimeoutStopSec=4s\n")
    process.run(["systemctl", f"--root={root}", "--quiet", "mask", *MASKED])
    process.run(["chroot", root, "systemctl", "--quiet", "enable", *ENABLED])


def _install_kernel(root: Path) -> None:
    """Install the stand-in for the running kernel's package and offer that of its headers."""
    image = nodekernel.write_repository(root / nodekernel.REPOSITORY.relative_to("/"), platform.release())
    _write(root / "etc/apt/sources.list.d/lab-kernel.sources", nodekernel.SOURCES)
    process.run(["chroot", root, "dpkg", "--install", nodekernel.REPOSITORY / image])


def _make_anonymous(root: Path) -> None:
    """Leave no identity that two nodes would share, but for the SSH host keys: they only cost time."""
    for name in ("etc/machine-id", "etc/hostname", "etc/resolv.conf", "var/lib/dbus/machine-id"):
        (root / name).unlink(missing_ok=True)
    _write(root / "etc/machine-id", "")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
