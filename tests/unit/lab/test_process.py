# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Child processes do not outlive the lab."""

from __future__ import annotations

import os
import threading
import time
import typing as t
from pathlib import Path

import pytest
from nodelab import process
from nodelab.errors import Interrupted, LabError


@pytest.fixture(autouse=True)
def _fresh() -> t.Iterator[None]:
    process.reset()
    yield
    process.reset()


def test_output_and_input() -> None:
    assert (
        process.run(["sh", "-c", "echo err >&2; cat; echo $LAB_WORD"], stdin=b"in ", env={"LAB_WORD": "x"}) == "in x\n"
    )


def test_lines_come_while_it_runs() -> None:
    seen: list[str] = []
    assert process.run(["sh", "-c", "echo one; echo two >&2"], on_line=seen.append) == ""
    assert sorted(seen) == ["one", "two"]


def test_a_failure_says_what_was_printed_last() -> None:
    with pytest.raises(LabError, match=r"sh -c echo why >&2; exit 3 failed with exit status 3: why"):
        process.run(["sh", "-c", "echo why >&2; exit 3"])


def test_an_absent_command() -> None:
    with pytest.raises(LabError, match="no-such-command is not on this machine"):
        process.run(["no-such-command"])


def test_what_goes_to_its_end_is_not_cut_off(tmp_path: Path) -> None:
    done = tmp_path / "done"
    timer = threading.Timer(0.2, process.cancel)
    timer.start()
    try:
        with pytest.raises(Interrupted):
            process.run(["sh", "-c", f"echo begun; sleep 1; touch {done}"], on_line=lambda _line: None, to_its_end=True)
        assert done.exists()
    finally:
        timer.join()
        process.reset()


def test_cancel_ends_children_and_their_children(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    failures: list[BaseException] = []

    def work() -> None:
        try:
            process.run(["sh", "-c", f"sleep 60 & echo $! > {marker}.new; mv {marker}.new {marker}; wait"])
        except LabError as exc:
            failures.append(exc)

    thread = threading.Thread(target=work)
    thread.start()
    while not marker.exists():
        time.sleep(0.01)
    grandchild = int(marker.read_text(encoding="utf-8"))
    process.cancel()
    thread.join(10)
    assert [type(exc) for exc in failures] == [Interrupted]
    end = time.monotonic() + 5
    while _alive(grandchild) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _alive(grandchild)
    with pytest.raises(Interrupted):
        process.run(["true"])


def _alive(number: int) -> bool:
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
