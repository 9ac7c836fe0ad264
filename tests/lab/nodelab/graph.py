# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Steps that need each other's results, run by a few threads; one failure ends them all."""

from __future__ import annotations

import dataclasses
import threading
import typing as t
from pathlib import Path

from nodelab import process
from nodelab.errors import Interrupted

WORKERS = 3
"""Steps at once: one compiles on all cores, the others mostly wait for the network."""


@dataclasses.dataclass
class Step:
    """One thing to make: what it needs, and what makes it. ``run`` gets all results so far, by step."""

    name: str
    needs: tuple[str, ...]
    run: t.Callable[[t.Mapping[str, Path]], Path]


class Runner:
    """Runs steps in worker threads; ``wait`` hands out each result as soon as it is there.

    Use it as a context manager: leaving the block early ends what still runs.
    """

    def __init__(self, steps: t.Sequence[Step]) -> None:
        self.steps = list(steps)
        self._results: dict[str, Path] = {}
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._pending = list(steps)
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def start(self) -> t.Self:
        """Start building in the background."""
        self._threads = [threading.Thread(target=self._work, name=f"build-{n}", daemon=True) for n in range(WORKERS)]
        for thread in self._threads:
            thread.start()
        return self

    def wait(self, name: str) -> Path:
        """Return the result of a step. Raises what made the first failing step fail."""
        with self._changed:
            while name not in self._results and self._error is None:
                # Not for ever: a signal is only seen between two waits.
                process.check()
                self._changed.wait(0.5)
            if name in self._results:
                return self._results[name]
            assert self._error is not None
            raise self._error

    def close(self) -> None:
        """End what still runs and wait until it has."""
        if any(thread.is_alive() for thread in self._threads):
            with self._changed:
                finished = self._error is None and len(self._results) == len(self.steps)
                if not finished:
                    self._error = self._error or Interrupted("The lab was interrupted.")
                self._changed.notify_all()
            if not finished:
                process.cancel()
        for thread in self._threads:
            thread.join()
        process.reset()

    def _work(self) -> None:
        while True:
            step = self._next()
            if step is None:
                return
            try:
                result = step.run(self._results)
            except BaseException as exc:  # noqa: BLE001 - handed to whoever waits, in another thread
                with self._changed:
                    first = self._error is None
                    self._error = self._error or exc
                    self._changed.notify_all()
                if first:
                    process.cancel()
                return
            with self._changed:
                self._results[step.name] = result
                self._changed.notify_all()

    def _next(self) -> Step | None:
        """Return a step whose needs are met, waiting for one; None when there is nothing left to start."""
        with self._changed:
            while self._pending and self._error is None:
                for step in self._pending:
                    if all(need in self._results for need in step.needs):
                        self._pending.remove(step)
                        return step
                self._changed.wait(0.5)
            return None
