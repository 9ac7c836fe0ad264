# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_choice as choice
from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_pci as pci

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "gpu"
NOBLE = (FIXTURES / "ubuntu-drivers-noble.txt").read_text()
PLAIN = (FIXTURES / "ubuntu-drivers-plain.txt").read_text()
KERNEL = "6.8.0-88-generic"
DEBIAN = choice.Machine("debian", "6.12.48+deb13-amd64")
UBUNTU = choice.Machine("ubuntu", KERNEL)


class All:
    """apt offers everything, but for what is named."""

    def __init__(self, *but: str) -> None:
        self.but = but

    def __contains__(self, name: object) -> bool:
        return name not in self.but


def chosen(
    machine: choice.Machine, *, wish: str = "auto", version: str = "", listing: str = "", but: t.Any = ()
) -> t.Any:
    return choice.choose(machine, wish, version, listing, All(*but))


def test_lines_of_ubuntu_drivers() -> None:
    assert choice.offers(NOBLE)[-1] == choice.Offer(
        "nvidia-driver-595-server-open", 595, True, True, "nvidia-dkms-595-server-open"
    )
    assert [one.name for one in choice.offers(PLAIN)] == PLAIN.split()
    assert choice.offers("") == []


@pytest.mark.parametrize(
    ("listing", "needs", "wanted"),
    [
        (NOBLE, pci.EITHER, "nvidia-driver-580-server-open"),
        (NOBLE, pci.CLOSED, "nvidia-driver-580-server"),
        (PLAIN, pci.EITHER, "nvidia-driver-550-server-open"),
        (PLAIN, pci.CLOSED, "nvidia-driver-550-server"),
    ],
)
def test_the_best_of_the_server_branch(listing: str, needs: str, wanted: str) -> None:
    found = choice.best(choice.offers(listing), needs)
    assert found
    assert found.name == wanted


def test_case_50_ubuntu_takes_signed_modules_and_nvidia_smi() -> None:
    found = chosen(UBUNTU, listing=NOBLE)
    assert found == choice.Choice(
        "nvidia-driver-580-server-open (signed modules)",
        [
            "nvidia-headless-no-dkms-580-server-open",
            "nvidia-utils-580-server",
            f"linux-modules-nvidia-580-server-open-{KERNEL}",
            "linux-modules-nvidia-580-server-open-generic",
        ],
        "",
        signed=True,
    )


def test_ubuntu_without_prebuilt_modules_for_this_kernel() -> None:
    found = chosen(UBUNTU, listing=NOBLE, but=[f"linux-modules-nvidia-580-server-open-{KERNEL}"])
    assert found.packages[2:] == [
        "nvidia-dkms-580-server-open",
        f"linux-headers-{KERNEL}",
        "linux-headers-generic",
    ]
    assert not found.signed


def test_ubuntu_with_a_package_of_ones_own() -> None:
    found = chosen(UBUNTU, wish="nvidia-driver-550-server", listing=NOBLE)
    assert found.packages == [
        "nvidia-driver-550-server",
        "nvidia-utils-550-server",
        f"linux-modules-nvidia-550-server-{KERNEL}",
        "linux-modules-nvidia-550-server-generic",
    ]
    assert chosen(UBUNTU, wish="my-driver").packages == [
        "my-driver",
        f"linux-headers-{KERNEL}",
        "linux-headers-generic",
    ]


@pytest.mark.parametrize(("listing", "words"), [("", "it lists nothing"), ("nvidia-driver-580\n", "nvidia-driver-580")])
def test_case_51_ubuntu_finds_nothing(listing: str, words: str) -> None:
    problem = chosen(UBUNTU, listing=listing).problem
    assert words in problem
    assert "NVIDIA_DRIVER=nvidia-driver-580-server" in problem


def test_ubuntu_completes_the_branch_that_is_there() -> None:
    machine = UBUNTU._replace(installed=["nvidia-headless-no-dkms-570-server"], version="570.1.1")
    found = chosen(machine, listing=NOBLE)
    assert found.packages[:2] == ["nvidia-headless-no-dkms-570-server", "nvidia-utils-570-server"]
    modules = machine._replace(installed=[f"linux-modules-nvidia-570-server-{KERNEL}"])
    assert chosen(modules, listing=NOBLE).packages[:2] == found.packages[:2]
    # Modules of the wrong kind are no reason to stay.
    assert "580" in chosen(machine._replace(needs=pci.OPEN), listing=NOBLE).name


def test_ubuntu_with_a_version() -> None:
    found = chosen(UBUNTU, listing=NOBLE, version="570.86")
    assert found.packages[:3] == [
        "nvidia-headless-no-dkms-570-server-open=570.86*",
        "nvidia-utils-570-server=570.86*",
        f"linux-modules-nvidia-570-server-open-{KERNEL}",
    ]


def test_switches_bring_the_fabric_manager() -> None:
    assert chosen(UBUNTU._replace(switches=True), listing=NOBLE).packages[-2:] == [
        "nvidia-fabricmanager-580",
        "libnvidia-nscq-580",
    ]
    assert "nvidia-fabricmanager" in chosen(DEBIAN._replace(switches=True)).packages
    assert "nvidia-fabricmanager" not in chosen(DEBIAN).packages


def test_debian() -> None:
    assert chosen(DEBIAN) == choice.Choice(
        "nvidia-driver-cuda with nvidia-kernel-open-dkms",
        [
            "nvidia-driver-cuda",
            "nvidia-kernel-open-dkms",
            "nvidia-persistenced",
            "linux-headers-6.12.48+deb13-amd64",
            "linux-headers-amd64",
        ],
        "",
        signed=False,
    )


def test_debian_before_turing_stays_on_the_last_branch_that_serves_it() -> None:
    found = chosen(DEBIAN._replace(needs=pci.CLOSED))
    assert "nvidia-kernel-dkms" in found.packages
    assert found.pin == "580."


def test_debian_with_a_version_or_a_package() -> None:
    found = chosen(DEBIAN, version="580.95.05")
    assert found.pin == "580.95.05"
    assert found.packages[:2] == ["nvidia-driver-cuda=580.95.05*", "nvidia-kernel-open-dkms=580.95.05*"]
    assert "linux-headers-amd64" in found.packages
    assert chosen(DEBIAN._replace(version="580.95.05")).pin == "580.95.05"
    assert chosen(DEBIAN, wish="nvidia-open-580").packages[0] == "nvidia-open-580"
    assert chosen(DEBIAN, wish="nvidia-driver-cuda").packages[:2] == ["nvidia-driver-cuda", "nvidia-kernel-open-dkms"]


def test_headers_that_are_there_are_not_asked_for() -> None:
    found = chosen(DEBIAN._replace(headers=True), but=["linux-headers-amd64"])
    assert [name for name in found.packages if "headers" in name] == []


def test_headers_that_apt_has_no_more() -> None:
    name = "linux-headers-6.12.48+deb13-amd64"
    assert name in chosen(DEBIAN, but=[name]).problem
    assert chosen(DEBIAN._replace(lists=False), but=[name]).problem == ""
    assert chosen(DEBIAN._replace(headers=True), but=[name]).problem == ""


def test_cards_that_nothing_serves_together() -> None:
    assert "no driver serves together" in chosen(DEBIAN._replace(needs="")).problem
