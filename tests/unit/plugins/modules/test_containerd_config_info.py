# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import shutil
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _containerd_node
from ansible_collections.gshare.cluster.plugins.modules import containerd_config_info

FAKES = Path(__file__).parent / "fixtures" / "containerd_fake"


def test_info_only_looks(
    run_module: t.Callable[..., dict[str, t.Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    shutil.copytree(FAKES, programs)
    file = tmp_path / "config.toml"
    file.write_text("version = 4\n")
    (programs / "state").write_text(f"state=active\ninvocation=1\nstarted=\nconfig={file}\n")
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setattr(_containerd_node, "RECORDS", str(tmp_path / "run"))
    monkeypatch.setattr(_containerd_node, "SOCKET", str(tmp_path / "no.sock"))
    result = run_module(containerd_config_info.main, {"path": str(file)})
    assert result["installed"]
    assert (result["content"], result["dump"], result["version"]) == ("version = 4\n", "version = 4\n", "2.3.7")
    assert result["service_state"] == "active"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "config.toml"]
