# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_pci as pci

AD104 = pci.Device("0000:01:00.0", "0x10de", "0x2786", "0x030000", "NovaCore")
GH100 = pci.Device("0000:3b:00.0", "0x10de", "0x2330", "0x030200", "nvidia")
MATROX = pci.Device("0000:00:02.0", "0x102b", "0x0538", "0x030000", "mgag200")
SOUND = pci.Device("0000:01:00.1", "0x10de", "0x22bc", "0x040300", "snd_hda_intel")
SWITCH = pci.Device("0000:87:00.0", "0x10de", "0x22a3", "0x068000", "nvidia-nvswitch")


def test_cards_are_nvidias_display_and_computing_functions() -> None:
    found = pci.cards([AD104, GH100, MATROX, SOUND, SWITCH])
    assert found == [
        {"address": "0000:01:00.0", "device": "2786", "class": "0300", "bound": "NovaCore"},
        {"address": "0000:3b:00.0", "device": "2330", "class": "0302", "bound": "nvidia"},
    ]
    assert pci.switches([AD104, GH100, MATROX, SOUND, SWITCH]) == ["0000:87:00.0"]


@pytest.mark.parametrize(
    ("devices", "wanted"),
    [
        (["20b0"], pci.EITHER),  # A100
        (["1eb8"], pci.EITHER),  # T4
        (["1db6"], pci.CLOSED),  # V100
        (["1dff", "1e00"], pci.CLOSED),  # the last id before Turing, and the first of it
        (["1e00"], pci.EITHER),
        (["1b38"], pci.CLOSED),  # P40
        (["2330"], pci.EITHER),  # H100
        (["233f"], pci.EITHER),
        (["2340"], pci.OPEN),
        (["2342"], pci.OPEN),  # GH200
        (["2360"], pci.EITHER),
        (["28ff"], pci.EITHER),
        (["2900"], pci.OPEN),
        (["2901"], pci.OPEN),  # B200
        (["2bb1"], pci.OPEN),  # RTX PRO 6000 Blackwell
        (["20b0", "1db6"], pci.CLOSED),
        (["2901", "1db6"], ""),
        ([], pci.EITHER),
    ],
)
def test_modules_that_the_cards_need(devices: list[str], wanted: str) -> None:
    assert pci.needs([{"device": device} for device in devices]) == wanted
