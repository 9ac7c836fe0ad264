# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in memory for the tests of verify: objects as the API shows them, and a client for them."""

from __future__ import annotations

import itertools
import re
import time
import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError

Json = dict[str, t.Any]
OLD = "2026-01-01T00:00:00Z"
KUBECONFIG = __file__  # only has to be there
HOSTS = [
    {
        "host": "192.0.2.10",
        "address": "192.0.2.10",
        "labels": {"gshare.io/node-type": "cpu"},
        "roles": ["control plane"],
    },
    {"host": "192.0.2.11", "address": "192.0.2.11", "roles": ["gpu exclusive"]},
    {"host": "192.0.2.12", "address": "192.0.2.12", "labels": {"gshare.io/node-type": "cpu"}, "roles": ["cpu"]},
]


def stop_clock(monkeypatch: pytest.MonkeyPatch, modules: t.Iterable[types.ModuleType], tick: float) -> None:
    """No sleep lasts, and each look at the clock is a tick later."""
    ticks = itertools.count(0, tick)
    clock = types.SimpleNamespace(sleep=lambda seconds: None, monotonic=lambda: next(ticks), time=time.time)
    for module in modules:
        monkeypatch.setattr(module, "time", clock)


def bad(result: Json) -> set[str]:
    return {entry["name"] for entry in result["checks"] if entry["status"] != "ok"}


def moment(age: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - age))


def node(name: str, address: str, index: int = 0, **more: t.Any) -> Json:
    """A healthy node of a kubeadm cluster with flannel."""
    control = {"node-role.kubernetes.io/control-plane": "", "gshare.io/node-type": "cpu"} if name == "cp" else {}
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": OLD,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                **control,
                **more.get("labels", {}),
            },
            "annotations": {
                "flannel.alpha.coreos.com/backend-type": "vxlan",
                "flannel.alpha.coreos.com/kube-subnet-manager": "true",
                "flannel.alpha.coreos.com/public-ip": more.get("public_ip", address),
            },
        },
        "spec": {"podCIDR": f"10.244.{index}.0/24", "podCIDRs": [f"10.244.{index}.0/24"], **more.get("spec", {})},
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "conditions": [
                {"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory"},
                {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": OLD},
            ],
            "nodeInfo": {
                "kubeletVersion": more.get("version", "v1.36.3"),
                "containerRuntimeVersion": "containerd://2.3.7",
                "osImage": "Debian GNU/Linux 12 (bookworm)",
            },
        },
    }


def not_ready(item: Json, age: float = 3600, message: str = "Kubelet stopped posting node status.") -> Json:
    item["status"]["conditions"][-1] = {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": message,
        "lastTransitionTime": moment(age),
    }
    return item


def pod(name: str, namespace: str = "kube-system", on: str = "cp", **status: t.Any) -> Json:
    """A running and ready pod."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": OLD,
            "labels": status.pop("labels", {}),
        },
        "spec": {"nodeName": on},
        "status": {
            "phase": "Running",
            "podIP": "10.244.0.9",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": OLD}],
            "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}],
            **status,
        },
    }


def waiting(reason: str, message: str = "", *, age: float = 3600, restarts: int = 0, last: Json | None = None) -> Json:
    """The status of a pod whose container does not run."""
    return {
        "phase": "Pending" if "Image" in reason else "Running",
        "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": moment(age), "reason": "ContainersNotReady"}
        ],
        "containerStatuses": [
            {
                "name": "main",
                "image": "registry.example.net/main:1",
                "ready": False,
                "restartCount": restarts,
                "state": {"waiting": {"reason": reason, "message": message}},
                "lastState": {"terminated": last} if last else {},
            }
        ],
    }


def daemonset(name: str, namespace: str, wanted: int, there: int | None = None, selector: Json | None = None) -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": OLD},
        "spec": {"template": {"spec": {"nodeSelector": selector or {"kubernetes.io/os": "linux"}}}},
        "status": {"desiredNumberScheduled": wanted, "currentNumberScheduled": wanted if there is None else there},
    }


def deployment(name: str, namespace: str, replicas: int, there: int | None = None) -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": OLD},
        "spec": {"replicas": replicas},
        "status": {"replicas": replicas if there is None else there},
    }


class FakeCluster:
    """Three nodes on which everything works, until a test says otherwise."""

    server = ("192.0.2.10", 6443)

    def __init__(self, names: t.Sequence[str] = ("cp", "gpu-1", "cpu-1")) -> None:
        self.nodes = [node(name, f"192.0.2.{10 + i}", i) for i, name in enumerate(names)]
        if len(names) > 2:
            self.nodes[2]["metadata"]["labels"]["gshare.io/node-type"] = "cpu"
        self.ready = (200, "readyz check passed")
        self.version = "v1.36.3"
        self.pods = {
            "kube-system": [pod("coredns-1", labels={"k8s-app": "kube-dns"}), pod("kube-apiserver-cp")]
            + [pod(f"kube-proxy-{name}", on=name) for name in names],
            "kube-flannel": [pod(f"kube-flannel-ds-{name}", "kube-flannel", name) for name in names],
            "local-path-storage": [pod("local-path-provisioner-1", "local-path-storage")],
        }
        self.daemonsets = {
            "kube-system": [daemonset("kube-proxy", "kube-system", len(names))],
            "kube-flannel": [daemonset("kube-flannel-ds", "kube-flannel", len(names))],
        }
        self.deployments = {
            "kube-system": [deployment("coredns", "kube-system", 1)],
            "local-path-storage": [deployment("local-path-provisioner", "local-path-storage", 1)],
        }
        self.classes = [
            {"metadata": {"name": "local-path", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
        ]
        self.namespaces: dict[str, Json] = {}
        self.own_pods: dict[str, Json] = {}
        self.log: list[str] = []
        self.made: list[Json] = []
        # What is broken.
        self.dns_dead: set[str] = set()
        self.resolver = "10.96.0.10"
        self.no_bridge: set[str] = set()
        self.no_http: set[tuple[str, str]] = set()
        self.no_udp: set[tuple[str, str]] = set()
        self.no_link: set[str] = set()
        self.no_exec: dict[str, str] = {}
        self.closed: set[tuple[str, str, int]] = set()
        self.bad_image: dict[str, str] = {}
        self.no_kubelet: set[str] = set()
        # node -> seconds since its kubelet was heard of.
        self.last_heard: dict[str, float] = {}
        self.untouched: set[str] = set()
        self.own_status: dict[str, Json] = {}
        self.claim_events: list[str] = []
        self.claim_status: Json = {}
        self.claim_works = True
        self.volume_stays = False
        self.namespace_stays = False
        self.service_account_after = 0
        self._counters: dict[str, list[int]] = {}
        self._volume = False

    # The client

    def request(self, method: str, path: str, *_more: t.Any) -> tuple[int, str]:
        self.log.append(f"{method} {path}")
        if self.ready[0] == 0:
            raise ApiError(0, self.ready[1])
        return self.ready

    def reaches(self, address: str, port: int) -> bool:
        return port == 10250 and self._by_address(address) not in self.no_kubelet

    def items(self, path: str) -> list[Json]:
        return self.get(path).get("items") or []

    def get(self, path: str) -> Json:
        self.log.append(f"GET {path}")
        for pattern, answer in self._routes():
            hit = re.fullmatch(pattern, path.split("?")[0])
            if hit:
                return answer(hit, path)
        raise ApiError(404, f"{path} not found")

    def _routes(self) -> list[tuple[str, t.Callable[[t.Any, str], Json]]]:
        return [
            (r"/version", lambda hit, path: {"gitVersion": self.version}),
            (r"/api/v1/nodes", lambda hit, path: {"items": self.nodes}),
            (r"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", self._leases),
            (r"/api/v1/namespaces", lambda hit, path: {"items": list(self.namespaces.values())}),
            (r"/api/v1/namespaces/(gshare-verify-\w+)", self._namespace),
            (r"/api/v1/namespaces/gshare-verify-\w+/pods", self._own_pods),
            (r"/api/v1/namespaces/gshare-verify-\w+/events", self._events),
            (r"/api/v1/namespaces/gshare-verify-\w+/persistentvolumeclaims/probe", self._claim),
            (r"/api/v1/namespaces/([\w-]+)/pods", lambda hit, path: {"items": self.pods.get(hit[1], [])}),
            (
                r"/apis/apps/v1/namespaces/([\w-]+)/daemonsets",
                lambda hit, path: {"items": self.daemonsets.get(hit[1], [])},
            ),
            (
                r"/apis/apps/v1/namespaces/([\w-]+)/deployments",
                lambda hit, path: {"items": self.deployments.get(hit[1], [])},
            ),
            (r"/apis/storage.k8s.io/v1/storageclasses", lambda hit, path: {"items": self.classes}),
            (
                r"/api/v1/namespaces/kube-system/services/kube-dns",
                lambda hit, path: {"spec": {"clusterIP": "10.96.0.10"}},
            ),
            (r"/api/v1/namespaces/default/services/kubernetes", lambda hit, path: {"spec": {"clusterIP": "10.96.0.1"}}),
            (r"/api/v1/persistentvolumes/pvc-1", self._volume_object),
        ]

    def _namespace(self, hit: t.Any, _path: str) -> Json:
        if hit[1] not in self.namespaces:
            raise ApiError(404, "gone")
        return self.namespaces[hit[1]]

    def _leases(self, _hit: t.Any, _path: str) -> Json:
        ages = {item["metadata"]["name"]: 3.0 for item in self.nodes} | self.last_heard
        items = [{"metadata": {"name": name}, "spec": {"renewTime": moment(age)}} for name, age in ages.items()]
        return {"items": items}

    def _own_pods(self, _hit: t.Any, path: str) -> Json:
        app = path.split("app%3D")[1]
        return {"items": [item for item in self.own_pods.values() if item["metadata"]["labels"]["app"] == app]}

    def _events(self, _hit: t.Any, _path: str) -> Json:
        return {"items": [{"type": "Warning", "message": text} for text in self.claim_events]}

    def _claim(self, _hit: t.Any, _path: str) -> Json:
        return {"spec": {"volumeName": "pvc-1"} if self._volume else {}}

    def _volume_object(self, _hit: t.Any, _path: str) -> Json:
        if not self._volume:
            raise ApiError(404, "gone")
        return {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}

    def create(self, path: str, body: Json) -> Json:
        self.log.append(f"POST {path}")
        self.made.append(body)
        name = body["metadata"]["name"]
        if body["kind"] == "Namespace":
            self.namespaces[name] = {"metadata": {**body["metadata"], "creationTimestamp": moment(0)}}
        elif body["kind"] == "DaemonSet":
            for item in self.nodes:
                self._start_probe(item)
        elif body["kind"] == "Pod":
            self._start_pod(name, body)
        return body

    def _start_probe(self, item: Json) -> None:
        on, network = item["metadata"]["name"], item["spec"].get("podCIDR", "10.244.99.0/24").rsplit(".", 1)[0]
        made = pod(f"probe-{on}", next(iter(self.namespaces)), on, labels={"app": "probe"}, podIP=f"{network}.5")
        if on in self.bad_image:
            made["status"].update(waiting("ImagePullBackOff", self.bad_image[on], age=0))
        if item["status"]["conditions"][-1]["status"] != "True" or on in self.untouched:
            made["status"] = {"phase": "Pending"}
        made["status"] = self.own_status.get(on, made["status"])
        self.own_pods[made["metadata"]["name"]] = made

    def _start_pod(self, name: str, body: Json) -> None:
        if self.service_account_after > 0:
            self.service_account_after -= 1
            raise ApiError(403, 'error looking up service account x/default: serviceaccount "default" not found')
        made = pod(
            name, next(iter(self.namespaces)), body["spec"].get("nodeName", "cp"), labels=body["metadata"]["labels"]
        )
        if name == "claim":
            self._volume = self.claim_works
            made["status"]["phase"] = "Succeeded" if self.claim_works else "Pending"
            made["status"].update(self.claim_status)
        self.own_pods[name] = made

    def delete(self, path: str, **_options: t.Any) -> None:
        self.log.append(f"DELETE {path}")
        if path.endswith("/persistentvolumeclaims/probe") and not self.volume_stays:
            self._volume = False
        name = path.rsplit("/", 1)[1]
        if name in self.namespaces and not self.namespace_stays:
            del self.namespaces[name]

    def execute(self, namespace: str, name: str, command: str, timeout: float = 30.0) -> str:
        on = self.own_pods[name]["spec"]["nodeName"]
        if on in self.no_exec:
            raise ApiError(500, self.no_exec[on])
        if "@bridge" in command:
            return self._probe_answer(on, command)
        if "@port" in command:
            return self._port_answer(on, command)
        if command.startswith("ping"):
            return self._ping(on, command.split()[-1])
        return self._net_dev(on)

    def _by_address(self, address: str) -> str:
        for item in [*self.own_pods.values()]:
            if item["status"].get("podIP") == address:
                return item["spec"]["nodeName"]
        return next(n["metadata"]["name"] for n in self.nodes if n["status"]["addresses"][0]["address"] == address)

    def _probe_answer(self, on: str, command: str) -> str:
        lines = [
            "@bridge",
            "" if on in self.no_bridge else "1",
            "@resolv",
            "search x.svc.cluster.local svc.cluster.local",
        ]
        lines += [f"nameserver {self.resolver}", "options ndots:5", "@domain", "cluster.local"]
        if "@dns" in command:
            lines += ["@dns", "Server:\t\t10.96.0.10", "Address:\t10.96.0.10:53", ""]
            answer = ["Name:\tkubernetes.default.svc.cluster.local", "Address: 10.96.0.1"]
            lines += [";; connection timed out; no servers could be reached"] if on in self.dns_dead else answer
        for peer, address in re.findall(r"@http (\S+);.*http://([\d.]+):8080/", command):
            assert self._by_address(address) == peer
            dead = (on, peer) in self.no_http or (peer, on) in self.no_http
            lines += [f"@http {peer}", "wget: download timed out" if dead else peer]
        return "\n".join([*lines, "", "@end"]) + "\n"

    def _port_answer(self, on: str, command: str) -> str:
        lines = []
        for address, port in re.findall(r"@port (\S+) (\d+);", command):
            dead = (on, self._by_address(address), int(port)) in self.closed
            lines += [f"@port {address} {port}"]
            lines += ["wget: download timed out" if dead else "wget: server returned error: HTTP/1.0 400 Bad Request"]
        return "\n".join([*lines, "", "@end"])

    def _ping(self, on: str, address: str) -> str:
        other = self._by_address(address)
        here, there = (self._counters.setdefault(name, [500, 700]) for name in (on, other))
        here[1] += 5210
        if (on, other) not in self.no_udp:
            there[0] += 5210
            there[1] += 5210
            if (other, on) not in self.no_udp:
                here[0] += 5210
        return "5 packets transmitted"

    def _net_dev(self, on: str) -> str:
        received, sent = self._counters.setdefault(on, [500, 700])
        link = "" if on in self.no_link else f" flannel.1: {received} 9 0 0 0 0 0 0 {sent} 9 0 0 0 0 0 0\n"
        return f"Inter-|   Receive   |  Transmit\n    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n{link}"
