# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What this machine needs before the lab can build and run: Debian packages, and Python's pip for two downloads."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import typing as t
from pathlib import Path

from nodelab import paths, process
from nodelab.errors import LabError

PACKAGES = [
    "conntrack",
    "dnsmasq-base",
    "docker-registry",
    "gcc",
    "gnupg",
    "iproute2",
    "iptables",
    "libc6-dev",
    "mmdebstrap",
    "nftables",
    "nginx-light",
    "openssh-client",
    "openssl",
    # For whoever pushes images to a registry in a lab.
    "skopeo",
    "systemd-container",
]
SERVICES = ["nginx.service", "docker-registry.service"]
"""Units that come with the packages and that the lab does not want running: it starts its own."""
POLICY = Path("/usr/sbin/policy-rc.d")


def missing_packages() -> list[str]:
    """Return the packages of PACKAGES that are not installed. Raises LabError where there is no apt."""
    if shutil.which("apt-get") is None:
        raise LabError("The lab installs its tools with apt-get, which is not on this machine; use Debian or Ubuntu.")
    listed = process.run(["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\\n"])
    installed = {line.split(" ")[0] for line in listed.splitlines() if line.endswith(" installed")}
    return [name for name in PACKAGES if name not in installed]


def check(folder: Path, *, gibibytes: int) -> None:
    """Raise LabError unless this is root and the file system of ``folder`` has this much room."""
    if os.geteuid() != 0:
        raise LabError("The lab makes network bridges, mounts and containers; run it as root.")
    free = shutil.disk_usage(folder).free / 2**30
    if free < gibibytes:
        raise LabError(
            f"{folder} has {free:.1f} GiB free and the lab needs {gibibytes}; make room or set {paths.CACHE_VARIABLE}."
        )


def install(packages: t.Sequence[str], on_line: t.Callable[[str], None] = lambda _line: None) -> None:
    """Install Debian packages without starting their services."""
    apt = ["apt-get", "--quiet", "--yes", "--option", "DPkg::Lock::Timeout=300"]
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    process.run([*apt, "update"], env=env, on_line=on_line)
    with _no_service_starts():
        # Cut off, it would leave the machine with an apt that refuses to work.
        install = [*apt, "install", "--no-install-recommends", *packages]
        process.run(install, env=env, on_line=on_line, to_its_end=True)
    if shutil.which("systemctl"):
        present = [unit for unit in SERVICES if Path("/lib/systemd/system", unit).exists()]
        if present:
            process.run(["systemctl", "--quiet", "disable", *present])


def download_debs(packages: t.Sequence[str], folder: Path) -> None:
    """Download Debian packages for this machine and unpack them into ``folder``."""
    scratch = folder / "download"
    scratch.mkdir(parents=True)
    # apt drops to the user _apt for downloads, who cannot write here.
    process.run(["apt-get", "--quiet", "--option", "APT::Sandbox::User=root", "download", *packages], cwd=scratch)
    for file in scratch.glob("*.deb"):
        process.run(["dpkg-deb", "--extract", file, folder])
    shutil.rmtree(scratch)


def download_wheel(name: str, version: str, folder: Path) -> Path:
    """Download one Python package without its dependencies and return the file."""
    for command in ([sys.executable, "-m", "pip"], ["python3", "-m", "pip"], ["pip3"]):
        try:
            process.run([*command, "--version"])
        except LabError:
            continue
        process.run([*command, "download", "--quiet", "--no-deps", "--dest", folder, f"{name}=={version}"])
        for wheel in folder.glob("*.whl"):
            return wheel
        raise LabError(f"pip downloaded no wheel of {name} {version}.")
    raise LabError("The lab downloads two Python packages with pip, which this machine lacks; install python3-pip.")


@contextlib.contextmanager
def _no_service_starts() -> t.Iterator[None]:
    """Keep maintainer scripts from starting services, as Debian's policy layer allows; an existing policy stays."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)
