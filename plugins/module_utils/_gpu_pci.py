# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NVIDIA's cards on the PCI bus, and the kind of kernel module that they need.

Note that this module util is **PRIVATE** to the collection. Text in, plain data out: no I/O.
"""

from __future__ import annotations

import typing as t

NVIDIA = "10de"
OPEN, CLOSED, EITHER = "open", "closed", "either"
# Who may have a card that is not NVIDIA's own driver, and has to let it go.
RIVALS = {"nouveau": "nouveau", "nova_core": "NovaCore", "NovaCore": "NovaCore", "nova": "NovaCore"}
# First device id of Turing and of Blackwell; ids grow with the generations.
_TURING, _BLACKWELL = 0x1E00, 0x2900
# Hopper beside a Grace processor.
_GRACE = range(0x2340, 0x2360)


class Device(t.NamedTuple):
    """A function of /sys/bus/pci/devices; C(bound) is the name of its driver, empty if it has none."""

    address: str
    vendor: str
    device: str
    kind: str
    bound: str


def number(text: str) -> str:
    """0x10de as the kernel writes it, without what says that it is hexadecimal."""
    return text.removeprefix("0x")


def cards(devices: t.Iterable[Device]) -> list[dict[str, str]]:
    """Graphics and computing functions (class 03) of NVIDIA. The sound function of a card is none."""
    return [
        {
            "address": one.address,
            "device": number(one.device),
            "class": number(one.kind)[:4].rjust(4, "0"),
            "bound": one.bound,
        }
        for one in devices
        if number(one.vendor) == NVIDIA and number(one.kind).rjust(6, "0").startswith("03")
    ]


def switches(devices: t.Iterable[Device]) -> list[str]:
    """NVSwitches: bridges of NVIDIA (class 0680)."""
    return [
        one.address
        for one in devices
        if number(one.vendor) == NVIDIA and number(one.kind).rjust(6, "0").startswith("0680")
    ]


def needs(found: t.Iterable[t.Mapping[str, str]]) -> str:
    """Open or closed kernel modules: what all cards together leave as a choice; empty if no module suits them all."""
    allowed = {OPEN, CLOSED}
    for card in found:
        device = int(card["device"] or "0", 16)
        if device < _TURING:
            allowed -= {OPEN}
        elif device >= _BLACKWELL or device in _GRACE:
            allowed -= {CLOSED}
    return EITHER if len(allowed) == 2 else "".join(allowed)
