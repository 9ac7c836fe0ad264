# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Networks of both versions of IP.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import ipaddress
import typing as t

Network = t.Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


def within(inner: Network, outer: Network) -> bool:
    """Whether a network is part of another; two of different versions never are, and Python would raise for them."""
    if isinstance(inner, ipaddress.IPv4Network):
        return isinstance(outer, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, ipaddress.IPv6Network) and inner.subnet_of(outer)
