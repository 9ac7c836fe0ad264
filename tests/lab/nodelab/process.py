# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Child processes that never outlive the lab command that started them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import typing as t
from pathlib import Path

from nodelab.errors import Interrupted, LabError

_children: set[subprocess.Popen[t.Any]] = set()
_lock = threading.Lock()
_cancelled = threading.Event()


def run(
    argv: t.Sequence[str | os.PathLike[str]],
    *,
    env: t.Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stdin: bytes | None = None,
    on_line: t.Callable[[str], None] | None = None,
    log: str | os.PathLike[str] | None = None,
    to_its_end: bool = False,
) -> str:
    """Run a command in its own process group and return what it printed on standard output.

    ``env`` is added to this process' environment. Standard error goes to the end of ``log`` when given. ``on_line``
    sees each line of the joined output while it runs (then nothing is returned). A command that fails or is absent
    raises LabError with the last lines it said; one that was ended by ``cancel`` raises Interrupted. What must not be
    cut off, such as apt, goes ``to_its_end`` first.
    """
    command = [os.fspath(part) for part in argv]
    with _started(command, env, cwd, stdin is not None, on_line is not None, to_its_end) as child:
        if on_line is not None:
            out, err = _follow(child, on_line), ""
        else:
            raw_out, raw_err = child.communicate(stdin)
            out, err = raw_out.decode(errors="replace"), raw_err.decode(errors="replace")
    if log is not None:
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(f"$ {' '.join(command)}\n{out if on_line else err}\n")
    if to_its_end:
        check()
    if child.returncode != 0:
        if _cancelled.is_set():
            raise Interrupted("The lab was interrupted.")
        raise LabError(f"{_shown(command)} failed with exit status {child.returncode}: {_tail(err or out)}")
    return "" if on_line is not None else out


def cancel(grace: float = 8.0) -> None:
    """End all running children (SIGTERM, after ``grace`` seconds SIGKILL) and refuse new ones until ``reset``."""
    _cancelled.set()
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 2.0)):
        with _lock:
            alive = [child for child in _children if child.poll() is None]
        for child in alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
        end = time.monotonic() + patience
        while time.monotonic() < end and any(child.poll() is None for child in alive):
            time.sleep(0.05)


def reset() -> None:
    """Allow children again after ``cancel``."""
    _cancelled.clear()


def cancelled() -> bool:
    """Say whether ``cancel`` was called."""
    return _cancelled.is_set()


def check() -> None:
    """Raise Interrupted when ``cancel`` was called; for loops that start no process."""
    if _cancelled.is_set():
        raise Interrupted("The lab was interrupted.")


@contextlib.contextmanager
def _started(
    command: list[str], env: t.Mapping[str, str] | None, cwd: t.Any, feed: bool, joined: bool, to_its_end: bool
) -> t.Iterator[subprocess.Popen[bytes]]:
    with _lock:
        check()
        try:
            child = subprocess.Popen(
                command,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if joined else subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError as exc:
            raise LabError(f"The command {command[0]} is not on this machine; `lab build` installs it.") from exc
        if not to_its_end:
            _children.add(child)
    try:
        yield child
    finally:
        if child.poll() is None and to_its_end:
            child.communicate()
        elif child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            child.wait()
        with _lock:
            _children.discard(child)


def _follow(child: subprocess.Popen[bytes], on_line: t.Callable[[str], None]) -> str:
    """Hand each output line to ``on_line``; return the last 40 of them."""
    last: list[str] = []
    assert child.stdout is not None
    for raw in child.stdout:
        line = raw.decode(errors="replace").rstrip("\n")
        last = [*last[-39:], line]
        on_line(line)
    child.wait()
    return "\n".join(last)


def _shown(command: list[str]) -> str:
    text = " ".join([Path(command[0]).name, *command[1:]])
    return text if len(text) <= 120 else text[:117] + "..."


def _tail(text: str, lines: int = 6) -> str:
    kept = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return " / ".join(kept) or "it printed nothing"
