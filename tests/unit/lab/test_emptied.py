# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from nodelab.cgroups import Groups
from nodelab.emptied import Emptied
from nodelab.keeper import nspawn_command


def make_group(root: Path, name: str, pids: str) -> None:
    (root / name).mkdir(parents=True)
    (root / name / "cgroup.procs").write_text(pids, encoding="ascii")


def test_a_scope_counts_as_ended_when_it_was_empty_twice(tmp_path: Path) -> None:
    make_group(tmp_path, "kubepods.slice/cri-containerd-a.scope", "")
    make_group(tmp_path, "kubepods.slice/cri-containerd-b.scope", "17\n")
    watcher = Emptied(tmp_path)
    assert watcher.find() == set()
    assert watcher.find() == {"/kubepods.slice/cri-containerd-a.scope"}


def test_a_scope_that_gets_its_process_late_is_left_alone(tmp_path: Path) -> None:
    make_group(tmp_path, "run-1.scope", "")
    watcher = Emptied(tmp_path)
    watcher.find()
    (tmp_path / "run-1.scope" / "cgroup.procs").write_text("17\n", encoding="ascii")
    assert watcher.find() == set()


def test_services_slices_and_scopes_with_groups_below_are_none_of_it(tmp_path: Path) -> None:
    make_group(tmp_path, "system.slice/ssh.service", "")
    make_group(tmp_path, "delegated.scope/inner", "17\n")
    (tmp_path / "delegated.scope" / "cgroup.procs").write_text("", encoding="ascii")
    watcher = Emptied(tmp_path)
    watcher.find()
    assert watcher.find() == set()


def test_without_the_node_nothing_is_reported(tmp_path: Path) -> None:
    make_group(tmp_path, "run-1.scope", "")
    watcher = Emptied(tmp_path)
    for _unused in range(3):
        watcher.report()


def test_only_version_1_needs_it(tmp_path: Path) -> None:
    watcher = Emptied.of(Groups({"systemd": tmp_path}, False, "dev"), "cpu1")
    assert watcher is not None
    assert watcher.root == tmp_path / "gshare-lab/dev/cpu1/payload"
    assert Emptied.of(Groups({"cgroup": tmp_path}, True, "dev"), "cpu1") is None


def test_the_node_gets_version_1_only_where_the_machine_has_it() -> None:
    node = {"lab": "dev", "name": "cpu1"}
    first = nspawn_command(node, Path("/run/lab"), unified=False)
    assert first[-1] == "systemd.unified_cgroup_hierarchy=0"
    assert nspawn_command(node, Path("/run/lab"), unified=True)[-1] == "--boot"
    assert "--bind=/run/lab/node/etcd:/var/lib/etcd" in first
