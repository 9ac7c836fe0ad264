# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One way to apply objects, with the machine's answers made up."""

from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.action import manifest

OBJECTS = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}]
NO_NAMESPACE = {"failed": True, "msg": 'Failed to apply object: namespaces "a" not found'}
Act = t.Callable[..., tuple[dict[str, t.Any], dict[str, t.Any]]]


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Act:
    def run(answer: dict[str, t.Any], *, check: bool = False) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
        plugin = manifest.ActionModule.__new__(manifest.ActionModule)
        plugin._task = types.SimpleNamespace(args={"definition": OBJECTS}, check_mode=check, diff=False, async_val=0)
        asked: dict[str, t.Any] = {}

        def execute(**call: t.Any) -> dict[str, t.Any]:
            asked.update(call)
            return answer

        monkeypatch.setattr(plugin, "_execute_module", execute)
        monkeypatch.setattr(manifest.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, {}), asked

    return run


def test_the_server_applies_as_one_field_manager(act: Act) -> None:
    result, asked = act({"changed": True, "result": {}})
    assert result["changed"]
    assert asked["module_name"] == "kubernetes.core.k8s"
    assert asked["module_args"] == {
        "definition": OBJECTS,
        "kubeconfig": "/etc/kubernetes/admin.conf",
        "apply": True,
        "server_side_apply": {"field_manager": "gshare", "force_conflicts": True},
    }


def test_a_namespace_to_come_is_a_change_in_check_mode_only(act: Act) -> None:
    result, _asked = act(NO_NAMESPACE, check=True)
    assert (result["changed"], result.get("failed")) == (True, None)
    result, _asked = act(NO_NAMESPACE)
    assert result["failed"]


def test_other_failures_stay_failures(act: Act) -> None:
    result, _asked = act({"failed": True, "msg": "no connection"}, check=True)
    assert result == {"failed": True, "msg": "no connection"}
