# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import gzip
import json
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _chart as charts

Json = dict[str, t.Any]
MANIFEST = """\
---
# Source: hami/templates/scheduler.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: hami-scheduler
  labels:
    name: other
spec: {}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  labels: {a: b}
  name: "hami-device-plugin"
---
kind: Service
metadata:
  name: hami-scheduler
"""
WISH = {"release": "hami", "chart": "hami", "version": "2.10.0", "values": {"a": {"b": 1}}}


def secret(revision: int = 1, status: str = "deployed", packed: bool = True, **more: t.Any) -> Json:
    data = {
        "version": revision,
        "info": {"status": status},
        "chart": {"metadata": {"name": "hami", "version": "2.10.0"}},
        "config": {"a": {"b": 1}},
        "manifest": MANIFEST,
        **more,
    }
    text = json.dumps(data).encode()
    inner = base64.b64encode(gzip.compress(text) if packed else text)
    name = f"sh.helm.release.v1.hami.v{revision}"
    return {"metadata": {"name": name}, "data": {"release": base64.b64encode(inner).decode()}}


@pytest.mark.parametrize("packed", [True, False])
def test_a_revision(packed: bool) -> None:
    found = charts.decode(secret(3, packed=packed))
    assert (found.revision, found.status, found.chart, found.version) == (3, "deployed", "hami", "2.10.0")
    assert found.values == {"a": {"b": 1}}


def test_the_last_finished_revision_counts() -> None:
    found = [
        charts.decode(secret(1, "superseded")),
        charts.decode(secret(3, "failed")),
        charts.decode(secret(2, "deployed")),
        charts.decode(secret(4, "pending-upgrade")),
    ]
    newest = charts.newest(found)
    assert newest is not None
    assert newest.revision == 3
    assert [one.revision for one in found if one.pending] == [4]
    assert charts.newest([charts.decode(secret(1, "uninstalled"))]) is None


def test_what_to_do() -> None:
    there = charts.decode(secret())
    assert charts.change(there, WISH) == ("nothing", [])
    assert charts.change(None, WISH)[0] == "install"
    assert charts.change(there, WISH, ["DaemonSet hami-device-plugin"]) == (
        "repair",
        ["DaemonSet hami-device-plugin is gone"],
    )
    assert charts.change(there, {**WISH, "version": "2.11.0"}) == (
        "upgrade",
        ["chart hami 2.10.0 instead of hami 2.11.0"],
    )
    assert charts.change(there, {**WISH, "values": {"a": {"b": 2}}}) == ("upgrade", ["a.b: 1 instead of 2"])
    failed = charts.decode(secret(status="failed"))
    assert charts.change(failed, WISH) == ("upgrade", ["the last upgrade ended as failed"])


@pytest.mark.parametrize(
    ("have", "want", "lines"),
    [
        ({}, {"a": {}}, []),
        ({"a": None}, {}, []),
        ({"a": 0}, {}, ["a: 0 instead of null"]),
        ({"a": False}, {"a": True}, ["a: false instead of true"]),
        ({"a": [1]}, {"a": [1]}, []),
        ({"a": "1"}, {"a": 1}, ['a: "1" instead of 1']),
        ({"a": {"b": 1}}, {"a": 2}, ['a: {"b": 1} instead of 2']),
        ({"a": "x"}, {}, ['a: "x" instead of null']),
        ({}, {"a": "x"}, ['a: null instead of "x"']),
        ({}, {"a": False}, ["a: null instead of false"]),
    ],
)
def test_values_that_differ(have: Json, want: Json, lines: list[str]) -> None:
    assert charts.differences(have, want) == lines


def test_whose_release_it_is() -> None:
    mark = {"global": {"labels": {"x/y": "z"}}}
    assert charts.holds({"global": {"labels": {"x/y": "z", "a": "b"}}, "c": 1}, mark)
    assert not charts.holds({"global": {"labels": {}}}, mark)
    assert not charts.holds({}, mark)
    assert charts.holds({}, {})


def test_workloads_that_are_gone() -> None:
    wanted = [("Deployment", "hami-scheduler"), ("DaemonSet", "hami-device-plugin")]
    assert charts.workloads(MANIFEST) == wanted
    there = [{"kind": "Deployment", "metadata": {"name": "hami-scheduler"}}]
    assert charts.missing(charts.decode(secret()), there) == ["DaemonSet hami-device-plugin"]
    assert charts.missing(None, []) == []
    assert charts.workloads("kind: Deployment\nmetadata:\n  name: web") == [("Deployment", "web")]


def service(namespace: str, name: str, port: int, release: str = "") -> Json:
    notes = dict(zip(("meta.helm.sh/release-namespace", "meta.helm.sh/release-name"), release.split("/")))
    return {
        "metadata": {"namespace": namespace, "name": name, "annotations": notes if release else {}},
        "spec": {"ports": [{"nodePort": port}, {"port": 80}]},
    }


def test_case_119_a_port_that_somebody_has() -> None:
    services = [
        service("team", "web", 30080),
        service("other", "edge", 30443, "other/edge"),
        service("ingress-nginx", "ingress-nginx-controller", 30080, "ingress-nginx/ingress-nginx"),
        service("team", "db", 30999),
    ]
    assert charts.port_owners(services, [30080, 30443], ["ingress-nginx/ingress-nginx"]) == [
        "NodePort 30080 belongs to Service team/web",
        "NodePort 30443 belongs to Service other/edge of the release other/edge",
    ]


def test_the_port_of_a_health_check_is_taken_too() -> None:
    taken = service("team", "web", 30999)
    taken["spec"]["healthCheckNodePort"] = 30080
    assert charts.port_owners([taken], [30080], []) == ["NodePort 30080 belongs to Service team/web"]
