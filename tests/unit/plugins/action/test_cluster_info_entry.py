# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import concurrent.futures
import types
import typing as t
from pathlib import Path

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.gshare.cluster.plugins.action import cluster_info_entry

TEXT = "MASTER_NODE=u@10.0.0.10 # the head\nCPU_WORKERS=u@10.0.0.30\n"


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., dict[str, t.Any]]:
    monkeypatch.setattr(cluster_info_entry.ActionBase, "run", lambda self, tmp, task_vars: {})

    def run(path: Path, *machines: str, state: str = "present", check: bool = False) -> dict[str, t.Any]:
        plugin = cluster_info_entry.ActionModule.__new__(cluster_info_entry.ActionModule)
        args = {"path": str(path), "machines": list(machines), "state": state}
        plugin._task = types.SimpleNamespace(args=args, async_val=0, check_mode=check)
        return plugin.run(None, {})

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster-info"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def test_check_run_and_run_again(act, file: Path) -> None:
    wanted = TEXT.replace("10.0.0.30", "10.0.0.30,u@10.0.0.31")
    predicted = act(file, "u@10.0.0.31:cpu", check=True)
    assert file.read_text() == TEXT
    done = act(file, "u@10.0.0.31:cpu")
    assert predicted == done == {**done, "changed": True}
    assert done["diff"]["after"] == wanted
    assert file.read_text() == wanted
    assert file.stat().st_mode & 0o777 == 0o640
    assert not act(file, "u@10.0.0.31:cpu")["changed"]
    assert act(file, "10.0.0.31", state="absent")["changed"]
    assert file.read_text() == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["cluster-info"]


def test_the_file_behind_a_link_is_changed(act, file: Path, tmp_path: Path) -> None:
    link = tmp_path / "here"
    link.symlink_to(file)
    act(link, "u@10.0.0.31:cpu")
    assert link.is_symlink()
    assert "10.0.0.31" in file.read_text()


def test_runs_beside_each_other_lose_no_entry(act, file: Path) -> None:
    names = [f"u@10.0.0.{number}:cpu" for number in range(40, 60)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: act(file, name), names))
    assert all(name.removesuffix(":cpu") in file.read_text() for name in names)


def test_another_kind_of_inventory_is_refused(act, tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("all:\n  hosts: {a: {}}\n")
    with pytest.raises(AnsibleActionFail, match="Only a cluster-info file can be changed; write the entry by hand"):
        act(path, "u@10.0.0.31:cpu")
    with pytest.raises(AnsibleActionFail, match="No such file or directory"):
        act(tmp_path / "none", "u@10.0.0.31:cpu")
