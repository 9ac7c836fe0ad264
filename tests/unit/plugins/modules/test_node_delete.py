# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import node_delete
from ansible_collections.gshare.cluster.tests.unit.plugins.drain_fakes import Json, Leaving, pod, volume
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import stop_clock

Deleted = t.Callable[..., Json]


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch, run_module: t.Callable[..., Json]) -> Deleted:
    def run(api: Leaving, node: str = "gpu1", *, check: bool = False, **args: t.Any) -> Json:
        monkeypatch.setattr(node_delete, "connect", lambda module: api)
        stop_clock(monkeypatch, (node_delete,), 1)
        return run_module(node_delete.main, {"node": node, **args}, check=check, diff=True)

    return run


def off(api: Leaving) -> Leaving:
    api.nodes["gpu1"]["status"]["conditions"][0]["status"] = "Unknown"
    return api


def test_check_mode_run_and_second_run(deleted: Deleted) -> None:
    api = Leaving()
    predicted = deleted(api, check=True)
    assert "gpu1" in api.nodes
    done = deleted(api)
    assert (predicted["changed"], predicted["diff"]) == (done["changed"], done["diff"]) == (True, done["diff"])
    assert list(api.nodes) == ["control1"]
    assert not deleted(api)["changed"]


def test_the_last_control_plane_is_refused(deleted: Deleted) -> None:
    api = Leaving()
    assert "control1 is the last control plane" in deleted(api, "control1")["msg"]
    assert "control1" in api.nodes


def test_case_90_a_machine_that_is_off(deleted: Deleted) -> None:
    api = off(Leaving(pod("web-1"), pod("flannel-1", owner="DaemonSet")))
    api.attachments = [{"metadata": {"name": "csi-1"}, "spec": {"nodeName": "gpu1"}}]
    result = deleted(api, out_of_service=True)
    assert result["left"] == []
    assert "node.kubernetes.io/out-of-service" in api.log[0]
    assert api.log[-1] == "delete gpu1"


def test_a_machine_that_says_it_is_well_is_not_declared_off(deleted: Deleted) -> None:
    api = Leaving(pod("web-1"))
    result = deleted(api, out_of_service=True)
    assert "gpu1 is Ready, so its machine is not off and its pods run: nothing was changed." in result["msg"]
    assert api.log == []


def test_case_92_a_node_that_comes_back(deleted: Deleted) -> None:
    api = Leaving()
    api.registers_again = True
    result = deleted(api)
    assert "gpu1 has registered again after it was deleted: its kubelet still runs." in result["msg"]


def test_case_93_what_is_left_is_told_and_not_touched(deleted: Deleted) -> None:
    api = Leaving(volumes=[volume("pv-1", "data", "gpu1"), volume("pv-2", "net")])
    api.attachments = [{"metadata": {"name": f"csi-{name}"}, "spec": {"nodeName": name}} for name in ("gpu1", "cpu1")]
    left = deleted(api)["left"]
    assert len(left) == 2
    assert "VolumeAttachment csi-gpu1 still names gpu1" in left[0]
    assert "claim team/data is bound to a volume of gpu1" in left[1]
    assert len(api.attachments) == 2
