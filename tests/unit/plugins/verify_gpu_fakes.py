# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in memory with GPU workers, HAMi and an ingress: all of it works, until a test says otherwise."""

from __future__ import annotations

import json
import re
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import OLD, FakeCluster, deployment, moment, pod

Json = dict[str, t.Any]
GPU = {"gpu_driver", "gpu_capacity", "gpu_registration", "gpu_slice"}
"""The checks of GPU workers."""
MODEL = "NVIDIA A100-SXM4-40GB"
CARDS = {"gpu-1": ["GPU-1111", "GPU-2222"], "gpu-2": ["GPU-3333"]}
SPLIT = {"gpu-1": 10, "gpu-2": 1}


def _host(address: str, mode: str) -> Json:
    labels = {"gpu": "on", "gshare.io/gpu": "true", "gshare.io/gpu-mode": mode}
    return {"host": address, "address": address, "labels": labels, "roles": [f"gpu {mode}"]}


GPU_HOSTS = [
    {"host": "192.0.2.10", "address": "192.0.2.10", "labels": {}, "roles": ["control plane"]},
    _host("192.0.2.11", "fractional"),
    _host("192.0.2.12", "exclusive"),
]


def registration(node: str, **changes: t.Any) -> str:
    """HAMi's annotation as Go writes it: zero values are left out."""
    entries = []
    for index, card in enumerate(CARDS[node]):
        entry = {
            "id": card,
            "index": index,
            "count": SPLIT[node],
            "devmem": 40960,
            "devcore": 100,
            "type": MODEL,
            "mode": "hami-core",
            "health": True,
            **(changes if index == len(CARDS[node]) - 1 else {}),
        }
        entries.append({key: value for key, value in entry.items() if value})
    return json.dumps(entries)


def plugin(name: str, namespace: str = "kube-system", wanted: int = 2, **template: t.Any) -> Json:
    """The DaemonSet of a device plugin."""
    container = {
        "name": "device-plugin" if "hami" in name else "nvidia-device-plugin-ctr",
        "image": "docker.io/projecthami/hami:v2.10.0" if "hami" in name else "nvcr.io/nvidia/k8s-device-plugin:v0.20.1",
    }
    spec = {"runtimeClassName": "nvidia", "nodeSelector": {"gpu": "on"}, "containers": [container], **template}
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": OLD},
        "spec": {"template": {"spec": spec}},
        "status": {"desiredNumberScheduled": wanted, "currentNumberScheduled": wanted},
    }


def plugin_pod(daemonset: Json, on: str) -> Json:
    name, namespace = daemonset["metadata"]["name"], daemonset["metadata"]["namespace"]
    made = pod(f"{name}-{on}", namespace, on)
    made["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": name}]
    made["spec"]["containers"] = daemonset["spec"]["template"]["spec"]["containers"]
    return made


def smi(node: str, driver: str = "580.95.05") -> str:
    return "".join(f"{index}, {card}, {MODEL}, {driver}\n" for index, card in enumerate(CARDS[node]))


class GpuCluster(FakeCluster):
    """A control plane and two GPU workers, the second with its card handed out whole."""

    def __init__(self, sharing: str = "hami") -> None:
        super().__init__(("cp", "gpu-1", "gpu-2"))
        self.sharing = sharing
        for item, mode in zip(self.nodes[1:], ("fractional", "exclusive")):
            name = item["metadata"]["name"]
            item["metadata"]["labels"] = {"gpu": "on", "gshare.io/gpu": "true", "gshare.io/gpu-mode": mode}
            item["status"]["allocatable"] = {"nvidia.com/gpu": str(len(CARDS[name]) * SPLIT[name])}
            if sharing == "hami":
                item["metadata"]["annotations"] |= {
                    "hami.io/node-nvidia-register": registration(name),
                    "hami.io/node-handshake": f"Requesting_{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())}",
                }
            else:
                item["metadata"]["labels"]["nvidia.com/gpu.replicas"] = str(SPLIT[name])
        self.runtime_classes = ["nvidia"]
        own = plugin("hami-device-plugin") if sharing == "hami" else plugin("nvidia-device-plugin", "kube-system")
        self.daemonsets["kube-system"].append(own)
        self.pods["kube-system"] += [plugin_pod(own, name) for name in CARDS]
        self.pods["ingress-nginx"] = [pod("ingress-nginx-controller-1", "ingress-nginx")]
        self.deployments["ingress-nginx"] = [deployment("ingress-nginx-controller", "ingress-nginx", 1)]
        self.services = [
            {"metadata": {"name": "ingress-nginx-controller"}, "spec": {"ports": [{"port": 80, "nodePort": 30080}]}}
        ]
        self.lease: Json | None = {"spec": {"holderIdentity": "hami-scheduler-1", "renewTime": moment(2)}}
        self.users: dict[str, list[Json]] = {}
        self.plugin_log = ""
        self.webhook = True
        self.refused = ""
        # node -> (exit status, text) of nvidia-smi, or a whole status of the pod.
        self.driver: dict[str, t.Any] = {}
        self.slice: dict[str, t.Any] = {}
        self.limit = "CUDA_DEVICE_MEMORY_LIMIT_0=1024m"
        self.events: dict[str, list[tuple[str, str]]] = {
            "gpu-too-big": [
                ("FailedScheduling", "0/3 nodes are available: 2/2 CardInsufficientMemory, 1 node unregistered."),
                ("FilteringFailed", "2 nodes CardInsufficientMemory(gpu-1,gpu-2)"),
            ]
        }
        # node -> how long ago its kubelet started.
        self.starts: dict[str, float] = {}
        self.too_big_on = ""
        self.ingress_refused = ""
        self.answers: dict[str, tuple[int, str] | str] = {}

    def own(self) -> Json:
        """The device plugin's DaemonSet."""
        return self.daemonsets["kube-system"][-1]

    def worker(self, name: str) -> Json:
        return next(item for item in self.nodes if item["metadata"]["name"] == name)

    def offers(self, name: str, count: int) -> None:
        self.worker(name)["status"]["allocatable"]["nvidia.com/gpu"] = str(count)

    def note(self, name: str, key: str, value: str) -> None:
        self.worker(name)["metadata"]["annotations"][f"hami.io/{key}"] = value

    def use(self, node: str, name: str, devices: str = "", shares: int = 1) -> None:
        """A pod of somebody else that has a GPU."""
        made = pod(name, "team", node)
        made["metadata"]["annotations"] = {"hami.io/vgpu-devices-allocated": devices}
        made["spec"]["containers"] = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(shares)}}}]
        self.users.setdefault(node, []).append(made)

    # The client

    def request(self, method: str, path: str, *more: t.Any) -> tuple[int, str]:
        if "/log?" in path:
            self.log.append(f"{method} {path}")
            return 200, self.plugin_log
        return super().request(method, path, *more)

    def http(self, address: str, port: int, host: str) -> tuple[int, str]:
        assert port == 30080
        assert host.endswith(".invalid")
        answer = self.answers.get(self._by_address(address), (200, "gpu-1\n"))
        if isinstance(answer, str):
            raise ApiError(0, answer)
        return answer

    def _routes(self) -> list[tuple[str, t.Callable[[t.Any, str], Json]]]:
        return [
            (r"/apis/node.k8s.io/v1/runtimeclasses", lambda hit, path: _named(self.runtime_classes)),
            (r"/apis/apps/v1/daemonsets", lambda hit, path: {"items": sum(self.daemonsets.values(), [])}),
            (r"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hami-scheduler", self._lease),
            (r"/api/v1/pods", lambda hit, path: {"items": self.users.get(path.split("%3D")[1], [])}),
            (r"/api/v1/namespaces/ingress-nginx/services", lambda hit, path: {"items": self.services}),
            (r"/api/v1/namespaces/default/events", self._starts),
            (r"/api/v1/namespaces/gshare-verify-\w+/events", self._own_events),
            *super()._routes(),
        ]

    def _lease(self, _hit: t.Any, path: str) -> Json:
        if self.lease is None:
            raise ApiError(404, f"{path} not found")
        return self.lease

    def _starts(self, _hit: t.Any, _path: str) -> Json:
        return {
            "items": [
                {"metadata": {}, "involvedObject": {"name": name}, "lastTimestamp": moment(age)}
                for name, age in self.starts.items()
            ]
        }

    def _own_events(self, _hit: t.Any, path: str) -> Json:
        found = self.events.get(path.split("name%3D")[1], [])
        return {"items": [{"type": "Warning", "reason": reason, "message": text} for reason, text in found]}

    def create(self, path: str, body: Json) -> Json:
        name, spec = body["metadata"]["name"], body.get("spec", {})
        if body["kind"] == "Ingress" and self.ingress_refused:
            raise ApiError(400, self.ingress_refused)
        if not name.startswith("gpu-"):
            return super().create(path, body)
        self.log.append(f"POST {path} {name}")
        if self.refused and "nvidia.com/gpu" in json.dumps(spec):
            raise ApiError(500, self.refused)
        if spec.get("runtimeClassName", "nvidia") not in self.runtime_classes:
            raise ApiError(403, f'pods "{name}" is forbidden: pod rejected: RuntimeClass "nvidia" not found')
        if path.endswith("?dryRun=All"):
            scheduler = "hami-scheduler" if self.webhook else "default-scheduler"
            return {**body, "spec": {**spec, "schedulerName": scheduler}}
        self.own_pods[name] = self._gpu_pod(name, body)
        return body

    def _gpu_pod(self, name: str, body: Json) -> Json:
        spec, space = body["spec"], next(iter(self.namespaces))
        if name == "gpu-too-big":
            made = pod(name, space, self.too_big_on, labels=body["metadata"]["labels"], phase="Pending")
            return made
        driver = name.startswith("gpu-driver")
        node = spec["nodeName"] if driver else re.findall(r'"values": \["([\w-]+)"\]', json.dumps(spec["affinity"]))[0]
        known = self.driver if driver else self.slice
        listed = f"GPU 0: {MODEL} (UUID: {CARDS[node][0]})\n"
        answer = known.get(node, (0, smi(node) if driver else listed))
        made = pod(name, space, node, labels=body["metadata"]["labels"])
        if isinstance(answer, dict):
            made["spec"]["nodeName"] = answer.get("on", node)
            made["status"].update(answer)
            return made
        head = "" if driver or self.sharing != "hami" else f"{self.limit}\nNVIDIA_VISIBLE_DEVICES=void\n"
        message = f"{head}@exit {answer[0]}\n{answer[1]}"
        made["status"]["phase"] = "Succeeded"
        made["status"]["containerStatuses"] = [{"name": "probe", "state": {"terminated": {"message": message}}}]
        return made


def _named(names: list[str]) -> Json:
    return {"items": [{"metadata": {"name": name}} for name in names]}


def told(result: Json, name: str) -> str:
    """What a check of a run says: detail and remedy."""
    return f"{result['by_name'][name]['detail']} -> {result['by_name'][name]['remedy']}"
