# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps on the machine."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _containerd_files,
    _containerd_node,
    _containerd_service,
)
from ansible_collections.gshare.cluster.plugins.modules import containerd_config
from ansible_collections.gshare.cluster.tests.unit.plugins.containerd_fakes import (
    NEW,
    OLD,
    Killed,
    Machine,
    die,
)


def test_read(machine: Machine) -> None:
    result = machine.step("read", check=True)
    assert result["content"] == OLD
    assert result["version"] == "2.3.7"
    assert result["service_config"] == str(machine.file)
    assert result["restart"] is False
    assert result["dump"] == "version = 4\n"
    assert not machine.records.exists()


def test_start_at_boot_is_put_right(machine: Machine) -> None:
    with (machine.bin / "state").open("a") as state:
        state.write("at_boot=disabled\n")
    assert machine.step("read", check=True)["service_at_boot"] is False
    machine.apply(None)
    assert machine.step("read")["service_at_boot"] is True
    assert machine.restarts == 0


def test_read_keeps_what_the_daemon_started_with(machine: Machine) -> None:
    (machine.file.parent / _containerd_files.TEMPORARY).write_text("left by a killed run")
    machine.step("read")
    assert machine.record["invocation"] == "1"
    machine.file.write_text(OLD + "# only a comment\n")
    os.utime(machine.file)
    assert machine.step("read")["restart"] is False
    machine.file.write_text(NEW)
    assert machine.step("read")["restart"] is True


def test_read_without_containerd(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert machine.step("read")["installed"] is False


def test_read_of_a_file_that_is_not_text(machine: Machine) -> None:
    machine.file.write_bytes(b"version = 4 # \xff\n")
    (machine.bin / "containerd").write_text("#!/bin/sh\nexit 1\n")
    assert "is not UTF-8 text (byte 14)" in machine.step("read")["msg"]


def test_read_says_what_containerd_says(machine: Machine) -> None:
    machine.file.write_text("INVALID\n")
    assert "failed to load TOML" in machine.step("read")["dump_problem"]


def test_imports_are_read_in_order(machine: Machine) -> None:
    folder = machine.file.parent / "conf.d"
    folder.mkdir()
    for name in ("b.toml", "a.toml", ".hidden.toml", "c.conf"):
        (folder / name).write_text(f"# {name}\n")
    machine.file.write_text('imports = ["conf.d/*.toml", "missing.toml", "conf.d/?.conf"]\nversion = 4\n')
    drop_ins = machine.step("read")["drop_ins"]
    # As containerd does it: a star finds hidden files too, and without a star it is a name.
    assert list(drop_ins) == [str(folder / name) for name in (".hidden.toml", "a.toml", "b.toml")]


def test_a_drop_in_that_is_newer_than_the_daemon_counts(machine: Machine) -> None:
    folder = machine.file.parent / "conf.d"
    folder.mkdir()
    machine.file.write_text('imports = ["conf.d/*.toml"]\nversion = 4\n')
    time.sleep(0.15)
    machine.set_state(started=time.time())
    time.sleep(0.05)
    assert machine.step("read", check=True)["restart"] is False
    (folder / "a.toml").write_text("")
    assert machine.step("read", check=True)["restart"] is True
    (folder / "a.toml").unlink()  # leaves its trace in the folder
    assert machine.step("read", check=True)["restart"] is True


def test_a_daemon_that_systemd_is_starting_is_no_daemon_that_does_not_run(machine: Machine) -> None:
    machine.set_state("activating")
    started = threading.Timer(0.2, machine.set_state)
    started.start()
    assert machine.step("read", check=True)["restart"] is False
    started.join()


def test_a_daemon_that_never_comes_up_is_restarted(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_containerd_node, "STARTING", 0.1)
    machine.set_state("activating")
    assert machine.step("read", check=True)["restart"] is True


def test_probe_writes_nothing(machine: Machine) -> None:
    machine.step("read")
    record = machine.record
    result = machine.step("probe", NEW, check=True)
    assert result["dump"] == "version = 4\noom_score = 1\n"
    assert (result["problem"], result["restart"]) == ("", True)
    assert machine.step("probe", OLD + "# x\n")["restart"] is False
    assert machine.file.read_text() == OLD
    assert machine.folder() == ["config.toml"]
    assert machine.record == record


def test_probe_lists_the_entries_of_folders(machine: Machine, tmp_path: Path) -> None:
    for name in ("ghcr.io", "docker.io"):
        (tmp_path / "hosts" / name).mkdir(parents=True)
    result = machine.step("probe", NEW, _folders=[str(tmp_path / "hosts"), "/nonexistent"])
    assert result["entries"] == {str(tmp_path / "hosts"): ["docker.io", "ghcr.io"]}


def test_probe_of_what_containerd_refuses_names_the_real_file(machine: Machine) -> None:
    assert f"failed to load TOML from {machine.file}" in machine.step("probe", "INVALID\n")["problem"]


def test_probe_names_the_real_folder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def complain(self: object, path: str | None = None, program: str | None = None) -> tuple[str, str]:
        return "", f"open {os.path.dirname(path or '')}/gone.toml: no such file"

    monkeypatch.setattr(_containerd_node.Node, "dump", complain)
    assert machine.step("probe", NEW)["problem"] == f"open {machine.file.parent}/gone.toml: no such file"


def test_apply_replaces_and_restarts_once(machine: Machine) -> None:
    machine.file.chmod(0o640)
    result = machine.apply(NEW)
    assert result["restart"] is True
    assert machine.restarts == 1
    assert machine.file.read_text() == NEW
    assert machine.file.stat().st_mode & 0o777 == 0o640
    assert Path(result["backup_file"]).read_text() == OLD
    assert machine.record["invocation"] == "2"
    assert machine.step("read")["restart"] is False


def test_apply_of_a_comment_restarts_nothing(machine: Machine) -> None:
    assert machine.apply(OLD + "# more\n")["restart"] is False
    assert machine.restarts == 0


def test_apply_makes_the_first_file(machine: Machine) -> None:
    machine.file.unlink()
    machine.apply(NEW)
    assert machine.file.read_text() == NEW
    assert machine.file.stat().st_mode & 0o777 == 0o644
    assert machine.folder() == ["config.toml"]


def test_apply_in_check_mode_does_nothing(machine: Machine) -> None:
    machine.step("apply", NEW, check=True)
    assert (machine.file.read_text(), machine.restarts) == (OLD, 0)


def test_apply_without_a_backup(machine: Machine) -> None:
    digest = hashlib.sha256(OLD.encode()).hexdigest()
    machine.step("apply", NEW, _digest=digest, backup=False)
    assert machine.folder() == ["config.toml"]


def test_apply_starts_a_service_that_does_not_run(machine: Machine) -> None:
    machine.set_state("failed")
    assert machine.step("read")["restart"] is True
    machine.apply(None)
    assert (machine.state, machine.restarts) == ("active", 1)


def test_a_file_that_changed_in_between_is_left_alone(machine: Machine) -> None:
    result = machine.step("apply", NEW, _digest="0" * 64)
    assert "changed by someone else" in result["msg"]
    assert machine.folder() == ["config.toml"]


def test_what_containerd_refuses_is_not_written(machine: Machine) -> None:
    machine.step("read")
    result = machine.apply("INVALID\n")
    assert "which was not changed" in result["msg"]
    assert (machine.file.read_text(), machine.restarts) == (OLD, 0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("CRASH = 1\n", "control process exited with error code"),
        ("CRIERROR = 1\n", "io.containerd.cri.v1.runtime: error"),
    ],
)
def test_roll_back(machine: Machine, content: str, reason: str) -> None:
    result = machine.apply(NEW + content)
    assert result["failed"]
    assert result["rolled_back"]
    assert reason in result["msg"]
    assert "the fake journal says why" in result["msg"]
    assert "containerd runs with it again" in result["msg"]
    assert machine.file.read_text() == OLD
    assert machine.folder() == ["config.toml"]
    assert (machine.state, machine.restarts) == ("active", 2)
    assert machine.step("read")["restart"] is False


def test_roll_back_to_no_file(machine: Machine) -> None:
    machine.file.unlink()
    assert machine.apply("CRASH = 1\n")["rolled_back"]
    assert machine.folder() == []
    assert machine.state == "active"


def test_roll_back_to_what_does_not_run_either(machine: Machine) -> None:
    machine.file.write_text("CRASH = 0\n")
    result = machine.apply("CRASH = 1\n")
    assert "does not run with that either" in result["msg"]
    assert machine.file.read_text() == "CRASH = 0\n"


def test_nothing_to_roll_back_names_the_newest_copy(machine: Machine) -> None:
    machine.file.write_text("CRASH = 1\n")
    (machine.file.parent / "config.toml.1.2026-11-30@10:00:00~").write_text(OLD)
    machine.set_state("failed")
    result = machine.apply(None)
    assert "The newest copy of an earlier file is" in result["msg"]
    assert machine.file.read_text() == "CRASH = 1\n"


@pytest.mark.parametrize("moment", ["write_file", "validate", "atomic_move", "restart", "wait"])
def test_a_killed_run_is_repaired_by_the_next(machine: Machine, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """At each moment the file is the old or the new one, and the next run brings file and daemon together."""
    places = {"atomic_move": containerd_config.AnsibleModule, "wait": _containerd_service}
    places.update(dict.fromkeys(("write_file", "validate"), _containerd_files))
    monkeypatch.setattr(places.get(moment, containerd_config), moment, die)
    with pytest.raises(Killed):
        machine.apply(NEW)
    monkeypatch.undo()
    machine.patch(monkeypatch)
    assert machine.file.read_text() in (OLD, NEW)
    facts = machine.step("read")
    if moment != "wait":  # a restart in the same instant as the write may be repeated
        assert facts["restart"] is (moment == "restart")
    machine.apply(NEW if facts["content"] == OLD else None)
    assert machine.file.read_text() == NEW
    assert machine.step("read")["restart"] is False
    assert machine.restarts == (2 if moment == "wait" and facts["restart"] else 1)


def test_without_ctr_the_socket_answers(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.bin / "ctr").unlink()
    find = containerd_config.AnsibleModule.get_bin_path
    monkeypatch.setattr(
        containerd_config.AnsibleModule,
        "get_bin_path",
        lambda self, name, *args: None if name == "ctr" else find(self, name, *args),
    )
    result = machine.apply(f"{NEW}\n[grpc]\naddress = '{machine.bin}/no.sock'\n")
    assert "after 2 seconds" in result["msg"]
    assert "no.sock does not answer" in result["msg"]


def nvidia(machine: Machine, folder: str = "conf.d") -> Path:
    path = machine.file.parent / folder / "99-nvidia.toml"
    path.parent.mkdir()
    path.write_text("version = 4\n")
    machine.file.write_text(f'imports = ["{machine.file.parent}/conf.d/*.toml"]\nversion = 4\n')
    return path


def test_a_drop_in_is_kept_where_nothing_imports_it(machine: Machine) -> None:
    path = nvidia(machine)
    assert machine.step("read")["idle"] == []
    machine.apply(None, _absorbed=[str(path)])
    (kept,) = path.parent.iterdir()
    assert kept.name.startswith("99-nvidia.toml.")
    assert not kept.name.endswith(".toml")


def test_a_drop_in_comes_back_with_the_old_file(machine: Machine) -> None:
    path = nvidia(machine)
    assert machine.apply("CRASH = 1\n", _absorbed=[str(path)])["rolled_back"]
    assert list(path.parent.iterdir()) == [path]
    assert path.read_text() == "version = 4\n"


def test_case_14_a_drop_in_that_nothing_imports_is_told(machine: Machine) -> None:
    path = nvidia(machine, "config.d")
    assert machine.step("read")["idle"] == [str(path)]


def test_who_uses_the_gpus(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containerd_config, "gpu_use", lambda host: ["pod a/b uses a GPU"])
    assert machine.step("use")["gpu_use"] == ["pod a/b uses a GPU"]
