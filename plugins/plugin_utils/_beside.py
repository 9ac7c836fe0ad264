# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Processes beside a run: they hold nothing of it, and do nothing for longer than they may.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
import typing as t

_LOOK = 0.1


def beside(work: t.Callable[[], None]) -> None:
    """Have it done by a process that outlives this one, in a session of its own. What it raises is lost."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        _let_go()
        work()
    finally:
        os._exit(0)


def within(seconds: float, work: t.Callable[[], None], wanted: t.Callable[[], bool]) -> None:
    """Have it done by a process that is killed, with all that it has started, once it is late or unwanted."""
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            work()
        finally:
            os._exit(0)
    with contextlib.suppress(OSError):  # it may have done so itself, and whoever comes first is to have done it
        os.setpgid(child, child)
    end = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() >= end or not wanted():
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(_LOOK)


def _let_go() -> None:
    """Hold nothing of the run: who reads its output waits for the end of all that could write there."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.closerange(3, 4096)
    logging.disable()  # the number of its file may soon be another's
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
