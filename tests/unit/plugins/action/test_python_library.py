# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import types
import typing as t

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.gshare.cluster.plugins.action import python_library
from ansible_collections.gshare.cluster.plugins.module_utils._file_tree import tree_hash
from ansible_collections.gshare.cluster.plugins.plugin_utils import _python_bundle as bundles

ARGS = {"name": ["demo"], "dest": "/usr/local/lib/gshare/python"}


class Connection:
    """Knows one temporary folder on the machine."""

    def __init__(self) -> None:
        self._shell = types.SimpleNamespace(tmpdir="/remote/tmp", join_path=lambda *parts: "/".join(parts))


@pytest.fixture
def bundle(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> bundles.Bundle:
    (tmp_path / "demo.py").write_text("1\n")
    result = bundles.Bundle({"demo.py": str(tmp_path / "demo.py")}, {"demo": "1.0"}, "3.9", "demo")
    monkeypatch.setattr(bundles, "collect", lambda names: result)
    return result


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., t.Any]:
    """Runs the plugin against a machine that answers as told; the calls of the module and the copies are returned."""

    def run(*answers: dict[str, t.Any], check_mode: bool = False) -> tuple[dict[str, t.Any], list[t.Any], list[str]]:
        plugin = python_library.ActionModule.__new__(python_library.ActionModule)
        plugin._task = types.SimpleNamespace(args=dict(ARGS), check_mode=check_mode, async_val=0)
        plugin._connection = Connection()
        calls: list[t.Any] = []
        copies: list[str] = []
        left = list(answers)

        def execute(module_name: str, module_args: dict[str, t.Any], task_vars: t.Any) -> dict[str, t.Any]:
            calls.append(module_args)
            return left.pop(0)

        monkeypatch.setattr(plugin, "_execute_module", execute)
        monkeypatch.setattr(plugin, "_transfer_file", lambda local, remote: copies.append(remote))
        monkeypatch.setattr(plugin, "_fixup_perms2", lambda paths: None)
        monkeypatch.setattr(plugin, "_remove_tmp_path", lambda path: None)
        monkeypatch.setattr(python_library.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, {}), calls, copies

    return run


def test_nothing_is_sent_to_a_machine_that_has_it(bundle: bundles.Bundle, act: t.Any) -> None:
    result, calls, copies = act({"changed": False})
    assert result == {"changed": False, "versions": {"demo": "1.0"}}
    assert copies == []
    assert calls == [
        {**ARGS, "tree": tree_hash(bundle.files), "minimum_python": "3.9", "needs_newest": "demo"},
    ]


def test_what_is_missing_is_sent_and_unpacked(bundle: bundles.Bundle, act: t.Any) -> None:
    result, calls, copies = act({"changed": True}, {"changed": True})
    assert result["changed"]
    assert copies == ["/remote/tmp/library.tar.gz"]
    assert calls[1]["src"] == copies[0]


@pytest.mark.parametrize("answer", [{"changed": True, "failed": True, "msg": "x"}, {"changed": False, "failed": True}])
def test_a_failure_is_passed_on(bundle: bundles.Bundle, act: t.Any, answer: dict[str, t.Any]) -> None:
    result, _unused, copies = act(answer)
    assert result["failed"]
    assert copies == []


def test_check_mode_sends_nothing(bundle: bundles.Bundle, act: t.Any) -> None:
    result, _unused, copies = act({"changed": True}, check_mode=True)
    assert result["changed"]
    assert copies == []


def test_a_controller_without_the_package(act: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(names: list[str]) -> t.NoReturn:
        raise bundles.BundleError("demo is missing on the controller")

    monkeypatch.setattr(bundles, "collect", collect)
    with pytest.raises(AnsibleActionFail, match="missing on the controller"):
        act()
