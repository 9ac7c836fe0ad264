# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.modules import gpu_leftovers, gpu_sharing_info
from ansible_collections.gshare.cluster.tests.unit.plugins.chart_fakes import FakeApi, release

Json = dict[str, t.Any]
WORKERS = [{"host": "gpu-1", "address": "192.0.2.11", "labels": {"gpu": "on"}}]
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hami-scheduler"
CARD = '[{"id": "GPU-1", "count": 10, "devmem": 40960, "health": true}]'


def cluster() -> FakeApi:
    """One GPU worker whose card HAMi hands out."""
    api = FakeApi()
    node = {
        "metadata": {
            "name": "gpu1",
            "labels": {"gpu": "on"},
            "annotations": {"hami.io/node-nvidia-register": CARD, "other": "x"},
        },
        "status": {
            "addresses": [{"type": "InternalIP", "address": "192.0.2.11"}],
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": {"nvidia.com/gpu": "10"},
        },
    }
    daemonset = {
        "metadata": {
            "namespace": "kube-system",
            "name": "hami-device-plugin",
            "annotations": {"meta.helm.sh/release-name": "hami"},
        },
        "spec": {
            "template": {
                "spec": {
                    "nodeSelector": {"gpu": "on"},
                    "containers": [{"name": "device-plugin", "image": "projecthami/hami"}],
                }
            }
        },
        "status": {"desiredNumberScheduled": 1},
    }
    api.lists = {
        "/api/v1/nodes": [node],
        "/apis/apps/v1/daemonsets": [daemonset],
        "/api/v1/secrets": [release("hami", "2.10.0", {})],
    }
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    api.objects[LEASE] = {"spec": {"holderIdentity": "one", "renewTime": moment}}
    return api


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = cluster()
    for module in (gpu_sharing_info, gpu_leftovers):
        monkeypatch.setattr(module, "connect", lambda _module: fake)
    monkeypatch.setattr(gpu_sharing_info, "PAUSE", 0)
    return fake


RunModule = t.Callable[..., Json]


def test_a_look(api: FakeApi, run_module: RunModule) -> None:
    result = run_module(gpu_sharing_info.main, {"kind": "hami", "workers": WORKERS})
    assert result == {
        "changed": False,
        "remove": [],
        "nodes": {"192.0.2.11": "gpu1"},
        "scheduler_tag": "v1.36.3",
    }
    assert run_module(gpu_sharing_info.main, {"kind": "nvidia", "workers": WORKERS})["remove"] == ["hami"]


def test_waiting_ends_when_all_cards_are_handed_out(api: FakeApi, run_module: RunModule) -> None:
    wish = {"kind": "hami", "workers": WORKERS, "split": 10, "timeout": 5}
    assert "failed" not in run_module(gpu_sharing_info.main, wish)


def test_what_is_lacking_is_told(api: FakeApi, run_module: RunModule) -> None:
    wish = {"kind": "hami", "workers": WORKERS, "split": 5, "timeout": 1}
    result = run_module(gpu_sharing_info.main, wish)
    assert result["failed"]
    assert "gpu1 offers 10 nvidia.com/gpu, wanted is 5" in result["msg"]
    assert "failed" not in run_module(gpu_sharing_info.main, wish, check=True)


def test_a_foreign_plugin_ends_the_run(api: FakeApi, run_module: RunModule) -> None:
    api.lists["/apis/apps/v1/daemonsets"][0]["metadata"]["annotations"] = {}
    result = run_module(gpu_sharing_info.main, {"kind": "hami", "workers": WORKERS})
    assert "DaemonSet kube-system/hami-device-plugin) is there already" in result["msg"]


def test_what_hami_leaves_is_taken_away(api: FakeApi, run_module: RunModule) -> None:
    wanted = ["annotation hami.io/node-nvidia-register of node gpu1", "lease hami-scheduler"]
    assert run_module(gpu_leftovers.main, {"kind": "hami"}, check=True)["removed"] == wanted
    assert (api.patched, api.deleted) == ({}, [])
    api.lists["/api/v1/nodes"].append({"metadata": {"name": "cpu1"}})
    result = run_module(gpu_leftovers.main, {"kind": "hami"})
    assert (result["changed"], result["removed"]) == (True, wanted)
    assert api.patched == {"/api/v1/nodes/gpu1": {"metadata": {"annotations": {"hami.io/node-nvidia-register": None}}}}
    assert api.deleted == [LEASE]


def test_nothing_is_left(api: FakeApi, run_module: RunModule) -> None:
    result = run_module(gpu_leftovers.main, {"kind": "nvidia"})
    assert (result["changed"], result["removed"]) == (False, [])


def test_who_may_not_look_is_told(api: FakeApi, run_module: RunModule, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> Json:
        raise ApiError(403, f"{path} is forbidden")

    monkeypatch.setattr(api, "get", refuse)
    result = run_module(gpu_leftovers.main, {"kind": "hami"})
    assert "What hami has left cannot be taken away: " in result["msg"]
    assert api.deleted == []


def test_the_secret_of_the_webhook_goes_too(api: FakeApi, run_module: RunModule) -> None:
    api.objects["/api/v1/namespaces/gpu/secrets/hami-scheduler-tls"] = {}
    result = run_module(gpu_leftovers.main, {"kind": "hami", "namespace": "gpu"})
    assert result["removed"][1:] == ["secret hami-scheduler-tls"]
    assert result["diff"]["before"].splitlines() == result["removed"]
