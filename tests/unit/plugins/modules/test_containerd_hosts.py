# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from ansible.module_utils import basic

from ansible_collections.gshare.cluster.plugins.modules import containerd_hosts
from ansible_collections.gshare.cluster.tests.unit.plugins.containerd_fakes import Machine


def _run(machine: Machine, step: str, *, check: bool = False, **more: object) -> dict[str, object]:
    args = {"_step": step, "directory": str(machine.root / "certs.d"), **more}
    return machine.run_module(containerd_hosts.main, args, check=check)


def test_one_look_tells_all(machine: Machine) -> None:
    machine.put("certs.d/docker.io/hosts.toml", "a = 1\n")
    dump = "version = 4\ndisabled_plugins = []\n"  # that nothing secret hides a part of
    machine.file.write_text(f"# ours\n{dump}")
    result = _run(machine, "read")
    # The file that the daemon was started with, whatever the usual one is.
    assert (result["installed"], result["version"], result["dump"]) == (True, "2.3.7", dump)
    assert result["tree"]["folders"] == ["docker.io"]
    assert not result["changed"]


def test_writing_restarts_nothing(machine: Machine) -> None:
    machine.put("certs.d/quay.io/hosts.toml", "old")
    files = [{"path": "docker.io/hosts.toml", "text": "b = 2\n", "mode": "0600"}]
    result = _run(machine, "apply", _files=json.dumps(files), _remove=["quay.io/hosts.toml"])
    assert result["backup_files"] == []
    file = machine.root / "certs.d/docker.io/hosts.toml"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b = 2\n", 0o600)
    assert not (machine.root / "certs.d/quay.io").exists()
    assert machine.restarts == 0


def test_check_mode_writes_nothing(machine: Machine) -> None:
    files = [{"path": "docker.io/hosts.toml", "text": "b = 2\n", "mode": "0600"}]
    _run(machine, "apply", check=True, _files=json.dumps(files))
    assert not (machine.root / "certs.d").exists()


def test_what_is_written_is_in_no_result_and_no_log(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(basic, "has_journal", False)
    monkeypatch.setattr(basic.AnsibleModule, "_log_to_syslog", lambda self, message: logged.append(message))
    text = '[header]\n  Authorization = "Basic c2VjcmV0"\n'
    files = [{"path": "docker.io/hosts.toml", "text": text, "mode": "0600"}]
    result = _run(machine, "apply", _files=json.dumps(files))
    assert "Invoked with" in logged[0]
    assert "c2VjcmV0" not in f"{result}{logged}"
