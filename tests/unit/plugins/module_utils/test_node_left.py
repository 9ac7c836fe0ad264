# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.module_utils import _node_left as left
from ansible_collections.gshare.cluster.tests.unit.plugins.drain_fakes import node

OWN = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
CONTROL = {"node-role.kubernetes.io/control-plane": ""}


def test_taints_of_others_stay() -> None:
    item = node()
    item["spec"]["taints"] = [{"key": "mine", "effect": "NoSchedule"}]
    wanted = [*item["spec"]["taints"], OWN]
    assert left.out_of_service(item) == {"spec": {"taints": wanted}}
    item["spec"]["taints"] = wanted
    assert left.out_of_service(item) == {"spec": {"taints": wanted}}


def test_one_of_two_control_planes_may_go() -> None:
    nodes = [node("a", **CONTROL), node("b")]
    assert left.last_control_plane(nodes, "a")
    assert not left.last_control_plane(nodes, "b")
    assert not left.last_control_plane([*nodes, node("c", **CONTROL)], "a")
