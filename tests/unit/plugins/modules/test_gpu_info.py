# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

from ansible_collections.gshare.cluster.plugins.modules import gpu_info

RunModule = t.Callable[..., dict[str, t.Any]]


def test_it_reports_and_changes_nothing(run_module: RunModule, tmp_path: pathlib.Path, monkeypatch: t.Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run_module(functools.partial(gpu_info.main, str(tmp_path)), {"driver": "skip"}, check=True)
    assert result["changed"] is False
    assert result["repair"] == "person"
    assert result["problems"] == ["There is no NVIDIA card on the PCI bus."]
    assert not set(result) & {"booted", "module_time", "smi_timeout", "driver"}
