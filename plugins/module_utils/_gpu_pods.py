# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods of the cluster that use GPUs, for whoever is about to disturb them. Objects of the API in, sentences out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._node_labels import by_address
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import node_name

Json = dict[str, t.Any]
_RUNNING = ("Pending", "Running")


def gpu_pods(pods: t.Iterable[Json]) -> list[Json]:
    """Pods that have, or wait to start with, a device of nvidia.com: namespace, name and node."""
    found = []
    for pod in pods:
        spec, status = pod.get("spec") or {}, pod.get("status") or {}
        if not spec.get("nodeName") or status.get("phase", "Pending") not in _RUNNING:
            continue
        containers = (spec.get("initContainers") or []) + (spec.get("containers") or [])
        asked = [
            name
            for container in containers
            for name in ((container.get("resources") or {}).get("limits") or {})
            if name.startswith("nvidia.com/")
        ]
        if asked:
            metadata = pod["metadata"]
            found.append({"namespace": metadata["namespace"], "name": metadata["name"], "node": spec["nodeName"]})
    return found


def kept(pods: t.Iterable[Json], nodes: t.Sequence[Json], workers: t.Iterable[Json]) -> list[str]:
    """Sentences on GPU pods that must not be disturbed: all but those on machines that the user named.

    C(workers) are GPU workers of the inventory with their address, and whether they may be disturbed.
    """
    known = by_address(nodes)
    free = [worker["address"] for worker in workers if worker.get("disrupt")]
    named = {node_name(known[address]) for address in free if address in known}
    return [
        f"pod {pod['namespace']}/{pod['name']} uses a GPU on {pod['node']}"
        for pod in gpu_pods(pods)
        if pod["node"] not in named
    ]
