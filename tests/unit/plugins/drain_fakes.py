# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in memory with a node that is to leave it."""

from __future__ import annotations

import json
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError

Json = dict[str, t.Any]


def node(name: str = "gpu1", ready: str = "True", **labels: str) -> Json:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def pod(name: str, owner: str = "ReplicaSet", claim: str = "", gpu: bool = False, **labels: str) -> Json:
    owners = [{"kind": owner, "name": f"{name}-owner", "controller": True}] if owner else []
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}] if claim else []
    limits = {"nvidia.com/gpu": "1"} if gpu else {}
    return {
        "metadata": {
            "namespace": "team",
            "name": name,
            "uid": f"uid-{name}",
            "ownerReferences": owners,
            "labels": labels,
        },
        "spec": {
            "nodeName": "gpu1",
            "volumes": volumes,
            "containers": [{"name": "c", "resources": {"limits": limits}}],
        },
        "status": {"phase": "Running"},
    }


def volume(name: str, claim: str, *hosts: str) -> Json:
    rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}} if hosts else {}
    ref = {"namespace": "team", "name": claim}
    return {
        "metadata": {"name": name},
        "spec": {"claimRef": ref, "capacity": {"storage": "5Gi"}, "nodeAffinity": affinity},
    }


def disruption_budget(name: str, allowed: int = 0, **labels: str) -> Json:
    return {
        "metadata": {"namespace": "team", "name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


REFUSAL = {
    "message": "Cannot evict pod as it would violate the pod's disruption budget.",
    "details": {"causes": [{"message": "The disruption budget web needs 1 healthy pods and has 1 currently"}]},
}


class Leaving:
    """Evictions are granted and pods end at once, until a test says otherwise."""

    def __init__(self, *pods: Json, volumes: t.Sequence[Json] = ()) -> None:
        self.nodes = {"control1": node("control1", **{"node-role.kubernetes.io/control-plane": ""}), "gpu1": node()}
        self.pods = {item["metadata"]["uid"]: item for item in pods}
        self.volumes = list(volumes)
        self.attachments: list[Json] = []
        self.budgets: list[Json] = []
        self.log: list[str] = []
        # Names of pods: how often their eviction is refused; those that are told to end and do not.
        self.refused: dict[str, float] = {}
        self.lingering: set[str] = set()
        self.registers_again = False

    def request(self, method: str, path: str, body: Json | None = None) -> tuple[int, str]:
        name = path.split("/")[6]
        self.log.append(f"evict {name}")
        assert body is not None
        assert body["kind"] == "Eviction"
        if self.refused.get(name, 0) > 0:
            self.refused[name] -= 1
            return 429, json.dumps(REFUSAL)
        return self._end(body["deleteOptions"]["preconditions"]["uid"])

    def _end(self, uid: str) -> tuple[int, str]:
        item = self.pods.get(uid)
        if item is None:
            return 404, "{}"
        if item["metadata"]["name"] in self.lingering:
            item["metadata"]["deletionTimestamp"] = "2026-11-30T00:00:00Z"
        else:
            del self.pods[uid]
        return 201, "{}"

    def get(self, path: str) -> Json:
        name = path.rsplit("/", 1)[1]
        if name not in self.nodes:
            raise ApiError(404, f'nodes "{name}" not found')
        return json.loads(json.dumps(self.nodes[name]))

    def items(self, path: str) -> list[Json]:
        kind = path.split("?")[0].rsplit("/", 1)[1]
        found = {
            "nodes": self.nodes.values(),
            "pods": self.pods.values(),
            "persistentvolumes": self.volumes,
            "volumeattachments": self.attachments,
            "poddisruptionbudgets": self.budgets,
        }[kind]
        return json.loads(json.dumps(list(found)))

    def patch(self, path: str, body: Json) -> None:
        item = self.nodes[path.rsplit("/", 1)[1]]
        self.log.append(f"patch {json.dumps(body['spec'], sort_keys=True)}")
        item["spec"] = {key: value for key, value in {**item["spec"], **body["spec"]}.items() if value is not None}
        notes = {**item["metadata"].get("annotations", {}), **body.get("metadata", {}).get("annotations", {})}
        item["metadata"]["annotations"] = {key: value for key, value in notes.items() if value is not None}
        if any(taint["key"].endswith("out-of-service") for taint in item["spec"].get("taints", [])):
            self.pods = {uid: one for uid, one in self.pods.items() if one["metadata"]["ownerReferences"][:1] == []}
            self.attachments = []

    def delete(self, path: str, preconditions: Json) -> None:
        kind, name = path.split("/")[-2:]
        self.log.append(f"delete {name}")
        if kind == "pods":
            self.lingering.discard(name)
            self._end(preconditions["uid"])
            return
        assert preconditions == {"uid": self.nodes[name]["metadata"]["uid"]}
        item = self.nodes.pop(name)
        if self.registers_again:
            self.nodes[name] = {**item, "metadata": {**item["metadata"], "uid": "new"}}
