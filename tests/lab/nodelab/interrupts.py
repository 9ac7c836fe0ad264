# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Ctrl-C and SIGTERM do: end what the command has started, so that it can clean up by itself undisturbed."""

from __future__ import annotations

import contextlib
import signal
import threading
import typing as t

from nodelab import process
from nodelab.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_cancelling: list[threading.Thread] = []
_settled = threading.Event()


@contextlib.contextmanager
def handled() -> t.Iterator[None]:
    """Handle the signals inside the block; the second and later ones change nothing."""

    # In a thread, since the main one may hold the lock of the children at this moment.
    def stop(_number: int, _frame: object) -> None:
        if not _cancelling:
            # A second signal may come between any two steps here: each starts the thread that it made itself.
            thread = threading.Thread(target=process.cancel, name="cancel")
            thread.start()
            _cancelling.append(thread)

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def requested() -> bool:
    """Say whether a signal came."""
    return bool(_cancelling)


def check() -> None:
    """Raise Interrupted if a signal came and the cleaning up has not begun."""
    if requested() and not _settled.is_set():
        raise Interrupted("The lab was interrupted.")


def settle() -> None:
    """Wait until all that was running has ended, and allow to start what cleans up."""
    for thread in _cancelling:
        thread.join()
    _settled.set()
    process.reset()
