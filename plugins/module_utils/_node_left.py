# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster keeps of a node that leaves it. Objects of the API in, sentences out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain

Json = dict[str, t.Any]
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_TAINT = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}


def out_of_service(node: Json) -> Json:
    """The patch by which the cluster takes pods and volumes from a machine that is off."""
    others = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != _TAINT["key"]]
    return {"spec": {"taints": [*others, _TAINT]}}


def last_control_plane(nodes: t.Iterable[Json], name: str) -> bool:
    masters = [node["metadata"]["name"] for node in nodes if _CONTROL_PLANE in (node["metadata"].get("labels") or {})]
    return masters == [name]


def attachments(items: t.Iterable[Json], node: str) -> list[str]:
    """Names of the volume attachments of a node."""
    return [item["metadata"]["name"] for item in items if item["spec"].get("nodeName") == node]


def remains(items: t.Iterable[Json], volumes: t.Iterable[Json], node: str) -> list[str]:
    """What is still there, a sentence each. It is only told: both may hold somebody's data."""
    told = [
        f"VolumeAttachment {name} still names {node}: its driver takes it away; if that is gone for good, "
        f"kubectl delete volumeattachment {name}."
        for name in attachments(items, node)
    ]
    gone: Json = {"metadata": {"name": node}}
    for volume in volumes:
        if drain.pinned(volume, gone):
            ref = volume["spec"]["claimRef"]
            told.append(
                f"claim {ref['namespace']}/{ref['name']} is bound to a volume of {node}, so its pods stay Pending: for "
                f"a new one, kubectl -n {ref['namespace']} delete pvc {ref['name']}."
            )
    return told
