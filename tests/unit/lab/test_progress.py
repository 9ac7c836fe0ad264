# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines that tell how far a build is."""

from __future__ import annotations

import io
import re
import time

import pytest
from nodelab.progress import Progress, duration


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (125.6, "2 min 06 s")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def lines(stream: io.StringIO) -> list[str]:
    return [re.sub(r"^lab +\d+s  ", "", line) for line in stream.getvalue().splitlines()]


def test_start_end_and_count() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.plan(2)
        progress.ready("keys")
        with progress.step("images"):
            pass
    assert lines(stream) == ["[1 of 2] keys: ready", "images ...", "[2 of 2] images: done in 0 s"]


def test_a_step_that_fails_does_not_count() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.plan(1)
    with pytest.raises(ValueError, match="no"), progress.step("images"):
        raise ValueError("no")
    progress.close()
    assert lines(stream)[-1] == "images: stopped after 0 s"


def test_the_heartbeat_names_what_runs() -> None:
    stream = io.StringIO()
    with Progress(stream, heartbeat=0.05) as progress:
        progress.plan(1)
        with progress.step("programs"):
            progress.detail("programs", "7 of 9 packages")
            end = time.monotonic() + 5
            while "still" not in stream.getvalue() and time.monotonic() < end:
                time.sleep(0.02)
    assert "[0 of 1] still at it: programs (0 s, 7 of 9 packages)" in lines(stream)
