# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the pods of a node are sent away: by evictions, which honour disruption budgets.

All input and output goes through the client that is handed in.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import json
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError

Json = dict[str, t.Any]
_PAUSE = 2.0
# What pods that were deleted, since a budget would not let them go, get beyond their own grace period.
_LAST = 60.0


class Api(t.Protocol):
    """What is needed of the client."""

    def request(self, method: str, path: str, body: Json | None = None) -> tuple[int, str]: ...
    def items(self, path: str) -> list[Json]: ...
    def delete(self, path: str, **options: t.Any) -> None: ...


def pods_of(api: Api, node: str) -> list[Json]:
    return api.items(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")


class Drain:
    """Sends pods away; C(evicted) are the names of those that are gone."""

    def __init__(self, api: Api, node: str, pods: t.Iterable[Json]) -> None:
        self.api = api
        self.node = node
        self._left = {pod["metadata"]["uid"]: pod for pod in pods}
        # uid -> why it was not evicted.
        self._refused: dict[str, str] = {}
        self.evicted: list[str] = []

    def run(self, timeout: float, force: bool) -> list[str]:
        """Wait until all are gone; what is left, a sentence a pod."""
        if self._until_gone(time.monotonic() + timeout) or not force:
            return self._told()
        for uid in [uid for uid in self._left if uid in self._refused]:
            self.api.delete(self._path(self._left[uid]), preconditions={"uid": uid})
        self._until_gone(time.monotonic() + _LAST, evict=False)
        return self._told()

    def _until_gone(self, deadline: float, evict: bool = True) -> bool:
        while True:
            if evict:
                self._evict()
            self._look()
            if not self._left or time.monotonic() >= deadline:
                return not self._left
            time.sleep(_PAUSE)

    def _evict(self) -> None:
        """Ask for the eviction of all that have not been told to end."""
        budgets: list[Json] | None = None
        for uid, pod in self._left.items():
            if pod["metadata"].get("deletionTimestamp"):
                continue
            meta = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
            body = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": meta,
                "deleteOptions": {"preconditions": {"uid": uid}},
            }
            status, text = self.api.request("POST", f"{self._path(pod)}/eviction", body)
            self._refused.pop(uid, None)
            if status < 300 or status in (404, 409):
                continue  # gone, or another pod of that name by now
            if status != 429:
                raise ApiError(status, _parsed(text).get("message") or f"{drain.full_name(pod)}: {status}")
            if budgets is None:
                budgets = self.api.items("/apis/policy/v1/poddisruptionbudgets")
            self._refused[uid] = drain.budget(pod, _parsed(text), budgets)

    def _look(self) -> None:
        there = {pod["metadata"]["uid"]: pod for pod in pods_of(self.api, self.node)}
        for uid in [uid for uid in self._left if uid not in there]:
            self.evicted.append(drain.full_name(self._left.pop(uid)))
        self._left = {uid: there[uid] for uid in self._left}

    def _path(self, pod: Json) -> str:
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def _told(self) -> list[str]:
        return [
            f"pod {drain.full_name(pod)}: "
            + (
                drain.ending(pod)
                if pod["metadata"].get("deletionTimestamp")
                else self._refused.get(uid, "not gone yet")
            )
            for uid, pod in self._left.items()
        ]


def _parsed(text: str) -> Json:
    try:
        answer = json.loads(text)
    except ValueError:
        return {"message": text[:200]}
    return answer if isinstance(answer, dict) else {}
