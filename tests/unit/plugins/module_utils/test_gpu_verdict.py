# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_smi as smi
from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_verdict as verdict
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer

K1, K2 = "6.8.0-88-generic", "6.8.0-90-generic"
V1, V2 = "580.173.02", "580.178.04"
LINE = f"0, GPU-6f3b1a52-0c8e-4d7f-9a44-8f1e3b2c5d60, NVIDIA A100-SXM4-40GB, 40960, {V1}, Disabled\n"
GONE = Answer(None, "", present=False)
MISMATCH = Answer(18, "Failed to initialize NVML: Driver/library version mismatch")
NOT_LOADED = Answer(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")


def card(device: str = "20b0", bound: str = "", address: str = "0000:07:00.0") -> dict[str, str]:
    return {"address": address, "device": device, "class": "0302", "bound": bound}


def module(kernel: str = K1, version: str = V1, is_open: bool = True, signer: str = "") -> dict[str, t.Any]:
    return {"kernel": kernel, "version": version, "open": is_open, "signer": signer}


def loaded(version: str = V1) -> dict[str, t.Any]:
    return {"nvidia": version, "nouveau": False, "nova_core": False}


BARE: dict[str, t.Any] = {
    "cards": [card()],
    "kernel": {"running": K1, "newest": K1},
    "modules": [],
    "module_time": 0.0,
    "headers": [],
    "loaded": loaded(""),
    "library": "",
    "packages": [],
    "smi": smi.data(GONE),
    "smi_timeout": 120,
    "secure_boot": "disabled",
    "fabric_manager": {"needed": False, "version": "", "active": False},
    "blacklist": {"complete": False, "file": False, "time": 0.0},
    "booted": 1000.0,
    "driver": "auto",
}
INSTALLED: dict[str, t.Any] = {
    **BARE,
    "modules": [module()],
    "module_time": 500.0,
    "packages": [{"name": "nvidia-driver-cuda", "version": f"{V1}-1", "held": True}],
    "library": V1,
    "smi": smi.data(NOT_LOADED),
    "blacklist": {"complete": True, "file": True, "time": 500.0},
}
RUNNING: dict[str, t.Any] = {
    **INSTALLED,
    "cards": [card(bound="nvidia")],
    "loaded": loaded(),
    "smi": smi.data(Answer(0, LINE)),
}


def judged(base: dict[str, t.Any], **changes: t.Any) -> verdict.Verdict:
    return verdict.judge({**copy.deepcopy(base), **changes})


def one(base: dict[str, t.Any], **changes: t.Any) -> tuple[str, str, str]:
    found = judged(base, **changes)
    assert len(found.problems) == 1, found.problems
    return found.repair, found.problems[0], found.remedy


def test_a_driver_that_works_is_left_alone_whatever_its_version() -> None:
    assert judged(RUNNING) == (verdict.NOTHING, [], "")
    old = {**RUNNING, "loaded": loaded("470.1.1"), "library": "470.1.1", "modules": [module(version="470.1.1")]}
    assert judged(old).repair == verdict.NOTHING


def test_bare_machine() -> None:
    assert one(BARE) == (verdict.INSTALL, "No NVIDIA driver is installed.", "Install one, and reboot.")


def test_skip_changes_only_the_remedy() -> None:
    repair, _problem, remedy = one(BARE, driver="skip")
    assert repair == verdict.INSTALL
    assert "NVIDIA_DRIVER is skip" in remedy


def test_no_card() -> None:
    repair, problem, _remedy = one(BARE, cards=[])
    assert (repair, problem) == (verdict.PERSON, "There is no NVIDIA card on the PCI bus.")


# Case 49


def test_case_49_module_and_library_differ() -> None:
    repair, problem, remedy = one(
        RUNNING, library=V2, modules=[module(version=V2)], smi=smi.data(MISMATCH), module_time=2000.0
    )
    assert repair == verdict.REBOOT
    assert f"loaded module is {V1}, the library is {V2}" in problem
    assert remedy == "Reboot."


def test_module_and_library_differ_on_disk_too() -> None:
    repair, _problem, remedy = one(RUNNING, library=V2, smi=smi.data(MISMATCH))
    assert repair == verdict.PERSON
    assert "upgrade_driver" in remedy


def test_same_versions_and_nvidia_smi_says_they_differ() -> None:
    repair, problem, remedy = one(RUNNING, smi=smi.data(MISMATCH))
    assert (repair, problem) == (verdict.PERSON, f"nvidia-smi ends with 18: {MISMATCH.text}.")
    assert remedy.startswith(f"Module and library on disk are both {V1}: ")
    assert "both unknown" in one(RUNNING, smi=smi.data(MISMATCH), library="", loaded=loaded(""))[2]


def test_module_and_library_differ_and_the_next_kernel_has_no_module() -> None:
    found = judged(RUNNING, library=V2, smi=smi.data(MISMATCH), kernel={"running": K1, "newest": K2})
    assert found.repair == verdict.INSTALL


# Case 50


def test_case_50_driver_without_nvidia_smi_is_not_no_driver() -> None:
    repair, problem, _remedy = one(INSTALLED, smi=smi.data(GONE))
    assert (repair, problem) == (verdict.INSTALL, "The driver is installed without nvidia-smi.")


def test_driver_without_its_library() -> None:
    repair, problem, _remedy = one(INSTALLED, library="", smi=smi.data(Answer(12, "")))
    assert repair == verdict.INSTALL
    assert "libnvidia-ml.so.1" in problem
    # A library that is not there is no library of another version.
    repair, problem, _remedy = one(RUNNING, library="", smi=smi.data(Answer(12, "")))
    assert (repair, "libnvidia-ml.so.1" in problem) == (verdict.INSTALL, True)


# Cases 53 and 54


def test_a_bare_card_of_nouveau() -> None:
    repair, problem, remedy = one(BARE, cards=[card(bound="nouveau")])
    assert (repair, problem) == (verdict.INSTALL, "The card 0000:07:00.0 is bound to nouveau.")
    assert "keep the other one from loading" in remedy


def test_case_54_nova_core_holds_the_card_of_an_installed_driver() -> None:
    changes = {"cards": [card(bound="NovaCore")], "loaded": loaded(), "smi": smi.data(Answer(6, "No devices"))}
    none = {"complete": False, "file": False, "time": 0.0}
    assert one(INSTALLED, **changes, blacklist=none)[0] == verdict.INSTALL
    assert one(INSTALLED, **changes, blacklist={"complete": True, "file": True, "time": 2000.0})[0] == verdict.REBOOT
    assert one(INSTALLED, **changes)[0] == verdict.PERSON


def test_one_of_two_cards_is_bound_elsewhere() -> None:
    cards = [card("2786", "NovaCore", "0000:01:00.0"), card("2330", "nvidia", "0000:3b:00.0")]
    repair, problem, _remedy = one(RUNNING, cards=cards, blacklist={"complete": False, "file": False, "time": 0.0})
    assert (repair, problem) == (verdict.INSTALL, "The card 0000:01:00.0 is bound to NovaCore.")


# Case 55


def test_case_55_secure_boot_refuses_a_module_that_is_not_signed() -> None:
    repair, problem, remedy = one(INSTALLED, secure_boot="enabled")
    assert repair == verdict.PERSON
    assert "Secure Boot is on" in problem
    assert "mokutil --import" in remedy


def test_secure_boot_with_a_signed_module() -> None:
    assert one(INSTALLED, secure_boot="enabled", modules=[module(signer="Canonical")], module_time=2000.0)[0] == (
        verdict.REBOOT
    )


# Case 56


def test_case_56_module_for_another_kernel_only() -> None:
    repair, problem, _remedy = one(INSTALLED, modules=[])
    assert repair == verdict.INSTALL
    assert problem == (
        f"Driver packages are installed, but there is no module for the running kernel {K1}; "
        "its headers are not installed either."
    )
    assert "either" not in one(INSTALLED, modules=[], headers=[K1])[1]


def test_module_for_the_kernel_that_will_boot() -> None:
    changes = {"kernel": {"running": K1, "newest": K2}, "modules": [module(K2)]}
    assert one(INSTALLED, **changes)[0] == verdict.REBOOT


def test_a_working_driver_without_a_module_for_the_next_kernel_is_a_hint() -> None:
    repair, problem, remedy = one(RUNNING, kernel={"running": K1, "newest": K2})
    assert (repair, remedy) == (verdict.NOTHING, "")
    assert K2 in problem


# Case 58


@pytest.mark.parametrize(
    ("fabric", "repair"),
    [
        ({"needed": False, "version": "", "active": False}, verdict.NOTHING),
        ({"needed": True, "version": V1, "active": True}, verdict.NOTHING),
        ({"needed": True, "version": V1, "active": False}, verdict.LOAD),
        ({"needed": True, "version": V2, "active": True}, verdict.INSTALL),
        ({"needed": True, "version": "", "active": False}, verdict.INSTALL),
    ],
)
def test_case_58_fabric_manager_only_with_switches(fabric: dict[str, t.Any], repair: str) -> None:
    assert judged(RUNNING, fabric_manager=fabric).repair == repair


# nvidia-smi's answers


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(None, "", 120.0, timed_out=True), "did not end within 120 s"),
        (Answer(15, "GPU is lost"), "fallen off the bus"),
        (Answer(255, "Failed to initialize NVML: Unknown Error"), "ends with 255"),
    ],
)
def test_answers_for_a_person(answer: Answer, words: str) -> None:
    repair, problem, remedy = one(RUNNING, smi=smi.data(answer))
    assert repair == verdict.PERSON
    assert words in problem
    assert "journalctl" in remedy


def test_installed_and_not_rebooted_since() -> None:
    repair, problem, remedy = one(INSTALLED, module_time=2000.0)
    assert (repair, remedy) == (verdict.REBOOT, "Reboot.")
    assert "not rebooted since" in problem


def test_installed_rebooted_and_not_loaded() -> None:
    repair, problem, remedy = one(INSTALLED)
    assert repair == verdict.LOAD
    assert "not loaded (nvidia-smi ends with 9)" in problem
    assert "modprobe nvidia" in remedy


def test_loaded_without_device_nodes() -> None:
    assert one(INSTALLED, loaded=loaded())[0] == verdict.LOAD


def test_loaded_and_serving_no_card() -> None:
    repair, problem, _remedy = one(INSTALLED, loaded=loaded(), smi=smi.data(Answer(6, "No devices were found")))
    assert repair == verdict.PERSON
    assert "serves no card" in problem


@pytest.mark.parametrize(
    ("device", "is_open", "repair"),
    [("1db6", True, verdict.INSTALL), ("2901", False, verdict.INSTALL), ("20b0", False, verdict.LOAD)],
)
def test_modules_of_the_wrong_kind(device: str, is_open: bool, repair: str) -> None:
    assert one(INSTALLED, cards=[card(device)], modules=[module(is_open=is_open)])[0] == repair


def test_cards_that_nothing_serves_together() -> None:
    cards = [card("1db6"), card("2901", address="0000:08:00.0")]
    assert one(INSTALLED, cards=cards)[0] == verdict.PERSON


def test_fewer_cards_than_on_the_bus_is_a_hint() -> None:
    cards = [card(bound="nvidia"), card(address="0000:08:00.0")]
    assert one(RUNNING, cards=cards) == (verdict.NOTHING, "nvidia-smi shows 1 of 2 cards (not 0000:08:00.0).", "")
