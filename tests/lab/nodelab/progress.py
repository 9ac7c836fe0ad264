# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lines that say what is being built, for how long, and how far the whole is."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import typing as t


def duration(seconds: float) -> str:
    """Return seconds as people write them: 7 s, 1 min 05 s."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02d} s"


class Progress:
    """Prints one line for each start and end, and a heartbeat line while nothing else is said.

    Safe to use from several threads. ``plan`` raises the number of steps that "3 of 9" counts to; a step that
    was found ready counts as done at once. Use it as a context manager, or call ``close``.
    """

    def __init__(self, stream: t.TextIO | None = None, *, heartbeat: float = 15.0, prefix: str = "lab") -> None:
        self._stream = stream or sys.stderr
        self._heartbeat = heartbeat
        self._prefix = prefix
        self._lock = threading.Lock()
        self._running: dict[str, tuple[float, str]] = {}
        self._total = 0
        self._done = 0
        self._began = time.monotonic()
        self._last_line = self._began
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def plan(self, steps: int) -> None:
        """Say that this many more steps will come."""
        with self._lock:
            self._total += steps

    def say(self, text: str) -> None:
        """Print one line."""
        with self._lock:
            self._line(text)

    def ready(self, name: str) -> None:
        """Count a step that needs no work, because the cache has its result."""
        with self._lock:
            self._done += 1
            self._line(f"{self._count()} {name}: ready")

    @contextlib.contextmanager
    def step(self, name: str) -> t.Iterator[None]:
        """Print when the work inside starts and ends; while it runs the heartbeat names it."""
        began = time.monotonic()
        with self._lock:
            self._running[name] = (began, "")
            self._line(f"{name} ...")
        self._start_heartbeat()
        try:
            yield
        except BaseException:
            with self._lock:
                self._running.pop(name, None)
                self._line(f"{name}: stopped after {duration(time.monotonic() - began)}")
            raise
        with self._lock:
            self._running.pop(name, None)
            self._done += 1
            self._line(f"{self._count()} {name}: done in {duration(time.monotonic() - began)}")

    def detail(self, name: str, text: str) -> None:
        """Remember what a running step is busy with; the next heartbeat shows it."""
        with self._lock:
            if name in self._running:
                self._running[name] = (self._running[name][0], text)

    def close(self) -> None:
        """End the heartbeat."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _count(self) -> str:
        return f"[{self._done} of {max(self._total, self._done)}]"

    def _line(self, text: str) -> None:
        now = time.monotonic()
        self._last_line = now
        self._stream.write(f"{self._prefix} {int(now - self._began):4d}s  {text}\n")
        self._stream.flush()

    def _start_heartbeat(self) -> None:
        with self._lock:
            if self._thread is None and self._heartbeat > 0:
                self._thread = threading.Thread(target=self._beat, name="progress", daemon=True)
                self._thread.start()

    def _beat(self) -> None:
        while not self._stop.wait(min(1.0, self._heartbeat)):
            with self._lock:
                now = time.monotonic()
                if self._running and now - self._last_line >= self._heartbeat:
                    self._line(f"{self._count()} {self._running_text(now)}")

    def _running_text(self, now: float) -> str:
        parts = []
        for name, (began, detail) in self._running.items():
            parts.append(f"{name} ({duration(now - began)}{', ' + detail if detail else ''})")
        return "still at it: " + "; ".join(parts)
