# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.gshare.cluster.plugins.plugin_utils import _reboot_probe as reboot_probe


class Ssh:
    _load_name = "ssh"

    def __init__(self) -> None:
        self.options = {"ssh_args": "-C -o ControlMaster=auto"}
        self.resets = 0

    def get_option(self, name: str) -> str:
        return self.options[name]

    def set_option(self, name: str, value: str) -> None:
        self.options[name] = value

    def reset(self) -> None:
        self.resets += 1


def action(answer: t.Any) -> t.Any:
    def execute(command: str) -> t.Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return types.SimpleNamespace(_low_level_execute_command=execute)


def test_what_keeps_a_command_from_running_is_an_answer() -> None:
    assert reboot_probe.probe(action({"rc": 0, "stdout": "x\n", "stderr": ""}), "cat").out == "x\n"
    assert reboot_probe.probe(action(AnsibleConnectionFailure("No route to host")), "cat").status is None
    assert (
        reboot_probe.probe(action(AnsibleError("Timeout (12s) waiting for privilege escalation")), "cat").status == 255
    )


def test_case_42_no_connection_is_shared_and_old_ones_are_dropped() -> None:
    ssh = Ssh()
    with reboot_probe.fresh_connections(ssh):
        assert ssh.resets == 1
        assert ssh.options["ssh_args"].startswith("-o ControlMaster=no -o ControlPath=none")
        assert ssh.options["ssh_args"].endswith("-C -o ControlMaster=auto")
    assert ssh.options["ssh_args"] == "-C -o ControlMaster=auto"
    assert ssh.resets == 2


def test_an_ssh_without_arguments_that_cannot_be_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AnsibleError("no socket")

    ssh = Ssh()
    monkeypatch.setattr(ssh, "options", {"ssh_args": None})
    monkeypatch.setattr(ssh, "reset", fail)
    with reboot_probe.fresh_connections(ssh):
        assert ssh.options["ssh_args"].startswith("-o ControlMaster=no")
    assert ssh.options["ssh_args"] == ""


@pytest.mark.parametrize("connection", [types.SimpleNamespace(_load_name="local"), object()])
def test_other_connections_have_nothing_to_drop(connection: t.Any) -> None:
    with reboot_probe.fresh_connections(connection):
        pass
