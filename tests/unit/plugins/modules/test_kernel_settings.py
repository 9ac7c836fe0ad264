# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.modules import kernel_settings

ARGS = {
    "name": "zz-kubernetes",
    "modules": ["overlay", "br_netfilter"],
    "sysctls": {"net.bridge.bridge-nf-call-iptables": 1, "net.ipv4.ip_forward": "1"},
}


class Machine:
    """A root folder with a kernel that has overlay built in and br_netfilter as a module."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commands: list[list[str]] = []
        self.loads = True
        self.warnings: list[str] = []
        self.main: t.Callable[[], None] = functools.partial(kernel_settings.main, str(root))
        self.write("/proc/filesystems", "nodev\toverlay\n")
        self.write("/proc/sys/net/ipv4/ip_forward", "0\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        return (self.root / name.lstrip("/")).read_text()

    def modprobe(self, args: list[str]) -> tuple[int, str, str]:
        self.commands.append(args)
        if not self.loads:
            return 1, "", f"modprobe: FATAL: Module {args[-1]} not found in directory /lib/modules/6.1"
        self.write("/proc/sys/net/bridge/bridge-nf-call-iptables", "0\n")
        return 0, "", ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(tmp_path)
    monkeypatch.setattr(AnsibleModule, "run_command", lambda _module, args, **_options: found.modprobe(args))
    monkeypatch.setattr(AnsibleModule, "warn", lambda _module, text: found.warnings.append(text))
    monkeypatch.setattr(AnsibleModule, "get_bin_path", lambda _module, name, *_args: f"/sbin/{name}")
    return found


def test_cases_72_and_73_module_first_then_its_value_in_one_run(machine: Machine, run_module: t.Any) -> None:
    # The key is there only once the module is.
    predicted = run_module(machine.main, ARGS, check=True, diff=True)
    assert machine.commands == []
    assert not (machine.root / "etc").exists()

    result = run_module(machine.main, ARGS, diff=True)
    assert result["changed"] is predicted["changed"] is True
    assert result["loaded"] == predicted["loaded"] == ["br_netfilter"]
    assert result["written"] == predicted["written"] == list(ARGS["sysctls"])
    assert machine.commands == [["/sbin/modprobe", "--", "br_netfilter"]]
    assert machine.read("/proc/sys/net/bridge/bridge-nf-call-iptables") == "1\n"
    assert machine.read("/etc/modules-load.d/zz-kubernetes.conf").endswith("\noverlay\nbr_netfilter\n")
    assert "net.ipv4.ip_forward = 1\n" in machine.read("/etc/sysctl.d/zz-kubernetes.conf")
    assert (machine.root / "etc/sysctl.d/zz-kubernetes.conf").stat().st_mode & 0o777 == 0o644

    again = run_module(machine.main, ARGS, diff=True)
    assert (again["changed"], again["loaded"], again["written"], again["diff"]) == (False, [], [], [])


def test_a_module_that_cannot_be_loaded_but_is_built_in(machine: Machine, run_module: t.Any) -> None:
    machine.loads = False
    machine.write("/proc/sys/net/bridge/bridge-nf-call-iptables", "1\n")
    assert run_module(machine.main, ARGS)["loaded"] == []


def test_a_module_that_is_not_there(machine: Machine, run_module: t.Any) -> None:
    machine.loads = False
    result = run_module(machine.main, ARGS)
    assert result["failed"] is True
    assert "Kernel module br_netfilter cannot be loaded" in result["msg"]
    assert "reboot" in result["msg"]


def test_a_value_that_cannot_be_written(machine: Machine, run_module: t.Any) -> None:
    result = run_module(machine.main, {"name": "x", "sysctls": {"net.none": "1"}})
    assert result["msg"] == "net.none cannot be set to 1: No such file or directory (/proc/sys/net/none)."


def test_a_right_value_is_not_written(machine: Machine, run_module: t.Any) -> None:
    machine.write("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n")
    (machine.root / "proc/sys/net/ipv4/tcp_rmem").chmod(0o444)
    result = run_module(machine.main, {"name": "x", "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456"}})
    assert result["written"] == []


def test_drift_is_mended_and_shown(machine: Machine, run_module: t.Any) -> None:
    run_module(machine.main, ARGS)
    machine.write("/proc/sys/net/ipv4/ip_forward", "0\n")
    result = run_module(machine.main, ARGS, diff=True)
    assert result["written"] == ["net.ipv4.ip_forward"]
    assert result["diff"] == [
        {"before_header": "net.ipv4.ip_forward", "after_header": "net.ipv4.ip_forward", "before": "0\n", "after": "1\n"}
    ]


def test_a_later_file_with_another_value_is_named(machine: Machine, run_module: t.Any) -> None:
    machine.write("/etc/sysctl.d/zzz-hardening.conf", "net.ipv4.ip_forward = 0\n")
    run_module(machine.main, ARGS)
    assert machine.warnings == [
        "/etc/sysctl.d/zzz-hardening.conf sets net.ipv4.ip_forward to another value at the next boot; remove that line."
    ]


def test_nothing_asked_writes_no_file(machine: Machine, run_module: t.Any) -> None:
    assert run_module(machine.main, {"name": "x"})["changed"] is False
    assert not (machine.root / "etc").exists()


def test_a_name_with_a_slash_is_refused(machine: Machine, run_module: t.Any) -> None:
    assert run_module(machine.main, {"name": "../x"})["failed"] is True
