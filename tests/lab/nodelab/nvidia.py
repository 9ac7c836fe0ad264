# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NVIDIA's Debian packages, as its repositories name them: the pretended driver, and the real container toolkit.

The driver's packages have the names and relations of NVIDIA's for Debian, as far as a compute node meets them. They
lack: the graphics half (nvidia-driver is here an empty package without its libraries and X), 32-bit libraries, dkms and
the headers that it recommends (the module is put in place for each kernel whose headers are there, at once and by the
kernel's hook, as dkms would), questions of debconf, an update of the initramfs, MPS, documentation.
"""

from __future__ import annotations

import typing as t
from pathlib import Path

from nodelab import gpu, versions
from nodelab.deb import Content, Package

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "nvidia"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
MAINTAINER = "NVIDIA CORPORATION <cudatools@nvidia.com>"
REPOSITORY = "https://developer.download.nvidia.com/compute/cuda/repos"
PINNED = ("cuda-drivers*", "firmware-nvidia-gsp", "libcuda1", "libnvidia-*", "nvidia-*")


def driver_packages(driver: Path) -> list[Package]:
    """Return the packages of all versions; ``driver`` is what gpu.compile_drivers made."""
    offered = [package for version in versions.NVIDIA_DRIVERS for package in _driver(version, driver / version)]
    newest = {version.split(".")[0]: version for version in versions.NVIDIA_DRIVERS}
    pins = {branch: (version, f"{branch}.*") for branch, version in newest.items()}
    pins |= {version: (version, f"{version}-*") for version in versions.NVIDIA_DRIVERS}
    return [*offered, *(_pinning(name, version, pattern) for name, (version, pattern) in pins.items())]


def _driver(version: str, built: Path) -> list[Package]:
    branch = version.split(".")[0]
    same = f"(= {version}-1)"

    def package(
        name: str,
        description: str,
        contents: t.Sequence[Content] = (),
        *,
        scripts: t.Mapping[str, str] | None = None,
        section: str = "utils",
        **relations: str,
    ) -> Package:
        control = {key.replace("_", "-"): value.replace("=same", same) for key, value in relations.items()}
        return Package(
            name=name,
            version=f"{version}-1",
            description=f"{description}\nStand-in of the lab: it drives no card.",
            contents=contents,
            control={**control, "Section": section, "Priority": "optional", "Homepage": "https://www.nvidia.com"},
            scripts=scripts or {},
            maintainer=MAINTAINER,
        )

    def library(name: str, stem: str, number: str, description: str, **relations: str) -> Package:
        file = f"{stem}.so.{version}"
        contents = [Content(f"{LIBRARIES}/{file}", built / file), Content(f"{LIBRARIES}/{stem}.so.{number}", link=file)]
        return package(name, description, contents, scripts=_scripts("library"), section="libs", **relations)

    def kernel(name: str, kind: str, other: str, description: str) -> Package:
        source = f"/usr/src/nvidia-{version}"
        hook = f"/etc/kernel/header_postinst.d/{name}"
        return package(
            name,
            description,
            [
                *(Content(f"{source}/{module}.ko", built / kind / f"{module}.ko") for module in gpu.MODULES),
                Content(f"{source}/build", _fixture("build"), 0o755),
                Content(hook, f'#!/bin/sh\n[ ! -x {source}/build ] || exec {source}/build "$1"\n'.encode(), 0o755),
            ],
            scripts={
                "postinst": f'#!/bin/sh\nset -e\n[ "$1" != configure ] || {source}/build\n',
                "prerm": f"#!/bin/sh\nset -e\n{source}/build --remove\n",
            },
            section="kernel",
            Depends="nvidia-kernel-support =same, firmware-nvidia-gsp =same, perl-base",
            Conflicts=other,
            Provides=f"nvidia-kernel-{version}",
        )

    def meta(name: str, kernel_package: str, description: str) -> Package:
        depends = f"nvidia-driver =same, nvidia-driver-cuda =same, {kernel_package} =same"
        return package(name, description, section="metapackages", Depends=depends)

    either = "nvidia-kernel-dkms =same | nvidia-kernel-open-dkms =same"
    units = "/usr/lib/systemd/system"
    firmware = f"/lib/firmware/nvidia/{version}"
    return [
        library("libnvidia-ml1", "libnvidia-ml", "1", "NVIDIA Management Library (NVML) runtime library"),
        library("libnvidia-ptxjitcompiler1", "libnvidia-ptxjitcompiler", "1", "NVIDIA PTX JIT Compiler library"),
        library("libnvidia-nvvm4", "libnvidia-nvvm", "4", "NVIDIA NVVM Compiler library"),
        library("libnvidia-cfg1", "libnvidia-cfg", "1", "NVIDIA binary OpenGL/GLX configuration library"),
        library("libnvidia-nscq", "libnvidia-nscq", "2", "NVSwitch Configuration and Query library"),
        library(
            "libcuda1",
            "libcuda",
            "1",
            "NVIDIA CUDA Driver Library",
            Depends="libnvidia-ptxjitcompiler1 =same, libnvidia-nvvm4 =same",
        ),
        package(
            "firmware-nvidia-gsp",
            "NVIDIA GSP firmware",
            [Content(f"{firmware}/{name}") for name in ("gsp_ga10x.bin", "gsp_tu10x.bin")],
            scripts=_scripts("firmware"),
            section="kernel",
        ),
        package(
            "nvidia-modprobe",
            "utility to load NVIDIA kernel modules and create device nodes",
            [Content("/usr/bin/nvidia-modprobe", _fixture("nvidia-modprobe"), 0o755)],
        ),
        package(
            "nvidia-kernel-support",
            "NVIDIA binary kernel module support files",
            [Content("/usr/lib/modprobe.d/nvidia.conf", b"blacklist nouveau\noptions nouveau modeset=0\n")],
            section="kernel",
            Depends="nvidia-modprobe =same, kmod",
        ),
        kernel("nvidia-kernel-open-dkms", "open", "nvidia-kernel-dkms", "NVIDIA open kernel module (DKMS)"),
        kernel("nvidia-kernel-dkms", "closed", "nvidia-kernel-open-dkms", "NVIDIA proprietary kernel module (DKMS)"),
        package(
            "nvidia-persistenced",
            "daemon to maintain persistent software state in the NVIDIA driver",
            [
                Content("/usr/bin/nvidia-persistenced", _fixture("nvidia-persistenced"), 0o755),
                Content(f"{units}/nvidia-persistenced.service", _fixture("nvidia-persistenced.service")),
            ],
            scripts=_scripts("service", service="nvidia-persistenced"),
            Depends="libnvidia-cfg1 =same",
        ),
        package(
            "nvidia-driver-cuda",
            "NVIDIA driver: CUDA and NVML (nvidia-smi)",
            [Content("/usr/bin/nvidia-smi", built / "nvidia-smi", 0o755)],
            Depends=f"libcuda1 =same, libnvidia-ml1 =same, nvidia-persistenced =same, {either}",
        ),
        package("nvidia-driver", "NVIDIA driver: graphics", Depends=f"libnvidia-cfg1 =same, {either}"),
        meta("nvidia-open", "nvidia-kernel-open-dkms", "NVIDIA Driver meta-package, Open GPU kernel modules"),
        meta(f"nvidia-open-{branch}", "nvidia-kernel-open-dkms", "NVIDIA Driver meta-package, branch, Open"),
        meta("cuda-drivers", "nvidia-kernel-dkms", "NVIDIA Driver meta-package, proprietary kernel modules"),
        meta(f"cuda-drivers-{branch}", "nvidia-kernel-dkms", "NVIDIA Driver meta-package, branch, proprietary"),
        package(
            "nvidia-fabricmanager",
            "Fabric Manager for NVSwitch based systems",
            [
                Content("/usr/bin/nv-fabricmanager", _fixture("nv-fabricmanager", version), 0o755),
                Content(
                    "/usr/lib/systemd/system/nvidia-fabricmanager.service", _fixture("nvidia-fabricmanager.service")
                ),
            ],
            scripts=_scripts("service", service="nvidia-fabricmanager"),
            Provides=f"nvidia-fabricmanager-{branch}",
        ),
    ]


def _pinning(name: str, version: str, pattern: str) -> Package:
    text = "\n".join(f"Package: {glob}\nPin: version {pattern}\nPin-Priority: 1000\n" for glob in PINNED)
    return Package(
        name=f"nvidia-driver-pinning-{name}",
        version=f"{version}-1",
        description=f"APT driver pinning file for driver {'version' if '.' in name else 'branch'} {name}",
        contents=[Content("/etc/apt/preferences.d/nvidia-driver-pinning", text.encode())],
        control={
            "Provides": "nvidia-driver-pinning",
            "Conflicts": "nvidia-driver-pinning",
            "Replaces": "nvidia-driver-pinning",
            "Section": "utils",
            "Priority": "optional",
        },
        conffiles=["/etc/apt/preferences.d/nvidia-driver-pinning"],
        maintainer=MAINTAINER,
    )


def keyring_package(release: str, key: bytes) -> Package:
    """Return cuda-keyring for a release such as debian12; ``key`` is the signing key in binary form."""
    keyring, sources = "/usr/share/keyrings/cuda-archive-keyring.gpg", f"cuda-{release}-x86_64.list"
    line = f"deb [signed-by={keyring}] {REPOSITORY}/{release}/x86_64/ /\n"
    return Package(
        name="cuda-keyring",
        version="1.1-1",
        architecture="all",
        description="GPG keyring for the CUDA repository",
        contents=[Content(keyring, key), Content(f"/etc/apt/sources.list.d/{sources}", line.encode())],
        conffiles=[f"/etc/apt/sources.list.d/{sources}"],
        control={"Section": "utils", "Priority": "optional"},
        maintainer=MAINTAINER,
    )


def toolkit_packages(toolkit: Path, version: str) -> list[Package]:
    """Return the four packages of the container toolkit. Of libnvidia-container there is the name only."""
    same = f"(= {version}-1)"

    def package(
        name: str,
        description: str,
        contents: t.Sequence[Content],
        depends: str,
        scripts: t.Mapping[str, str] | None = None,
    ) -> Package:
        return Package(
            name=name,
            version=f"{version}-1",
            description=description,
            contents=contents,
            control={
                **({"Depends": depends} if depends else {}),
                "Section": "utils",
                "Priority": "optional",
                "Homepage": "https://github.com/NVIDIA/nvidia-container-toolkit",
            },
            scripts=scripts or {},
            conffiles=[item.path for item in contents if item.path.startswith("/etc/")],
            maintainer=MAINTAINER,
        )

    units = "/lib/systemd/system"
    base = ["nvidia-cdi-hook", "nvidia-container-runtime", "nvidia-ctk"]
    return [
        package(
            "libnvidia-container1",
            "NVIDIA container runtime library\nStand-in of the lab: the library is not there.",
            [Content("/usr/share/doc/libnvidia-container1/README", b"Stand-in of the lab, without the library.\n")],
            "libc6 (>= 2.34)",
        ),
        package(
            "libnvidia-container-tools",
            "NVIDIA container runtime library (command-line tools)\nStand-in of the lab: the tool always fails.",
            [Content("/usr/bin/nvidia-container-cli", _fixture("nvidia-container-cli", version), 0o755)],
            f"libnvidia-container1 {same}",
        ),
        package(
            "nvidia-container-toolkit-base",
            "NVIDIA Container Toolkit Base\nProvides tools such as the NVIDIA Container Runtime and NVIDIA Container "
            "Toolkit CLI to enable GPU support in containers.",
            [
                *(Content(f"/usr/bin/{name}", toolkit / "bin" / name, 0o755) for name in base),
                Content(f"{units}/nvidia-cdi-refresh.service", toolkit / "nvidia-cdi-refresh.service"),
                Content(f"{units}/nvidia-cdi-refresh.path", toolkit / "nvidia-cdi-refresh.path"),
                Content(
                    f"{units}/nvidia-cdi-refresh.service.d/10-container-engines.conf",
                    toolkit / "10-container-engines.conf",
                ),
                Content("/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env", toolkit / "nvidia-cdi-refresh.env"),
            ],
            "libc6 (>= 2.34)",
            scripts=_scripts("toolkit-base"),
        ),
        package(
            "nvidia-container-toolkit",
            "NVIDIA Container toolkit\nProvides tools and utilities to enable GPU support in containers.",
            [Content("/usr/bin/nvidia-container-runtime-hook", toolkit / "bin/nvidia-container-runtime-hook", 0o755)],
            f"nvidia-container-toolkit-base {same}, libnvidia-container-tools {same}, "
            "libnvidia-container-tools (<< 2.0.0)",
            scripts=_scripts("toolkit"),
        ),
    ]


def _fixture(name: str, version: str = "") -> bytes:
    return (FIXTURES / name).read_text(encoding="utf-8").replace("@VERSION@", version).encode()


def _scripts(prefix: str, *, service: str = "") -> dict[str, str]:
    """Return the maintainer scripts that lie there as PREFIX.postinst and so on."""
    found = {path.suffix[1:]: path.read_text(encoding="utf-8") for path in FIXTURES.glob(f"{prefix}.p*")}
    return {name: text.replace("@SERVICE@", service) for name, text in found.items()}
