# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import os
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_blacklist as blacklist
from ansible_collections.gshare.cluster.plugins.modules import gpu_blacklist

Run = t.Callable[..., dict[str, t.Any]]


@pytest.fixture
def run(run_module: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    program = tmp_path / "bin/update-initramfs"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/log\ntouch {tmp_path}/boot/initrd.img-*\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (tmp_path / "log").write_text("")
    return functools.partial(run_module, functools.partial(gpu_blacklist.main, str(tmp_path)), {})


def programs(folder: pathlib.Path) -> t.Callable[..., str | None]:
    def find(_module: t.Any, name: str, required: bool = False, opt_dirs: t.Any = None) -> str | None:
        return str(folder / name) if (folder / name).exists() else None

    return find


def image(root: pathlib.Path) -> pathlib.Path:
    path = root / "boot/initrd.img-6.8.0-88-generic"
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    return path


def test_case_53_file_and_initramfs_once(run: Run, tmp_path: pathlib.Path) -> None:
    os.utime(image(tmp_path), (1000, 1000))
    predicted = run(check=True, diff=True)
    assert not (tmp_path / blacklist.FILE.lstrip("/")).exists()
    result = run(diff=True)
    assert (result["changed"], result["rebuilt"], result["diff"]) == (True, True, predicted["diff"])
    assert predicted["changed"]
    assert (result["diff"]["before"], result["diff"]["after"]) == ("", blacklist.TEXT)
    file = tmp_path / blacklist.FILE.lstrip("/")
    assert (file.read_text(), file.stat().st_mode & 0o777) == (blacklist.TEXT, 0o644)
    assert {"blacklist nouveau", "blacklist nova_core"} <= set(blacklist.TEXT.splitlines())
    again = run()
    assert (again["changed"], again["rebuilt"]) == (False, False)
    assert (tmp_path / "log").read_text() == "-u -k all\n"


def test_a_run_that_was_killed_before_the_initramfs(run: Run, tmp_path: pathlib.Path) -> None:
    file = tmp_path / blacklist.FILE.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_text(blacklist.TEXT)
    os.utime(image(tmp_path), (1000, 1000))
    assert run()["rebuilt"]
    assert not run()["changed"]


def test_a_machine_without_an_initramfs(run: Run) -> None:
    assert (run()["rebuilt"], run()["changed"]) == (False, False)


def test_a_rebuild_that_fails(run: Run, tmp_path: pathlib.Path) -> None:
    os.utime(image(tmp_path), (1000, 1000))
    (tmp_path / "bin/update-initramfs").write_text("#!/bin/sh\necho no space >&2\nexit 1\n")
    result = run()
    assert result["failed"]
    assert "update-initramfs -u -k all` failed" in result["msg"]
    assert result["msg"].endswith("no space")


def test_a_machine_with_dracut(run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(image(tmp_path), (1000, 1000))
    (tmp_path / "bin/update-initramfs").rename(tmp_path / "bin/dracut")
    # The machine of the tests may have the other one.
    monkeypatch.setattr(gpu_blacklist.AnsibleModule, "get_bin_path", programs(tmp_path / "bin"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run()["rebuilt"]
    assert (tmp_path / "log").read_text() == "--regenerate-all --force\n"
