# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NVIDIA's packages in the lab: every relation can be met, versions hang together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nodelab import gpu, nodekernel, nvidia, versions
from nodelab.deb import Package

DEBIAN = {"kmod", "perl-base", "libc6"}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Return a folder with empty files where the programs would be."""
    for version in versions.NVIDIA_DRIVERS:
        names = ["nvidia-smi", *(f"{stem}.so.{version}" for stem in (gpu.NVML, *gpu.STUBS))]
        names += [f"{kind}/{module}.ko" for kind in gpu.LICENCES for module in gpu.MODULES]
        for name in names:
            (tmp_path / version / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / version / name).touch()
    for name in (*(f"bin/{program}" for program in gpu.TOOLKIT_PROGRAMS), *(Path(n).name for n in gpu.TOOLKIT_FILES)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def check_relations(offered: list[Package]) -> None:
    """Check that each alternative of each dependency is a package that is there, in the version asked for."""
    there = {(package.name, package.version) for package in offered}
    names = {name for name, _version in there} | DEBIAN
    for package in offered:
        for part in re.split(r"[,|]", package.control.get("Depends", "")):
            found = re.fullmatch(r"\s*([a-z0-9.+-]+)(?: \((=|<<|>=) ([^)]+)\))?\s*", part)
            if not part.strip():
                continue
            assert found, part
            assert found[1] in names, f"{package.name}: {part}"
            if found[2] == "=":
                assert (found[1], found[3]) in there, f"{package.name}: {part}"


def test_the_driver_can_be_installed(built: Path) -> None:
    offered = nvidia.driver_packages(built)
    check_relations(offered)
    assert len({(package.name, package.version) for package in offered}) == len(offered)
    names = {package.name for package in offered}
    assert {"nvidia-open", "cuda-drivers", "nvidia-driver-cuda", "nvidia-kernel-open-dkms", "libnvidia-ml1"} <= names
    assert {"nvidia-driver-pinning-580", "nvidia-driver-pinning-580.95.05", "nvidia-fabricmanager"} <= names


def test_a_branch_is_pinned_to_its_newest_version(built: Path) -> None:
    pins = {package.name: package for package in nvidia.driver_packages(built) if "pinning" in package.name}
    assert pins["nvidia-driver-pinning-580"].version == "580.126.20-1"
    text = pins["nvidia-driver-pinning-580.95.05"].contents[0].source
    assert isinstance(text, bytes)
    assert b"Package: nvidia-*\nPin: version 580.95.05-*\nPin-Priority: 1000\n" in text


def test_libraries_have_the_driver_s_version_in_their_name(built: Path) -> None:
    package = next(item for item in nvidia.driver_packages(built) if item.name == "libnvidia-ml1")
    found = {item.path.rpartition("/")[2]: item.link for item in package.contents}
    version = package.version.removesuffix("-1")
    assert found == {f"libnvidia-ml.so.{version}": "", "libnvidia-ml.so.1": f"libnvidia-ml.so.{version}"}


def test_the_toolkit_s_four_packages_are_of_one_version(built: Path) -> None:
    offered = nvidia.toolkit_packages(built, "1.20.1")
    check_relations(offered)
    assert {package.version for package in offered} == {"1.20.1-1"}
    assert len(offered) == 4


def test_the_kernel_s_packages_are_named_after_it() -> None:
    image, headers = nodekernel.image_package("6.1.0-Lab"), nodekernel.headers_package("6.1.0-Lab")
    assert (image.name, headers.name) == ("linux-image-6.1.0-lab", "linux-headers-6.1.0-lab")
    assert "/lib/modules/6.1.0-Lab/modules.builtin" in {item.path for item in image.contents}
    assert {item.path: item.link for item in headers.contents if item.link} == {
        "/lib/modules/6.1.0-Lab/build": "/usr/src/linux-headers-6.1.0-Lab"
    }
