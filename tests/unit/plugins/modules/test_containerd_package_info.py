# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.modules import containerd_package_info

POLICY = "containerd:\n  Installed: (none)\n  Candidate: {candidate}\n"


@pytest.mark.parametrize(("candidate", "source"), [("1.7.24", "distribution"), ("1.6.20", "docker")])
def test_info(
    run_module: t.Callable[..., dict[str, t.Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    candidate: str,
    source: str,
) -> None:
    program = tmp_path / "apt-cache"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{POLICY.format(candidate=candidate)}END\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    release = tmp_path / "os-release"
    release.write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    (tmp_path / "x_Packages").touch()
    monkeypatch.setattr(containerd_package_info, "OS_RELEASE", str(release))
    monkeypatch.setattr(containerd_package_info, "LISTS", str(tmp_path / "*Packages*"))
    result = run_module(containerd_package_info.main, {"repository_file": str(tmp_path / "absent")}, check=True)
    assert (result["source"], result["distribution"], result["codename"]) == (source, "debian", "bookworm")
    assert result["changed"] is False
