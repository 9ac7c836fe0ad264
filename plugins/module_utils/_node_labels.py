# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""Labels and taints of nodes: what is there and what is wished for in, patches out."""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import node_addresses

Dict = dict[str, t.Any]


def by_address(nodes: t.Sequence[Dict]) -> dict[str, Dict]:
    """The nodes of the API by each of their internal addresses."""
    return {address: node for node in nodes for address in node_addresses(node)}


def _taint_id(taint: Dict) -> tuple[str, str]:
    return taint["key"], taint["effect"]


def label_patch(present: t.Mapping[str, str], wish: Dict) -> dict[str, str | None]:
    """Labels to set, and with None those to take away: managed ones that this node is not to have."""
    labels: dict[str, str] = wish.get("labels") or {}
    patch: dict[str, str | None] = {key: value for key, value in labels.items() if present.get(key) != value}
    patch.update({key: None for key in wish.get("managed_labels") or [] if key in present and key not in labels})
    return patch


def wished_taints(present: t.Sequence[Dict], wish: Dict) -> list[Dict]:
    """All taints of the node afterwards: those of others stay, in their order."""
    taints = [
        {"key": entry["key"], "effect": entry["effect"], "value": entry.get("value") or ""}
        for entry in wish.get("taints") or []
    ]
    wished = {_taint_id(entry): entry for entry in taints}
    managed = set(wish.get("managed_taints") or [])
    result, seen = [], set()
    for entry in present:
        identity = _taint_id(entry)
        if identity in wished:
            seen.add(identity)
            same = (entry.get("value") or "") == wished[identity]["value"]
            result.append(entry if same else wished[identity])
        elif entry["key"] not in managed:
            result.append(entry)
    return result + [entry for identity, entry in wished.items() if identity not in seen]


def patch(node: Dict, wish: Dict) -> Dict:
    """The merge patch that brings a node to the wish; empty if it is there."""
    result: Dict = {}
    labels = label_patch((node.get("metadata") or {}).get("labels") or {}, wish)
    if labels:
        result["metadata"] = {"labels": labels}
    present = (node.get("spec") or {}).get("taints") or []
    taints = wished_taints(present, wish)
    if taints != list(present):
        result["spec"] = {"taints": [{key: value for key, value in entry.items() if value} for entry in taints]}
    return result


def describe(node: Dict, change: Dict) -> tuple[list[str], list[str]]:
    """Before and after of what a patch touches, for a diff."""
    name = node["metadata"]["name"]
    labels = (node.get("metadata") or {}).get("labels") or {}
    before, after = [], []
    for key, value in sorted(change.get("metadata", {}).get("labels", {}).items()):
        if key in labels:
            before.append(f"{name}: label {key}={labels[key]}")
        if value is not None:
            after.append(f"{name}: label {key}={value}")
    if "spec" in change:
        for lines, taints in (
            (before, (node.get("spec") or {}).get("taints") or []),
            (after, change["spec"]["taints"]),
        ):
            lines.extend(f"{name}: taint {entry['key']}={entry.get('value', '')}:{entry['effect']}" for entry in taints)
    return before, after
