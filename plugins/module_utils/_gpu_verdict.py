# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wrong with the driver of a machine, and what would repair it. Facts in, verdict out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_driver as driver
from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_pci as pci
from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_smi as smi

NOTHING, INSTALL, REBOOT, LOAD, PERSON = "nothing", "install", "reboot", "load", "person"
_LOG = "`journalctl -k -b | grep -iE 'nvrm|xid|nvidia|nouveau'` there tells more"
_UPGRADE = "run the playbook upgrade_driver with the version that you want"


class Verdict(t.NamedTuple):
    repair: str
    problems: list[str]
    remedy: str


Facts = t.Mapping[str, t.Any]


def judge(facts: Facts) -> Verdict:
    """The first of the looks that finds something decides; a driver that works is left alone, whatever its version."""
    works = facts["smi"]["kind"] == smi.WORKS
    for look in (_no_card, _rival, _fabric) if works else (_no_card, _rival, _answers, _mismatch, _disk, _start):
        verdict = look(facts)
        if verdict:
            break
    else:
        verdict = Verdict(NOTHING, [], "")
    verdict = verdict._replace(problems=[text if text.endswith(".") else f"{text}." for text in verdict.problems])
    verdict = verdict._replace(problems=verdict.problems + _hints(facts))
    if verdict.repair == INSTALL and facts["driver"] == "skip":
        remedy = "NVIDIA_DRIVER is skip, so nothing is installed: install a driver yourself, or set it to auto."
        return verdict._replace(remedy=remedy)
    return verdict


def _no_card(facts: Facts) -> Verdict | None:
    if facts["cards"]:
        return None
    text = "There is no NVIDIA card on the PCI bus."
    return Verdict(PERSON, [text], "See that the card is seated and powered, or that the virtual machine was given it.")


def _rival(facts: Facts) -> Verdict | None:
    """A card that nouveau or NovaCore has is not NVIDIA's to drive, whatever is installed."""
    taken = [card for card in facts["cards"] if card["bound"] in pci.RIVALS]
    if not taken:
        return None
    problems = [f"The card {card['address']} is bound to {pci.RIVALS[card['bound']]}." for card in taken]
    state = facts["blacklist"]
    if not _running(facts):
        # The driver has to be installed anyway, and that comes with the blacklist.
        return Verdict(INSTALL, problems, "Install NVIDIA's driver, keep the other one from loading, and reboot.")
    if not state["complete"]:
        remedy = "Put nouveau and nova_core on the blacklist, rebuild the initramfs, and reboot."
        return Verdict(INSTALL, problems, remedy)
    if state["time"] > facts["booted"]:
        return Verdict(REBOOT, problems, "Reboot: it is on the blacklist now, but was loaded before.")
    remedy = (
        f"It is on the blacklist and was loaded all the same: look for what loads it (kernel command line); {_LOG}."
    )
    return Verdict(PERSON, problems, remedy)


def _answers(facts: Facts) -> Verdict | None:
    """Answers of nvidia-smi that no package and no reboot of ours mends."""
    answer = facts["smi"]
    if answer["kind"] == smi.HANGS:
        text = f"nvidia-smi did not end within {facts['smi_timeout']} s."
        remedy = f"A card or its driver hangs: {_LOG}; reboot the machine, and have the card tested if it comes again."
        return Verdict(PERSON, [text], remedy)
    if answer["kind"] == smi.OFF_BUS:
        text = f"nvidia-smi ends with {answer['status']}: a card has fallen off the bus. {answer['message']}".strip()
        remedy = f"Switch the machine off and on again; have card, power and riser tested if it comes again. {_LOG}."
        return Verdict(PERSON, [text], remedy)
    if answer["kind"] == smi.BROKEN:
        text = f"nvidia-smi ends with {answer['status']}: {answer['message'] or 'it says nothing'}"
        return Verdict(PERSON, [text], f"The driver is loaded and broken: {_LOG}; a reboot often helps.")
    return None


def _mismatch(facts: Facts) -> Verdict | None:
    loaded, library = facts["loaded"]["nvidia"], facts["library"]
    said = facts["smi"]["kind"] == smi.MISMATCH
    if not said and (not loaded or not library or loaded == library):
        return None
    if said and loaded == library:
        text = f"nvidia-smi ends with {facts['smi']['status']}: {facts['smi']['message']}"
        return Verdict(PERSON, [text], f"Module and library on disk are both {library or 'unknown'}: {_UPGRADE}.")
    text = f"The loaded module is {loaded}, the library is {library}: the driver was upgraded and is not in use yet."
    module = _module(facts, facts["kernel"]["newest"])
    if module and module["version"] and module["version"] != library:
        remedy = f"The module on disk is {module['version']}, so a reboot does not help: {_UPGRADE}."
        return Verdict(PERSON, [text], remedy)
    if not module:
        return Verdict(INSTALL, [text], f"Install the module for kernel {facts['kernel']['newest']}, and reboot.")
    return Verdict(REBOOT, [text], "Reboot.")


def _disk(facts: Facts) -> Verdict | None:
    """What is not installed, or not all of it."""
    kernel, module = facts["kernel"], _running(facts)
    tools = facts["smi"]["kind"]
    if not module:
        if not facts["packages"] and not facts["modules"]:
            return Verdict(INSTALL, ["No NVIDIA driver is installed."], "Install one, and reboot.")
        if kernel["newest"] != kernel["running"] and _module(facts, kernel["newest"]):
            text = f"The driver is installed for kernel {kernel['newest']}, and {kernel['running']} is running."
            return Verdict(REBOOT, [text], "Reboot.")
        text = f"Driver packages are installed, but there is no module for the running kernel {kernel['running']}"
        headers = "" if kernel["running"] in facts["headers"] else "; its headers are not installed either"
        return Verdict(INSTALL, [f"{text}{headers}."], "Install headers or the prebuilt module for it, and reboot.")
    wrong = _wrong_kind(facts, module)
    if wrong:
        return wrong
    if tools == smi.ABSENT:
        return Verdict(INSTALL, ["The driver is installed without nvidia-smi."], "Install the package that has it.")
    if tools == smi.NO_LIBRARY or not facts["library"]:
        text = "nvidia-smi does not find libnvidia-ml.so.1: the user-space part of the driver is missing."
        return Verdict(INSTALL, [text], "Install it in the module's version.")
    return None


def _wrong_kind(facts: Facts, module: t.Mapping[str, t.Any]) -> Verdict | None:
    needed = pci.needs(facts["cards"])
    is_open = pci.OPEN if module["open"] else pci.CLOSED
    if needed in (pci.EITHER, is_open):
        return None
    if not needed:
        text = "The cards are of generations that no driver serves together."
        return Verdict(PERSON, [text], "Take out those before Turing, or the Blackwell ones.")
    return Verdict(
        INSTALL,
        [f"The {is_open} kernel modules are installed, and the card needs the {needed} ones."],
        f"Install the {needed} modules, and reboot.",
    )


def _start(facts: Facts) -> Verdict:
    """All is installed: why does it not run?"""
    module = t.cast("dict[str, t.Any]", _running(facts))
    loaded, answer = facts["loaded"]["nvidia"], facts["smi"]
    said = f"nvidia-smi ends with {answer['status']}"
    if loaded:
        if answer["kind"] == smi.NO_DEVICES:
            text = f"The module {loaded} is loaded, but it serves no card ({said}: {answer['message']})."
            return Verdict(
                PERSON, [text], f"The card may be too old or too new for this driver: {_LOG}; or {_UPGRADE}."
            )
        text = f"The module {loaded} is loaded, but {said}: {answer['message']}"
        return Verdict(LOAD, [text], "Make the device nodes and start the driver's services.")
    if facts["secure_boot"] == "enabled" and not module["signer"]:
        text = f"Secure Boot is on, and the module {module['version']} is not signed, so the kernel refuses it."
        return Verdict(PERSON, [text], SECURE_BOOT)
    if facts["module_time"] > facts["booted"]:
        text = f"The driver {module['version']} is installed, and the machine was not rebooted since."
        return Verdict(REBOOT, [text], "Reboot.")
    text = f"The module {module['version']} is installed, but not loaded ({said})."
    return Verdict(LOAD, [text], f"Load it (modprobe nvidia); if that fails: {_LOG}.")


SECURE_BOOT = (
    "Install the distribution's signed modules where it has some; or enrol a key for DKMS at the machine's console "
    "(`mokutil --import /var/lib/dkms/mok.pub`, reboot, and confirm with the password); or switch Secure Boot off."
)


def _fabric(facts: Facts) -> Verdict | None:
    """With NVSwitches a driver works for programs only with its fabric manager, of exactly its version."""
    fabric, loaded = facts["fabric_manager"], facts["loaded"]["nvidia"]
    if not fabric["needed"]:
        return None
    if driver.numbers(fabric["version"])[:3] != driver.numbers(loaded)[:3]:
        found = f"is {fabric['version']}" if fabric["version"] else "is not installed"
        text = f"The machine has NVSwitches, the driver is {loaded}, and its fabric manager {found}."
        return Verdict(INSTALL, [text], f"Install nvidia-fabricmanager {loaded}.")
    if not fabric["active"]:
        text = "The machine has NVSwitches, and nvidia-fabricmanager does not run."
        return Verdict(LOAD, [text], "Start nvidia-fabricmanager; `systemctl status nvidia-fabricmanager` says more.")
    return None


def _hints(facts: Facts) -> list[str]:
    """What is no failure yet."""
    found, kernel = [], facts["kernel"]
    shown, there = len(facts["smi"]["gpus"]), len(facts["cards"])
    if shown and shown < there and not any(card["bound"] in pci.RIVALS for card in facts["cards"]):
        away = [card["address"] for card in facts["cards"] if card["bound"] != "nvidia"]
        found.append(f"nvidia-smi shows {shown} of {there} cards" + (f" (not {', '.join(away)})." if away else "."))
    if shown and kernel["newest"] != kernel["running"] and not _module(facts, kernel["newest"]):
        found.append(
            f"There is no NVIDIA module for kernel {kernel['newest']}, which the next reboot starts: install it before."
        )
    return found


def _module(facts: Facts, kernel: str) -> dict[str, t.Any] | None:
    return next((module for module in facts["modules"] if module["kernel"] == kernel), None)


def _running(facts: Facts) -> dict[str, t.Any] | None:
    return _module(facts, facts["kernel"]["running"])
