# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API of paths and lists, for modules that look at releases and at cards."""

from __future__ import annotations

import base64
import gzip
import json
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError

Json = dict[str, t.Any]


class FakeApi:
    def __init__(self) -> None:
        self.lists: dict[str, list[Json]] = {}
        self.objects: dict[str, Json] = {"/version": {"gitVersion": "v1.36.3"}}
        self.deleted: list[str] = []
        self.patched: dict[str, Json] = {}

    def items(self, path: str) -> list[Json]:
        return self.lists.get(path.partition("?")[0], [])

    def get(self, path: str) -> Json:
        if path not in self.objects:
            raise ApiError(404, f"{path} not found")
        return self.objects[path]

    def delete(self, path: str) -> None:
        self.deleted.append(path)
        self.objects.pop(path, None)
        folder, _slash, name = path.rpartition("/")
        self.lists[folder] = [item for item in self.items(folder) if item["metadata"]["name"] != name]

    def patch(self, path: str, body: Json) -> Json:
        self.patched[path] = body
        return {}


def release(name: str, version: str, values: Json, revision: int = 1, status: str = "deployed", **more: t.Any) -> Json:
    """A revision of a release, as helm keeps it."""
    data = {
        "version": revision,
        "info": {"status": status},
        "chart": {"metadata": {"name": name, "version": version}},
        "config": values,
        **more,
    }
    packed = base64.b64encode(gzip.compress(json.dumps(data).encode()))
    return {
        "metadata": {"name": f"sh.helm.release.v1.{name}.v{revision}", "labels": {"owner": "helm", "name": name}},
        "data": {"release": base64.b64encode(packed).decode()},
    }
