# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import time

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import ask


def test_status_and_both_streams_come_back() -> None:
    answer = ask(["sh", "-c", "echo one; echo two >&2; exit 9"], 10)
    assert (answer.status, answer.text, answer.timed_out, answer.present) == (9, "one\ntwo\n", False, True)


def test_a_program_that_is_not_there_is_no_failure() -> None:
    answer = ask(["/nonexistent/nvidia-smi"], 10)
    assert (answer.status, answer.present, answer.timed_out) == (None, False, False)


def test_a_file_that_cannot_be_run_is_no_program(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "nvidia-smi"
    path.write_text("")
    assert not ask([str(path)], 10).present
    assert not ask([str(path / "bin")], 10).present


def test_programs_speak_english_and_find_those_of_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    answer = ask(["sh", "-c", 'echo "$LC_ALL $PATH"'], 10)
    assert answer.text == "C /usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n"


def test_a_program_that_hangs_is_left_behind() -> None:
    begin = time.monotonic()
    # The sleep inherits the output: whoever waits for the end of a pipe waits for it.
    answer = ask(["sh", "-c", "echo begun; sleep 30 & wait"], 0.3)
    assert time.monotonic() - begin < 5
    assert (answer.status, answer.timed_out, answer.present) == (None, True, True)


def test_a_program_that_hangs_is_ended_if_it_can_be() -> None:
    pid = ask(["sh", "-c", "echo $$; exec sleep 30"], 0.3).text.strip()
    stat = pathlib.Path("/proc", pid, "stat")
    end = time.monotonic() + 5
    # Gone, or dead and not waited for.
    while stat.exists() and ") Z " not in stat.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert not stat.exists() or ") Z " in stat.read_text()
