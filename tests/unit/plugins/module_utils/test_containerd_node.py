# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the node reads; the rest of it is tested with the modules that use it."""

from __future__ import annotations

import os
import socket
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _containerd_node
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node

SHOW = """\
LoadState=loaded
ActiveState=active
MainPID={pid}
InvocationID=i1
ExecMainStartTimestamp=Mon 2026-11-30 14:43:24.123456 UTC
ExecStart={{ path={program} ; argv[]={program} ; ignore_errors=no ; pid=1 }}
"""


class FakeModule:
    """Answers commands from a table."""

    def __init__(self, answers: dict[str, tuple[int, str, str]]) -> None:
        self.answers = answers

    def run_command(self, command: list[str], **_more: t.Any) -> tuple[int, str, str]:
        return self.answers.get(" ".join(command[-2:]), self.answers.get(command[0], (0, "", "")))

    def get_bin_path(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.answers else None


def _node(tmp_path: Path, pid: int = 0, program: str = "/bin/sh", **answers: tuple[int, str, str]) -> Node:
    table = {"systemctl": (0, SHOW.format(pid=pid, program=program), ""), **answers}
    return Node(FakeModule(table), str(tmp_path / "config.toml"), "containerd")  # type: ignore[arg-type]  # a stand-in


def test_the_running_program_counts(tmp_path: Path) -> None:
    """Not what PATH finds, and not what a package upgrade has put on the disk."""
    node = _node(tmp_path, pid=os.getpid())
    assert node.program == f"/proc/{os.getpid()}/exe"
    assert node.next_program == "/bin/sh"


def test_case_17_two_containerds_on_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that answers the kubelet counts, although both have bound the same address."""
    monkeypatch.setattr(_containerd_node, "SOCKET", str(tmp_path / "s"))
    me = os.getpid()
    assert _node(tmp_path, pid=me).stranger() == ""  # nobody listens
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        assert _node(tmp_path, pid=me).stranger() == ""
        assert _node(tmp_path, pid=me + 1).stranger() == f"process {me} ({os.readlink(f'/proc/{me}/exe')})"


def test_the_program_of_a_service_that_does_not_run(tmp_path: Path) -> None:
    node = _node(tmp_path)
    assert (node.program, node.next_program) == ("/bin/sh", None)


def test_no_service_but_a_program(tmp_path: Path) -> None:
    node = _node(tmp_path, program="/nonexistent", containerd=(0, "", ""))
    assert node.program == "/usr/bin/containerd"
    assert _node(tmp_path, program="/nonexistent").facts() == {"installed": False, "path": f"{tmp_path}/config.toml"}


def test_the_newest_change(tmp_path: Path) -> None:
    node = _node(tmp_path)
    assert node.newest() == tmp_path.stat().st_ctime
    other = tmp_path / "other.toml"
    other.write_text("")
    (tmp_path / "config.toml").write_text(f'imports = ["{other}"]\n')
    os.utime(other, (0, 0))  # an old modification time hides nothing
    assert node.newest() == max(other.stat().st_ctime, (tmp_path / "config.toml").stat().st_ctime)


def test_files_that_import_each_other_end(tmp_path: Path) -> None:
    node = _node(tmp_path)
    (tmp_path / "config.toml").write_text('imports = ["*.toml"]\n')
    (tmp_path / "b.toml").write_text('imports = ["*.toml"]\n')
    assert list(node.imported()) == [str(tmp_path / "b.toml")]


def test_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_containerd_node, "RECORDS", str(tmp_path / "run"))
    node = _node(tmp_path)
    assert node.record() is None
    node.write_record("c")
    assert node.record() == {"invocation": "i1", "configuration": "c"}
    for text in ("{broken", "[]"):
        (tmp_path / "run" / "containerd.json").write_text(text)
        assert node.record() is None
