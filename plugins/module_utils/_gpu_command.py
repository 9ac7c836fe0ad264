# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a program that may hang in the kernel, as nvidia-smi does when a card is in trouble.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import typing as t


class Answer(t.NamedTuple):
    """What came of it. C(status) is None if there is no such program, or if it did not end in time."""

    status: int | None
    text: str
    seconds: float = 0.0
    timed_out: bool = False
    present: bool = True


Ask = t.Callable[[t.Sequence[str], float], Answer]


def ask(argv: t.Sequence[str], timeout: float) -> Answer:
    """Run a program with a time limit.

    One that sleeps in the kernel cannot be killed, and waiting for its end or for the end of a pipe would take as long:
    its output goes into a file, and it is left behind.
    """
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            # run_command has no time limit, and would wait for a program that cannot be killed.
            process = subprocess.Popen(  # pylint: disable=ansible-bad-function
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"},
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as exc:
            return Answer(None, str(exc), present=False)
        try:
            status: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
            process.kill()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return Answer(status, text, round(time.monotonic() - begin, 1), timed_out=status is None)
