# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import os
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.modules import swap_off

SWAPS = "Filename Type Size Used Priority\n/swap.img file 8 0 -2\n"
FSTAB = "UUID=0000-0001 / ext4 defaults 0 1\r\n/swap.img\tnone swap sw 0 0\n"


class Machine:
    """A root folder whose swap can be switched off."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commands: list[list[str]] = []
        self.refuses = ""
        self.main: t.Callable[[], None] = functools.partial(swap_off.main, str(root))

    def write(self, name: str, text: str) -> None:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def run_command(self, _module: AnsibleModule, args: list[str], **_options: object) -> tuple[int, str, str]:
        if args[0] in ("swapoff", "systemctl"):
            self.commands.append(args)
        if args[0] == "swapoff":
            if self.refuses:
                return 1, "", f"swapoff: {args[1]}: swapoff failed: {self.refuses}\n"
            self.write("/proc/swaps", "Filename Type Size Used Priority\n")
        return 0, "", ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(tmp_path)
    found.write("/etc/fstab", FSTAB)
    found.write("/proc/swaps", SWAPS)

    def run_command(module: AnsibleModule, args: t.Any, **options: t.Any) -> t.Any:
        return found.run_command(module, args, **options)

    monkeypatch.setattr(AnsibleModule, "run_command", run_command)
    return found


def test_off_now_and_after_a_reboot(machine: Machine, run_module: t.Any) -> None:
    machine.write("/run/systemd/generator.late/dev-sdb3.swap", "[Swap]\nWhat=/dev/sdb3\n")
    predicted = run_module(machine.main, {"backup": True}, check=True, diff=True)
    assert (machine.root / "etc/fstab").read_bytes() == FSTAB.encode()
    assert machine.commands == []

    result = run_module(machine.main, {"backup": True}, diff=True)
    assert result["changed"] is predicted["changed"] is True
    assert result["diff"] == predicted["diff"]
    assert result["switched_off"] == ["/swap.img"]
    assert machine.commands == [["swapoff", "/swap.img"]]
    assert (machine.root / "etc/fstab").read_bytes() == FSTAB.replace("/swap.img", "# /swap.img").encode()
    assert Path(result["backup_file"]).read_bytes() == FSTAB.encode()
    for name in ("dev-sdb3.swap", "swap.target"):
        assert os.readlink(machine.root / "etc/systemd/system" / name) == "/dev/null"

    again = run_module(machine.main, {"backup": True}, diff=True)
    assert (again["changed"], again["diff"], again["masked"]) == (False, [], [])


def test_a_unit_file_of_the_owner_is_kept(machine: Machine, run_module: t.Any) -> None:
    machine.write("/etc/systemd/system/data.swap", "[Swap]\nWhat=/data\n")
    run_module(machine.main, {})
    folder = machine.root / "etc/systemd/system"
    assert (folder / "data.swap.off").read_text() == "[Swap]\nWhat=/data\n"
    assert os.readlink(folder / "data.swap") == "/dev/null"
    assert run_module(machine.main, {})["changed"] is False


def test_a_run_that_was_killed_is_ended_by_the_next(machine: Machine, run_module: t.Any) -> None:
    machine.write("/etc/fstab", FSTAB.replace("/swap.img", "# /swap.img"))
    machine.write("/run/systemd/generator/swap.img.swap", "[Unit]\nSourcePath=/etc/fstab\n")
    result = run_module(machine.main, {})
    assert result["switched_off"] == ["/swap.img"]
    assert run_module(machine.main, {})["changed"] is False


def test_the_service_that_makes_swap_is_stopped_first(machine: Machine, run_module: t.Any) -> None:
    machine.write("/lib/systemd/system/swapspace.service", "")
    run_module(machine.main, {})
    assert machine.commands == [["systemctl", "stop", "swapspace.service"], ["swapoff", "/swap.img"]]


def test_too_little_memory_is_an_error_that_says_so(machine: Machine, run_module: t.Any) -> None:
    machine.refuses = "Cannot allocate memory"
    result = run_module(machine.main, {})
    assert result["failed"] is True
    assert "Swap on /swap.img could not be switched off" in result["msg"]
    assert "Cannot allocate memory" in result["msg"]


def test_a_container_warns_and_goes_on(machine: Machine, run_module: t.Any) -> None:
    machine.write("/run/systemd/container", "systemd-nspawn\n")
    machine.write("/etc/fstab", "")
    machine.refuses = "Operation not permitted"
    machine.write("/proc/swaps", SWAPS)
    first = run_module(machine.main, {})
    assert first["left"] == ["/swap.img"]
    second = run_module(machine.main, {})
    assert (second["changed"], second["left"]) == (False, ["/swap.img"])
    assert run_module(machine.main, {}, check=True)["changed"] is False


def test_a_machine_without_swap_is_left_alone(machine: Machine, run_module: t.Any) -> None:
    machine.write("/etc/fstab", "# nothing\n")
    machine.write("/proc/swaps", "Filename Type Size Used Priority\n")
    before = sorted(machine.root.rglob("*"))
    result = run_module(machine.main, {"backup": True})
    assert [result[key] for key in ("changed", "switched_off", "left", "masked")] == [False, [], [], []]
    assert sorted(machine.root.rglob("*")) == before
