# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._beside import beside, within


def hang(note: Path) -> None:
    with subprocess.Popen(["sleep", "100"]) as process:
        note.write_text(str(process.pid))


def gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize(("seconds", "wanted"), [(1, lambda _note: True), (60, lambda note: not note.exists())])
def test_what_is_late_or_unwanted_ends_with_all_it_started(
    tmp_path: Path, seconds: float, wanted: t.Callable[[Path], bool]
) -> None:
    note = tmp_path / "note"
    begin = time.monotonic()
    within(seconds, lambda: hang(note), lambda: wanted(note))
    assert time.monotonic() - begin < 20
    time.sleep(0.5)
    assert gone(int(note.read_text()))


def test_what_fails_ends_only_itself(tmp_path: Path) -> None:
    within(60, lambda: (tmp_path / "no" / "note").write_text(""), lambda: True)
    within(60, (tmp_path / "note").touch, lambda: True)
    assert (tmp_path / "note").exists()


def test_the_process_beside_holds_no_descriptor_and_has_a_session_of_its_own(tmp_path: Path) -> None:
    note, part = tmp_path / "note", tmp_path / "part"
    with (tmp_path / "open").open("w"):

        def work() -> None:
            held = {os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.exists()}
            part.write_text(f"{os.getsid(0)} {sorted(held)}")
            part.rename(note)

        beside(work)
    while not note.exists():
        time.sleep(0.05)
    session, _blank, held = note.read_text().partition(" ")
    assert int(session) != os.getsid(0)
    assert held == "['/dev/null']"
