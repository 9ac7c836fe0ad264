# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.action import containerd_config_info

FILE = "/etc/containerd/config.toml"
TEXT = "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = true\n"
FACTS = {
    "changed": False,
    "installed": True,
    "path": FILE,
    "program": "/usr/bin/containerd",
    "version": "2.2.1",
    "service_state": "active",
    "content": TEXT,
    "drop_ins": {},
    "idle": [],
    "service": "containerd",
    "stranger": "",
    "dump": TEXT,
    "dump_problem": "",
}


def _act(monkeypatch: pytest.MonkeyPatch, **facts: t.Any) -> dict[str, t.Any]:
    plugin = containerd_config_info.ActionModule.__new__(containerd_config_info.ActionModule)
    plugin._task = types.SimpleNamespace(args={}, check_mode=False, async_val=0)
    monkeypatch.setattr(plugin, "_execute_module", lambda **_args: {**FACTS, **facts})
    monkeypatch.setattr(containerd_config_info.ActionBase, "run", lambda self, tmp, task_vars: {})
    return plugin.run(None, {})


def test_info(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _act(monkeypatch)
    assert (result["schema"], result["version"], result["files"]) == (3, "2.2.1", [FILE])
    assert {"setting": "runtime.enable_cdi", "value": True, "file": FILE, "line": 3} in result["settings"]
    assert result["findings"] == []
    assert "content" not in result  # it may hold passwords


def test_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _act(
        monkeypatch, content=f"wrong = 1\n{TEXT}", idle=["/etc/containerd/config.d/x.toml"], stranger="process 812"
    )
    assert [(row["name"], row["file"], row["line"]) for row in result["findings"]] == [
        ("unknown_key", FILE, 1),
        ("not_imported", "/etc/containerd/config.d/x.toml", None),
        ("other_daemon", FILE, None),
    ]


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _act(monkeypatch, installed=False)["installed"] is False


def test_a_file_that_is_not_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _act(monkeypatch, content="a = \n", dump="", dump_problem="toml: expected value")
    assert "line 1: not valid TOML" in result["problem"]


def test_containerd_cannot_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _act(monkeypatch, dump="", dump_problem="unsupported config version")
    assert (result["problem"], result["settings"]) == ("unsupported config version", [])
