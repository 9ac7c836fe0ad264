# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How people name machines on the command line, and which machine of the inventory they mean.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import difflib
import typing as t

from ansible_collections.gshare.cluster.plugins.filter.node_ip import node_ip

Variables = t.Mapping[str, t.Any]


def names(value: t.Any) -> list[str]:
    """What was named, a list or with commas between."""
    items = value.split(",") if isinstance(value, str) else value
    return list(dict.fromkeys(str(item).strip() for item in items if str(item).strip()))


def called(host: str, variables: Variables) -> set[str]:
    """What people may call a machine."""
    return {str(host), *(str(variables[key]) for key in ("ansible_host", "gshare_node_ip") if variables.get(key))}


def address(host: str, variables: Variables) -> str:
    """The address by which its node is known."""
    return node_ip(variables.get("gshare_node_ip") or variables.get("ansible_host") or host)


def unknown(name: str, known: t.Iterable[str], remedy: str) -> str:
    near = difflib.get_close_matches(name, list(known), 1)
    return f"There is no machine {name}: {f'did you mean {near[0]}?' if near else remedy + '.'}"
