# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Machines that are written into a cluster-info file, and taken out of it: text in, text out.

Only the characters of an entry change. The parser then has to find exactly the machines that were meant.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils import _cluster_info_nodes as nodes
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import Cluster, ClusterInfoError, parse
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_keys import Wrong
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import Assignment

_CPU = ":cpu"
Machine = tuple[str, str]


class EditError(Exception):
    """A sentence on why a file is left as it is."""


def entry(text: str) -> nodes.Node:
    """The machine of C(user@address:mode), where the mode is exclusive, fractional or cpu."""
    key = "CPU_WORKERS" if text.endswith(_CPU) else "WORKER_NODES"
    listed = text.removesuffix(_CPU)
    try:
        found = nodes.node(nodes.Entry(key, listed, 1, 0, len(listed)))
        if found.wrong:
            raise found.wrong
    except Wrong as wrong:
        raise EditError(f"machine '{text}': {wrong.what}; {wrong.remedy}.") from wrong
    return found


def add(text: str, machine: str) -> str:
    """Write a machine behind the others of its kind; a file that lists it already stays as it is."""
    new, cluster = entry(machine), parse(text)
    for known in cluster.nodes:
        if known.address == new.address:
            if (known.group, known.user) == (new.group, new.user):
                return text
            raise EditError(
                f"{new.address} is listed in line {known.entry.line} as '{known.entry.text}' ({known.entry.key}), "
                f"and not as '{machine}': correct the line, or name it as it is there."
            )
    edited = _insert(cluster, new.entry.key, new.entry.text)
    return _proven(text, edited, [*_machines(cluster), (new.group, new.address)])


def remove(text: str, address: str) -> str:
    """Take a machine out; a file that does not list it stays as it is."""
    cluster = parse(text)
    mine = next((node for node in cluster.nodes if node.address == address), None)
    if mine is None:
        return text
    if mine.group == "kube_control_plane":
        raise EditError(f"{address} is the control plane, without which the file is no cluster.")
    others = [node.entry for node in cluster.nodes if node.entry.key == mine.entry.key]
    index = others.index(mine.entry)
    start, end = mine.entry.start, mine.entry.end
    if index + 1 < len(others):
        end = others[index + 1].start
    elif index:
        start = others[index - 1].end
    edited = text[:start] + text[end:]
    return _proven(text, edited, [one for one in _machines(cluster) if one[1] != address])


def _insert(cluster: Cluster, key: str, listed: str) -> str:
    text = cluster.document.text
    others = [node.entry for node in cluster.nodes if node.entry.key == key]
    if others:
        at = others[-1].end
        return f"{text[:at]},{listed}{text[at:]}"
    empty = cluster.assignments.get(key)
    if empty:
        at = _inside(text, empty)
        return text[:at] + listed + text[at:]
    newline = "\r\n" if "\r\n" in text else "\n"
    apart = "" if not text or text.endswith(("\n", "\r")) else newline
    return f"{text}{apart}{key}={listed}{newline}"


def _inside(text: str, empty: Assignment) -> int:
    """Where the value of a key begins that has none: between its quotes, if there are some."""
    return empty.value_start + int(text[empty.value_start : empty.value_start + 1] in ("'", '"'))


def _machines(cluster: Cluster) -> list[Machine]:
    return [(node.group, node.address) for node in cluster.nodes]


def _proven(before: str, edited: str, wanted: t.Iterable[Machine]) -> str:
    """The edited text, if it says what was meant and nothing else has changed."""
    try:
        old, new = parse(before), parse(edited)
    except ClusterInfoError as exc:
        raise EditError(f"The entry does not fit into the file: {exc.report()}") from exc
    same = (old.variables, old.connection) == (new.variables, new.connection)
    if not same or sorted(_machines(new)) != sorted(wanted):
        raise EditError("The file is written in a way in which it cannot be edited safely: change the entry by hand.")
    return edited
