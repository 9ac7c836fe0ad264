# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
import tarfile
import types
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleActionFail

from ansible_collections.gshare.cluster.plugins.action import support_archive
from ansible_collections.gshare.cluster.plugins.modules import support_archive as documented

GATHERED = {
    "10.0.0.10": {
        "files": {"system/uptime": "up 3 days\n", "etc/fstab": "none\n"},
        "problems": {"containerd/version": "there is no containerd"},
    },
    "2001:db8::1": {"unreachable": True, "msg": "no route, password=hunter2hunter2"},
    "10.0.0.30": {},
}


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., dict[str, t.Any]]:
    monkeypatch.setattr(support_archive.ActionBase, "run", lambda self, tmp, task_vars: {})

    def run(check: bool = False, **args: t.Any) -> dict[str, t.Any]:
        plugin = support_archive.ActionModule.__new__(support_archive.ActionModule)
        plugin._task = types.SimpleNamespace(args={"gathered": GATHERED, **args}, async_val=0, check_mode=check)
        return plugin.run(None, {})

    return run


def unpacked(path: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            assert file
            found[member.name.partition("/")[2]] = file.read().decode()
            assert member.mode == 0o600
    return found


def test_the_archive(act, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = tmp_path / "cluster-info"
    pair.write_text("MASTER_NODE=u@10.0.0.10\nREGISTRY_PASSWORD=hunter2hunter2\n")
    path = tmp_path / "out.tar.gz"
    result = act(path=str(path), inventory=[str(pair)])
    assert result["changed"] is False
    assert set(result["silent"]) == {"2001:db8::1", "10.0.0.30"}
    assert path.stat().st_mode & 0o777 == 0o600
    files = unpacked(path)
    assert files["10.0.0.10/system/uptime"] == "up 3 days\n"
    assert "MASTER_NODE=u@10.0.0.10" in files["controller/cluster-info"]
    assert "2001:db8::1: nothing, no route" in files["README"]
    assert "10.0.0.10: see its folder\n  containerd/version: there is no containerd\n" in files["README"]
    shown = capsys.readouterr().out.replace("\n", " ")
    assert re.search(rf"{path}: \d KiB, \d files of 1 of 3 machines", shown)
    assert "2001:db8::1 told nothing: no route, password=REDACTED" in shown
    assert not any("hunter2" in text for text in files.values())
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []


def test_without_a_path_it_is_in_the_current_folder(act, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert act(check=True, cluster="2001:db8::9")["path"].startswith(f"{tmp_path}/gshare-support-2001_db8__9-20")
    assert list(tmp_path.iterdir()) == []
    assert Path(act()["path"]).exists()


def test_files_of_the_same_name_are_all_kept(act, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cluster-info").write_text(folder)
    path = tmp_path / "out.tar.gz"
    act(path=str(path), inventory=[str(tmp_path / folder / "cluster-info") for folder in ("a", "b", "none")])
    files = unpacked(path)
    assert [files["controller/cluster-info"], files["controller/_cluster-info"]] == ["a", "b"]


def test_when_no_machine_told_anything(act, tmp_path: Path) -> None:
    path = tmp_path / "out.tar.gz"
    act(path=str(path), gathered={"10.0.0.10": {}})
    assert "10.0.0.10: nothing, it was not asked" in unpacked(path)["README"]


@pytest.mark.parametrize(("place", "why"), [("none/out.tar.gz", "No such file"), ("folder", "Is a directory")])
def test_a_place_where_it_cannot_be(act, tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(AnsibleActionFail, match=f"cannot be written: {why}.*support_file=PATH"):
        act(path=str(tmp_path / place))
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_the_documentation_is_whole() -> None:
    assert set(yaml.safe_load(documented.DOCUMENTATION)["options"]) == {"path", "cluster", "gathered", "inventory"}
