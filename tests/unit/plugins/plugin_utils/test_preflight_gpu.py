# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_gpu as checks

GPU: dict[str, t.Any] = {
    "cards": [{"address": "0000:07:00.0", "device": "20b0", "class": "0302", "bound": ""}],
    "needs": "either",
    "module": False,
    "loaded": "",
    "smi": False,
    "secure_boot": "disabled",
}


def names(make: t.Any, settings: t.Any, role: str = "gpu_node", system: str = "debian", **gpu: t.Any) -> list[str]:
    facts = {"gpu": {**GPU, **gpu}, "os": {"id": system, "version": "12", "codename": "", "name": ""}}
    return [found.name for found in checks.check(make(21, role, **facts), settings)]


def test_a_bare_card_is_no_finding(make: t.Any, settings: t.Any) -> None:
    assert names(make, settings) == []


@pytest.mark.parametrize(
    ("gpu", "wanted"),
    [
        ({"cards": []}, ["gpu_card_missing"]),
        ({"needs": ""}, ["gpu_cards_mixed"]),
        ({"secure_boot": "enabled"}, ["gpu_secure_boot"]),
        ({"secure_boot": "enabled", "loaded": "580.95.05"}, []),
    ],
)
def test_findings(make: t.Any, settings: t.Any, gpu: dict[str, t.Any], wanted: list[str]) -> None:
    assert names(make, settings, **gpu) == wanted


def test_a_machine_without_its_card_is_told_that_alone(make: t.Any, settings: t.Any) -> None:
    settings.nvidia_driver = "skip"
    assert names(make, settings, cards=[]) == ["gpu_card_missing"]


def test_a_machine_that_could_not_be_looked_at(make: t.Any, settings: t.Any) -> None:
    settings.nvidia_sources = SOURCES
    machine = make(21, "gpu_node", gpu=None)
    assert [*checks.check(machine, settings), *checks.sources(machine, settings)] == []


def test_ubuntu_has_signed_modules(make: t.Any, settings: t.Any) -> None:
    assert names(make, settings, system="ubuntu", secure_boot="enabled") == []


def test_case_61_a_cpu_worker_is_not_asked(make: t.Any, settings: t.Any) -> None:
    assert names(make, settings, role="cpu_node", cards=[], smi=True) == []


def test_skip_makes_a_missing_driver_an_error(make: t.Any, settings: t.Any) -> None:
    settings.nvidia_driver = "skip"
    assert names(make, settings) == ["gpu_driver_missing"]
    assert names(make, settings, module=True) == ["gpu_driver_missing"]
    assert names(make, settings, module=True, smi=True) == []
    assert names(make, settings, loaded="580.95.05") == []


SOURCES = {
    "toolkit": {"uri": "https://t.example.net/deb/$(ARCH)", "file": "/own.sources", "signed_by": "/own.asc"},
    "driver": {"uri": "https://d.example.net/repos", "file": "/own2.sources", "signed_by": "/own2.asc"},
}


@pytest.mark.parametrize(
    ("role", "loaded", "wanted"),
    [
        ("gpu_node", "", ["https://t.example.net/deb/$(ARCH)", "https://d.example.net/repos/debian12/x86_64"]),
        ("gpu_node", "580.95.05", ["https://t.example.net/deb/$(ARCH)"]),
        ("cpu_node", "", []),
    ],
)
def test_case_81_entries_of_nvidia_that_will_be_written(
    make: t.Any, settings: t.Any, role: str, loaded: str, wanted: list[str]
) -> None:
    settings.nvidia_sources = SOURCES
    machine = make(21, role, gpu={**GPU, "loaded": loaded}, os={"id": "debian", "version": "12"}, architecture="x86_64")
    found = list(checks.sources(machine, settings))
    assert [entry["uri"] for entry in found] == wanted
    assert {entry["remedy"] for entry in found} <= {"Remove the file that is not of `up`."}


def test_who_installs_no_driver_gets_no_unsigned_one(make: t.Any, settings: t.Any) -> None:
    settings.nvidia_driver = "skip"
    assert names(make, settings, module=True, smi=True, secure_boot="enabled") == []


def test_skip_says_what_is_missing(make: t.Any, settings: t.Any) -> None:
    settings.nvidia_driver = "skip"
    told = {}
    for module in (False, True):
        facts = {"gpu": {**GPU, "module": module}, "os": {"id": "debian", "version": "12", "codename": "", "name": ""}}
        (found,) = checks.check(make(21, "gpu_node", **facts), settings)
        told[module] = found.text
    assert "no kernel module for the running kernel" in told[False]
    assert "no nvidia-smi" in told[True]


@pytest.mark.parametrize(("system", "wish"), [("ubuntu", "auto"), ("debian", "skip")])
def test_nvidias_repository_of_drivers_is_only_for_debian(make: t.Any, settings: t.Any, system: str, wish: str) -> None:
    settings.nvidia_sources, settings.nvidia_driver = SOURCES, wish
    machine = make(21, "gpu_node", gpu=GPU, os={"id": system, "version": "12"}, architecture="x86_64")
    (entry,) = checks.sources(machine, settings)
    assert (entry["file"], entry["suite"]) == ("/own.sources", "/")
    settings.nvidia_sources = {}
    assert list(checks.sources(machine, settings)) == []
