# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the kernel and the files say of NVIDIA's driver: versions, modules, kernels, Secure Boot.

Note that this module util is **PRIVATE** to the collection. Text in, plain data out: no I/O.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _dpkg

# Packages that belong to a driver; the container toolkit has names of its own and lives apart from it.
PACKAGES = (
    "cuda-drivers*",
    "firmware-nvidia-*",
    "libcuda1",
    "libnvidia-*",
    "linux-modules-nvidia-*",
    "linux-objects-nvidia-*",
    "nvidia-*",
)
_NOT_DRIVER = re.compile(r"nvidia-container-|libnvidia-container|nvidia-docker|nvidia-cdi|nvidia-cuda-|nvidia-ctk")
_VERSION = r"\d{3,}\.\d+(?:\.\d+)?"


def loaded_version(text: str) -> str:
    """The version of the loaded module from /proc/driver/nvidia/version, in the closed and in the open form."""
    hit = re.search(rf"^NVRM version:.*Kernel Module\D*?(?:for \S+)?\s+({_VERSION})\b", text, re.M)
    return hit.group(1) if hit else ""


def library_version(names: t.Iterable[str]) -> str:
    """The version of the user-space library from the names of its files; of several the newest."""
    found = [hit.group(1) for name in names if (hit := re.search(rf"libnvidia-ml\.so\.({_VERSION})$", name))]
    return max(found, key=numbers, default="")


def module(kernel: str, modinfo: str) -> dict[str, t.Any]:
    """One module on disk, from what modinfo prints."""
    fields: dict[str, str] = {}
    for line in modinfo.split("\n"):
        name, sep, value = line.partition(":")
        if sep and not line[:1].isspace():
            fields.setdefault(name.strip(), value.strip())
    return {
        "kernel": kernel,
        "version": fields.get("version", ""),
        "open": "GPL" in fields.get("license", ""),
        "signer": fields.get("signer", ""),
        "file": fields.get("filename", ""),
    }


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def newest(kernels: t.Iterable[str], running: str) -> str:
    """The kernel that will boot: the newest of the running one's flavour, for that is what boot loaders take."""
    same = [kernel for kernel in kernels if flavour(kernel) == flavour(running)]
    return max([*same, running], key=numbers)


def flavour(kernel: str) -> str:
    """generic of 6.8.0-88-generic, amd64 of 6.12.48+deb13-amd64, cloud-amd64 of 6.1.0-31-cloud-amd64."""
    parts = kernel.split("-")
    while parts and parts[0][:1].isdigit():
        parts.pop(0)
    return "-".join(parts)


def secure_boot(variable: bytes, efi: bool) -> str:
    """From the EFI variable: four bytes of attributes, then the value."""
    if not efi:
        return "unsupported"
    return "enabled" if len(variable) >= 5 and variable[4] == 1 else "disabled"


def packages(listing: str) -> list[dict[str, t.Any]]:
    """Installed packages of a driver from dpkg-query's lines (_dpkg.query)."""
    found = _dpkg.parse(listing).items()
    return [{"name": name, **package._asdict()} for name, package in found if not _NOT_DRIVER.match(name)]


def started(stat: str, uptime: str, ticks: int, now: float) -> float:
    """When the machine started, which is when its first process did (a container has the uptime of its host)."""
    fields = stat.rpartition(")")[2].split()
    try:
        return now - float(uptime.split()[0]) + int(fields[19]) / ticks
    except (IndexError, ValueError):
        return 0.0


def explaining(lines: t.Iterable[str], limit: int = 4) -> list[str]:
    """The last lines of the kernel's log that say why a driver does not work."""
    pattern = re.compile(
        r"NVRM|Xid|nouveau|NovaCore|nova_core|Key was rejected|module verification failed|nvidia.*"
        r"(signature|taint|unknown symbol|disagrees|version magic)|Lockdown.*module|modprobe.*nvidia",
        re.I,
    )
    found = [line.strip() for line in lines if pattern.search(line)]
    silent = ("loading out-of-tree", "COMMAND=", "Started ", "Finished ")
    return [line for line in dict.fromkeys(found) if not any(word in line for word in silent)][-limit:]
