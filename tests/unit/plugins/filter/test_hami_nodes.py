# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.filter.hami_nodes import FilterModule, hami_nodes

WORKERS = [
    {"host": "gpu-1.example.net", "address": "192.0.2.11", "labels": {"gshare.io/gpu-mode": "fractional"}},
    {"host": "gpu-2.example.net", "address": "192.0.2.12", "labels": {"gshare.io/gpu-mode": "exclusive"}},
    {"host": "gpu-3.example.net", "address": "192.0.2.13", "labels": {"gshare.io/gpu-mode": "exclusive"}},
]
NODES = {"192.0.2.11": "gpu1", "192.0.2.12": "gpu2"}


def test_cards_of_an_exclusive_machine_are_handed_out_whole() -> None:
    assert FilterModule().filters()["hami_nodes"](WORKERS, NODES) == [{"name": "gpu2", "devicesplitcount": 1}]


def test_settings_of_single_machines() -> None:
    settings = {"gpu-1.example.net": {"devicememoryscaling": 1.5}, "gpu-2.example.net": {"operatingmode": "mig"}}
    assert hami_nodes(WORKERS, NODES, settings) == [
        {"name": "gpu1", "devicememoryscaling": 1.5},
        {"name": "gpu2", "devicesplitcount": 1, "operatingmode": "mig"},
    ]
