# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module verify takes, and what the checks make of it.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation

_HOST = {
    "host": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "labels": {"type": "dict", "default": {}},
    "taints": {"type": "list", "elements": "dict", "default": []},
    "roles": {"type": "list", "elements": "str", "default": []},
}
_REGISTRY = {
    "address": {"type": "str", "default": ""},
    "mirror": {"type": "str", "default": ""},
    "tls": {"type": "bool", "default": False},
    "ca": {"type": "str", "default": ""},
    "username": {"type": "str", "default": ""},
    "password": {"type": "str", "default": "", "no_log": True},
    "namespace": {"type": "str", "default": "gshare-registry"},
}
_CHECK = {
    "name": {"type": "str", "required": True},
    "kind": {"type": "str", "required": True},
    "api_version": {"type": "str"},
    "namespace": {"type": "str"},
    "query": {"type": "str", "required": True},
    "expect": {"type": "raw", "required": True},
    "remedy": {"type": "str", "required": True},
}
ARGUMENTS = {
    "hosts": {"type": "list", "elements": "dict", "options": _HOST},
    "only": {"type": "list", "elements": "str", "default": []},
    "kubernetes_version": {"type": "str", "default": ""},
    "pod_cidr": {"type": "str", "default": ""},
    "namespaces": {"type": "list", "elements": "str", "default": ["kube-system", "kube-flannel", "local-path-storage"]},
    "probe_image": {"type": "str", "default": "docker.io/library/busybox:1.37.0"},
    "gpu_sharing": {"type": "str", "choices": ["hami", "nvidia", "none"], "default": "none"},
    "gpu_split": {"type": "int", "default": 0},
    "gpu_probe_image": {"type": "str", "default": "docker.io/library/debian:12-slim"},
    "ingress": {"type": "str", "choices": ["ingress-nginx", "traefik", "none"], "default": "none"},
    "ingress_namespace": {"type": "str", "default": "ingress-nginx"},
    "ingress_port": {"type": "int", "default": 30080},
    "registry": {"type": "dict", "default": {}, "options": _REGISTRY},
    "timeout": {"type": "int", "default": 120},
    "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
    "checks": {"type": "list", "elements": "dict", "default": [], "options": _CHECK},
    "json_path": {"type": "str", "default": ""},
    "fail_in_check_mode": {"type": "bool", "default": True},
}


def expectation(params: dict[str, t.Any]) -> Expectation:
    """What the inventory says about the cluster, out of the module's options."""
    more = [params["ingress_namespace"]] if params["ingress"] != "none" else []
    only = params["only"]
    return Expectation(
        hosts=tuple(host for host in params["hosts"] or () if not only or host["host"] in only),
        partial=bool(only),
        kubernetes_version=params["kubernetes_version"],
        pod_ranges=tuple(part.strip() for part in params["pod_cidr"].split(",") if part.strip()),
        namespaces=tuple(dict.fromkeys([*params["namespaces"], *more])),
        gpu_sharing=params["gpu_sharing"],
        gpu_split=params["gpu_split"],
        ingress=params["ingress"],
        ingress_namespace=params["ingress_namespace"],
        ingress_port=params["ingress_port"],
        registry=params["registry"],
    )
