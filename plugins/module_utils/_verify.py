# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All checks of a cluster in their order.

A check is a function of a snapshot (what the API and the probes told) and an expectation (what the inventory says).
To add one, write such a function and list it here; tell it in docs/verify.md.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu as gpu
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_nodes as nodes
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_pods as pods
from ansible_collections.gshare.cluster.plugins.module_utils import _verify_traffic as traffic
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_slice import check_gpu_slice
from ansible_collections.gshare.cluster.plugins.module_utils._verify_ingress import check_ingress
from ansible_collections.gshare.cluster.plugins.module_utils._verify_registry import (
    check_registry,
    check_registry_mirror,
)
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    OK,
    Check,
    Expectation,
    Json,
    Snapshot,
    is_ready,
    labels,
    node_address,
    node_name,
    skipped,
)

Function = t.Callable[[Snapshot, Expectation], Check]

OBJECTS: tuple[Function, ...] = (
    nodes.check_nodes,
    nodes.check_unlisted,
    nodes.check_versions,
    nodes.check_labels,
    nodes.check_addresses,
    nodes.check_pod_ranges,
    nodes.check_flannel,
    pods.check_system_pods,
    traffic.check_storage_class,
)
TRAFFIC: tuple[Function, ...] = (
    traffic.check_probes,
    traffic.check_kubelet_port,
    traffic.check_bridge,
    traffic.check_dns,
    traffic.check_pod_network,
    traffic.check_storage_claim,
)


def evaluate(snapshot: Snapshot, expectation: Expectation) -> list[Check]:
    """The verdicts of all checks that can be made."""
    first = nodes.check_api(snapshot, expectation)
    if first.status != OK and not snapshot.nodes:
        return [first, skipped("everything else", "the API server has to answer first")]
    functions = [*OBJECTS]
    if snapshot.traffic is None:
        functions += _gpu_objects(expectation)
    else:
        functions += [*TRAFFIC, *_components(expectation), traffic.check_cleanup]
    checks = [first, *(function(snapshot, expectation) for function in functions)]
    return [*checks, skipped("traffic", snapshot.no_traffic)] if snapshot.traffic is None else checks


def _gpu_objects(expectation: Expectation) -> list[Function]:
    return gpu.object_checks(expectation) if gpus.has_workers(expectation) else []


def _components(expectation: Expectation) -> list[Function]:
    """The checks of what the inventory and the settings choose."""
    checks: list[Function] = []
    if gpus.has_workers(expectation):
        checks += [gpu.check_gpu_driver, *_gpu_objects(expectation)]
        checks += [check_gpu_slice] if expectation.gpu_sharing != "none" else []
    checks += [check_ingress] if expectation.ingress != "none" else []
    checks += [check_registry] if expectation.registry.get("address") else []
    return checks + ([check_registry_mirror] if expectation.registry.get("mirror") else [])


def rows(snapshot: Snapshot, expectation: Expectation) -> list[Json]:
    """One row a node, for summaries: those of the inventory first."""
    pairs = nodes.matched(snapshot, expectation)
    hosts = {node_name(node): host for host, node in pairs if node}
    order = [node_name(node) for _host, node in pairs if node]
    others = [node_name(node) for node in snapshot.nodes if node_name(node) not in hosts]
    by_name = {node_name(node): node for node in snapshot.nodes}
    return [
        {
            **_row(by_name[name], hosts.get(name)),
            "gpu": gpus.summary(snapshot, expectation, hosts.get(name), by_name[name]),
        }
        for name in order + others
    ]


def _row(node: Json, host: Json | None) -> Json:
    info = node.get("status", {}).get("nodeInfo", {})
    control = "node-role.kubernetes.io/control-plane" in labels(node)
    return {
        "name": node_name(node),
        "host": host["host"] if host else "",
        "address": node_address(node),
        "roles": (host or {}).get("roles") or (["control plane"] if control else []),
        "ready": is_ready(node),
        "version": info.get("kubeletVersion", ""),
        "runtime": info.get("containerRuntimeVersion", ""),
        "os": info.get("osImage", ""),
    }
