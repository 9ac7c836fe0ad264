# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._networks import within


@pytest.mark.parametrize(
    ("inner", "outer", "inside"),
    [
        ("10.96.0.0/12", "0.0.0.0/0", True),
        ("10.0.0.0/8", "10.0.0.0/8", True),
        ("10.0.0.0/8", "10.96.0.0/12", False),
        ("fd00::/64", "fd00::/48", True),
        ("fd00::/48", "fd00::/64", False),
        ("10.0.0.0/8", "::/0", False),
        ("fd00::/64", "0.0.0.0/0", False),
    ],
)
def test_within(inner: str, outer: str, inside: bool) -> None:
    assert within(ipaddress.ip_network(inner), ipaddress.ip_network(outer)) is inside
