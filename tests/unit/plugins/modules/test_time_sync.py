# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.modules import time_sync


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    found: list[list[str]] = []

    def run_command(_module: AnsibleModule, args: list[str], **_options: object) -> tuple[int, str, str]:
        found.append(args)
        return (1, "", "Unit is broken.") if "ntpsec.service" in args else (0, "", "")

    monkeypatch.setattr(AnsibleModule, "run_command", run_command)
    return found


def unit(root: Path, name: str, *, running: str = "") -> None:
    for path in [f"usr/lib/systemd/system/{name}", *([f"etc/systemd/system/x.wants/{name}"] if running else [])]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    if running:
        (root / "proc/7").mkdir(parents=True)
        (root / "proc/7/comm").write_text(running + "\n")


def main(root: Path) -> t.Callable[[], None]:
    return functools.partial(time_sync.main, str(root))


def test_no_service_names_the_package(tmp_path: Path, commands: list[list[str]], run_module: t.Any) -> None:
    result = run_module(main(tmp_path), {"package": "chrony"})
    assert (result["changed"], result["service"], result["packages"]) == (False, "", ["chrony"])
    assert commands == []


def test_a_running_service_is_left_alone(tmp_path: Path, commands: list[list[str]], run_module: t.Any) -> None:
    unit(tmp_path, "chrony.service", running="chronyd")
    result = run_module(main(tmp_path), {})
    assert (result["changed"], result["service"], result["packages"]) == (False, "chrony.service", [])
    assert commands == []


@pytest.mark.parametrize("check", [True, False])
def test_a_stopped_service_is_started(
    tmp_path: Path, commands: list[list[str]], run_module: t.Any, check: bool
) -> None:
    unit(tmp_path, "chrony.service")
    result = run_module(main(tmp_path), {}, check=check)
    assert (result["changed"], result["packages"]) == (True, [])
    assert commands == ([] if check else [["systemctl", "enable", "--now", "chrony.service"]])


def test_a_service_that_does_not_start(tmp_path: Path, commands: list[list[str]], run_module: t.Any) -> None:
    unit(tmp_path, "ntpsec.service")
    result = run_module(main(tmp_path), {})
    assert result["msg"] == "The clock's service ntpsec.service cannot be started: Unit is broken."


def test_a_container_needs_none(tmp_path: Path, commands: list[list[str]], run_module: t.Any) -> None:
    (tmp_path / ".dockerenv").touch()
    result = run_module(main(tmp_path), {})
    assert (result["changed"], result["service"], result["packages"]) == (False, "outside", [])
