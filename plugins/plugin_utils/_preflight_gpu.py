# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's checks of a GPU worker's cards and driver.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    Finding,
    Machine,
    Settings,
    finding,
)


def check(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    """Only machines that the inventory names as GPU workers: what else has a card or nvidia-smi is not asked."""
    gpu = machine.facts.get("gpu")
    if not gpu or "gpu_node" not in machine.roles:
        return
    if not gpu["cards"]:
        yield finding(
            "gpu_card_missing", machine.name, "It is a GPU worker, and there is no NVIDIA card on its PCI bus."
        )
        return
    if not gpu["needs"]:
        devices = ", ".join(f"{card['address']} ({card['device']})" for card in gpu["cards"])
        yield finding("gpu_cards_mixed", machine.name, f"No driver serves its cards together: {devices}.")
    if gpu["loaded"]:
        return
    if settings.nvidia_driver == "skip" and not (gpu["module"] and gpu["smi"]):
        missing = "no nvidia-smi" if gpu["module"] else "no kernel module for the running kernel"
        yield finding("gpu_driver_missing", machine.name, f"NVIDIA_DRIVER is skip, and there is {missing}.")
    elif gpu["secure_boot"] == "enabled" and machine.facts["os"]["id"] == "debian" and settings.nvidia_driver != "skip":
        yield finding(
            "gpu_secure_boot",
            machine.name,
            "Secure Boot is on, and the driver's modules would be built on the machine, without a signature it knows.",
        )


def sources(machine: Machine, settings: Settings) -> t.Iterator[dict[str, str]]:
    """The entries for NVIDIA's packages that `up` writes: the toolkit's, and the driver's where Debian lacks one."""
    gpu = machine.facts.get("gpu")
    if not gpu or "gpu_node" not in machine.roles:
        return
    remedy = "Remove the file that is not of `up`."
    toolkit, driver = settings.nvidia_sources.get("toolkit"), settings.nvidia_sources.get("driver")
    if toolkit:
        yield {**toolkit, "suite": "/", "remedy": remedy}
    system = machine.facts["os"]
    if driver and system["id"] == "debian" and not gpu["loaded"] and settings.nvidia_driver != "skip":
        uri = f"{driver['uri']}/debian{system['version']}/{machine.facts['architecture']}"
        yield {**driver, "uri": uri, "suite": "/", "remedy": remedy}
