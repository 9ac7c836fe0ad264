# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _machine_names as machines


@pytest.mark.parametrize("value", ["a, b,,a", ["a", "b", "a"], ["a ", " b"]])
def test_names(value: t.Any) -> None:
    assert machines.names(value) == ["a", "b"]


def test_a_machine_is_called_by_its_name_and_its_addresses() -> None:
    variables = {"ansible_host": "10.0.0.27", "gshare_node_ip": "192.0.2.27"}
    assert machines.called("rack7", variables) == {"rack7", "10.0.0.27", "192.0.2.27"}
    assert machines.address("rack7", variables) == "192.0.2.27"
    assert machines.address("10.0.0.20", {}) == "10.0.0.20"


def test_a_name_that_nobody_has() -> None:
    assert machines.unknown("gpu11", ["gpu1"], "add it") == "There is no machine gpu11: did you mean gpu1?"
    assert machines.unknown("xyz", ["gpu1"], "add it") == "There is no machine xyz: add it."
