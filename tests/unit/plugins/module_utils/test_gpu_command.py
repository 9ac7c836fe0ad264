# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import ask


def test_status_and_both_streams_come_back() -> None:
    answer = ask(["sh", "-c", "echo one; echo two >&2; exit 9"], 10)
    assert (answer.status, answer.text, answer.timed_out, answer.present) == (9, "one\ntwo\n", False, True)


def test_a_program_that_is_not_there_is_no_failure() -> None:
    answer = ask(["/nonexistent/nvidia-smi"], 10)
    assert (answer.status, answer.present, answer.timed_out) == (None, False, False)


def test_a_program_that_hangs_is_left_behind() -> None:
    begin = time.monotonic()
    # The sleep inherits the output: whoever waits for the end of a pipe waits for it.
    answer = ask(["sh", "-c", "echo begun; sleep 30 & wait"], 0.3)
    assert time.monotonic() - begin < 5
    assert (answer.status, answer.timed_out, answer.present) == (None, True, True)
