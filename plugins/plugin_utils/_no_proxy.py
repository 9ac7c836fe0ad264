# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a no_proxy list covers, by the rules that Go programs (kubeadm, kubelet, containerd) follow.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._networks import Network, within


def entries(no_proxy: str) -> list[str]:
    return [entry.strip() for entry in no_proxy.split(",") if entry.strip()]


def host(entry: str) -> str:
    """The host of HOST:PORT, as a registry is named; an address of IPv6 may have brackets."""
    found = re.fullmatch(r"\[(.+)\](?::\d+)?|([^:]+):\d+", entry)
    return (found[1] or found[2]) if found else entry


def missing(no_proxy: str, wanted: t.Iterable[str]) -> list[str]:
    """Those of C(wanted) (addresses, ranges, names, .domains) that the list does not cover."""
    present = entries(no_proxy)
    return [one for one in dict.fromkeys(wanted) if not any(_covers(entry, one) for entry in present)]


def complete(no_proxy: str, wanted: t.Iterable[str]) -> str:
    """The list with what it lacks at its end."""
    return ",".join([*entries(no_proxy), *missing(no_proxy, wanted)])


def _covers(entry: str, wanted: str) -> bool:
    if entry == "*":
        return True
    outer, inner = _network(entry), _network(wanted)
    if inner is not None:
        return outer is not None and within(inner, outer)
    # A leading dot is for the names below only, a bare name for itself too.
    suffix = entry.lower().lstrip("*")
    name = wanted.lower()
    if suffix.startswith("."):
        return name == suffix or name.endswith(suffix)
    return name.lstrip(".") == suffix or name.endswith("." + suffix)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None
