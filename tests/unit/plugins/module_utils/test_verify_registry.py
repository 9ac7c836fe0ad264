# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_registry as registry
from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import RegistryError
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Snapshot,
    Traffic,
)

ACCESS = (
    '192.0.2.11 - - [01/Dec/2026:03:50:18 +0000] "HEAD /v2/library/busybox/manifests/1?ns=docker.io HTTP/1.1" 200 9\n'
    'time="2026-12-01T03:50:18Z" level=info msg="response completed" http.request.remoteaddr="192.0.2.12:1"\n'
    '10.244.0.1 - - [01/Dec/2026:03:50:18 +0000] "GET /v2/library/busybox/manifests/sha256:ab HTTP/1.1" 200 9\n'
    '192.0.2.12 - - [01/Dec/2026:03:50:18 +0000] "GET /v2/library/debian/manifests/12 HTTP/1.1" 200 9\n'
    '- - - [01/Dec/2026:03:50:18 +0000] "GET /v2/library/busybox/manifests/1.37.0 HTTP/1.1" 200 9\n'
)


def node(number: int) -> Json:
    return {
        "metadata": {"name": f"n{number}"},
        "spec": {"podCIDRs": [f"10.244.{number}.0/24"]},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": f"192.0.2.1{number}"}],
            "nodeInfo": {"architecture": "amd64"},
        },
    }


class FakeRun:
    """A cluster that pulls what it is told to pull, and a registry without a network."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.api = self
        self.namespace = "gshare-verify-abc"
        self.image = "docker.io/library/busybox:1.37.0"
        self.timeout = 0.0
        self.traffic = Traffic()
        self.pods: dict[str, Json] = {}
        self.broken: dict[str, str] = {}
        self.log: str | None = ACCESS
        self.catalog: list[str] = []
        self.refused = ""
        self.there: set[str] = set()
        run = self

        class Fake:
            def __init__(self, *arguments: t.Any) -> None:
                pass

            def push(self, repository: str, tag: str, _image: t.Any) -> str:
                if run.refused:
                    raise RegistryError(run.refused)
                run.there.add(f"{repository}:{tag}")
                return "sha256:1"

            def delete(self, repository: str, _manifest: str) -> None:
                run.there.clear()

            def repositories(self) -> list[str]:
                return run.catalog

        monkeypatch.setattr(registry, "Registry", Fake)
        clock = iter(range(10_000))
        monkeypatch.setattr(registry.time, "monotonic", lambda: float(next(clock)))
        monkeypatch.setattr(registry.time, "sleep", lambda _seconds: None)

    def create_pod(self, body: Json, query: str = "") -> Json:
        self.pods[body["metadata"]["name"]] = body
        return body

    def list_pods(self, app: str) -> list[Json]:
        found = []
        for name, body in self.pods.items():
            if body["metadata"]["labels"]["app"] != app:
                continue
            status: Json = {"imageID": "sha256:2"}
            if body["spec"]["nodeName"] in self.broken:
                status = {"state": {"waiting": {"reason": "ErrImagePull"}}}
            found.append({**body, "status": {"containerStatuses": [status]}, "metadata": {"name": name}})
        return found

    def reason(self, pod: Json) -> tuple[str, str]:
        return self.broken[pod["spec"]["nodeName"]], ""

    def items(self, path: str) -> list[Json]:
        assert path.startswith("/api/v1/namespaces/gshare-registry/pods?labelSelector=")
        return [{"metadata": {"name": "mirror-1"}}] if self.log is not None else []

    def request(self, method: str, path: str) -> tuple[int, str]:
        assert path.startswith("/api/v1/namespaces/gshare-registry/pods/mirror-1/log?sinceSeconds=")
        return 200, self.log or ""


WANTED = Expectation(
    registry={"address": "192.0.2.40:5000", "mirror": "192.0.2.40:5001", "namespace": "gshare-registry"}
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> FakeRun:
    return FakeRun(monkeypatch)


def tried(run: FakeRun, nodes: int = 2) -> tuple[Check, Check]:
    snapshot = Snapshot(nodes=[node(number) for number in range(nodes)], traffic=run.traffic)
    part = registry.RegistryPart(WANTED)
    part.start(run, snapshot)
    part.begin(run, snapshot)
    part.finish(run, snapshot)
    return registry.check_registry(snapshot, WANTED), registry.check_registry_mirror(snapshot, WANTED)


def test_all_is_well_and_the_image_is_gone_again(run: FakeRun) -> None:
    # n0 serves the mirror and asks it from its end of the pod network.
    lan, mirror = tried(run)
    assert (lan.status, lan.detail) == ("ok", "an image pushed to 192.0.2.40:5000 was pulled by 2 nodes")
    assert (mirror.status, mirror.detail) == (
        "ok",
        "2 nodes pulled through 192.0.2.40:5001, as its log says",
    )
    assert run.pods["registry-0"]["spec"]["containers"][0]["image"] == ("192.0.2.40:5000/gshare-verify/probe:abc")
    assert {pod["spec"]["containers"][0]["imagePullPolicy"] for pod in run.pods.values()} == {"Always"}
    assert run.there == set()


def test_who_asks_for_another_image_or_in_another_line_is_no_caller() -> None:
    assert registry.callers(ACCESS, "library/busybox") == {"192.0.2.11", "10.244.0.1"}


def test_a_node_that_pulls_past_the_mirror_is_named(run: FakeRun) -> None:
    _lan, mirror = tried(run, nodes=3)
    assert mirror.status == "failed"
    assert mirror.detail == "n2 pulled an image of Docker Hub past the mirror 192.0.2.40:5001"
    assert "certs.d/docker.io/hosts.toml: ansible-playbook gshare.cluster.registry" in mirror.remedy


def test_a_node_that_cannot_pull_is_named_with_the_reason(run: FakeRun) -> None:
    run.broken["n1"] = "ErrImagePull: http: server gave HTTP response to HTTPS client"
    lan, mirror = tried(run)
    reason = "ErrImagePull: http: server gave HTTP response to HTTPS client"
    assert lan.detail == f"n1 cannot pull an image of 192.0.2.40:5000: {reason}"
    assert mirror.detail == f"n1 cannot pull an image of Docker Hub: {reason}"
    run.broken["n0"] = run.broken["n1"]
    assert tried(run)[0].detail == f"no node can pull an image of 192.0.2.40:5000: {reason}"


def test_a_registry_that_does_not_answer(run: FakeRun) -> None:
    run.refused = "[Errno 111] Connection refused"
    lan, _mirror = tried(run)
    assert lan.status == "failed"
    assert lan.detail == "no image can be pushed to 192.0.2.40:5000: [Errno 111] Connection refused"
    assert lan.remedy == "See kubectl -n gshare-registry get pods; ansible-playbook gshare.cluster.registry"


def test_a_registry_that_lets_nobody_push_is_not_tried(run: FakeRun) -> None:
    run.refused = "POST /v2/gshare-verify/probe/blobs/uploads/: 401 Unauthorized"
    lan, _mirror = tried(run)
    assert lan.status == "skipped"
    assert "lets nobody push without an account" in lan.detail


def test_somebody_elses_mirror_shows_its_catalog(run: FakeRun) -> None:
    run.log, run.catalog = None, ["library/busybox"]
    assert tried(run)[1].detail == "2 nodes pulled through 192.0.2.40:5001, as its catalog says"
    run.catalog = []
    assert "its catalog does not have the image" in tried(run)[1].detail


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("docker.io/library/busybox:1.37.0", "library/busybox"),
        ("docker.io/busybox:1", "library/busybox"),
        ("docker.io/team/x@sha256:" + "a" * 64, "team/x"),
        ("registry.example.net/library/busybox:1", ""),
    ],
)
def test_an_image_is_looked_for_as_docker_hub_calls_it(run: FakeRun, image: str, repository: str) -> None:
    run.image = image
    run.log = f'192.0.2.10 - - [x] "HEAD /v2/{repository}/manifests/1 HTTP/1.1" 200 9\n'
    assert tried(run, nodes=1)[1].status == ("ok" if repository else "skipped")
