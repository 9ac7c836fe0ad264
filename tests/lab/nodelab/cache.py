# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A store of built things in which a broken or half-written entry is never used.

An entry is the folder ``ROOT/NAME/VERSION-RECIPE``. It is made in a sibling ``.tmp-...``, gets a manifest with the size
of each of its files, and is then renamed. Whoever makes or checks an entry holds its lock, so that two builds
can run at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess
import time
import typing as t
from pathlib import Path

from nodelab import process
from nodelab.errors import LabError

MANIFEST = ".entry.json"
Maker = t.Callable[[Path], None]


def recipe_hash(*parts: object) -> str:
    """Return twelve hex digits that change when any part does.

    A Path is taken by its content (a folder by the names and contents of all files in it), everything else by its
    JSON text.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            for file in sorted(_files_of(part)):
                digest.update(f"{file.relative_to(part) if part.is_dir() else file.name}\0".encode())
                digest.update(file.read_bytes())
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
        digest.update(b"\0\0")
    return digest.hexdigest()[:12]


def scan(folder: Path) -> dict[str, int]:
    """Return the size in bytes of each regular file below ``folder``, by its path relative to it; -1 for a symlink."""
    sizes: dict[str, int] = {}
    pending = [str(folder)]
    while pending:
        with os.scandir(pending.pop()) as found:
            for item in found:
                if item.is_dir(follow_symlinks=False):
                    pending.append(item.path)
                    continue
                info = item.stat(follow_symlinks=False)
                name = os.path.relpath(item.path, folder)
                if stat.S_ISREG(info.st_mode):
                    sizes[name] = info.st_size
                elif stat.S_ISLNK(info.st_mode):
                    sizes[name] = -1
    sizes.pop(MANIFEST, None)
    return sizes


class Cache:
    """The store below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def entry(self, name: str, version: str, recipe: str) -> Path:
        """Return where an entry is or would be."""
        return self.root / name / f"{version}-{recipe}"

    def is_valid(self, entry: Path) -> bool:
        """Say whether the entry is complete: a manifest, and every file in it with its size."""
        try:
            manifest = json.loads((entry / MANIFEST).read_text(encoding="utf-8"))
            return bool(manifest["files"] == scan(entry))
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def ensure(
        self,
        name: str,
        version: str,
        recipe: str,
        make: Maker,
        *,
        good: t.Callable[[Path], bool] = lambda _entry: True,
        on_wait: t.Callable[[], None] = lambda: None,
    ) -> tuple[Path, bool]:
        """Return the entry and whether it had to be made.

        ``make`` fills an empty folder; what it raises is passed on and leaves no entry. ``good`` may refuse an entry
        that is complete but of no use any more (it is made again). ``on_wait`` is called once when another process
        has the lock.
        """
        entry = self.entry(name, version, recipe)
        entry.parent.mkdir(parents=True, exist_ok=True)
        self._sweep(entry.parent)
        with _locked(entry.parent / f".lock-{entry.name}", on_wait):
            if self.is_valid(entry) and good(entry):
                os.utime(entry / MANIFEST)  # prune goes by it
                return entry, False
            remove_tree(entry)
            temporary = entry.parent / f".tmp-{entry.name}"
            remove_tree(temporary)
            temporary.mkdir(mode=0o755)
            try:
                make(temporary)
                _seal(temporary)
                temporary.rename(entry)
                _sync(entry.parent)
            except BaseException:
                remove_tree(temporary)
                raise
        return entry, True

    def prune(self, days: int) -> list[str]:
        """Remove entries that nobody asked for in so many days; return their names, as NAME/VERSION-RECIPE."""
        removed = []
        for manifest in sorted(self.root.glob(f"*/*/{MANIFEST}")):
            if time.time() - manifest.stat().st_mtime > days * 24 * 3600:
                lock = manifest.parent.parent / f".lock-{manifest.parent.name}"
                with _locked(lock, lambda: None):
                    remove_tree(manifest.parent)
                removed.append(str(manifest.parent.relative_to(self.root)))
        return removed

    def _sweep(self, folder: Path) -> None:
        """Remove temporary folders whose maker is gone: nobody holds their lock."""
        for temporary in folder.glob(".tmp-*"):
            with contextlib.suppress(BlockingIOError):
                lock = folder / f".lock-{temporary.name.removeprefix('.tmp-')}"
                with open(lock, "w", encoding="utf-8") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_tree(temporary)


def mounts_below(folder: Path) -> list[str]:
    """Return the mount points at or below ``folder``, deepest first."""
    found = []
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        point = line.split(" ")[1].replace("\\040", " ")
        if point == str(folder) or point.startswith(f"{folder}/"):
            found.append(point)
    return sorted(found, key=len, reverse=True)


def remove_tree(folder: Path) -> None:
    """Remove a folder, if it is there, after unmounting what a killed build left mounted in it."""
    if not folder.is_symlink() and not folder.exists():
        return
    for point in mounts_below(folder):
        # Not through process.run: this also cleans up after an interrupt.
        subprocess.run(["umount", "--lazy", point], capture_output=True, check=False)
    if mounts_below(folder):
        raise LabError(f"Something is still mounted below {folder}; unmount it and run again.")
    shutil.rmtree(folder)


def _files_of(part: Path) -> list[Path]:
    if part.is_file():
        return [part]
    return [file for file in part.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def _seal(folder: Path) -> None:
    """Write the manifest and see that it reaches the disk."""
    manifest = folder / MANIFEST
    with open(manifest, "w", encoding="utf-8") as stream:
        json.dump({"made": int(time.time()), "files": scan(folder)}, stream)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _locked(path: Path, on_wait: t.Callable[[], None]) -> t.Iterator[None]:
    """Hold the lock file; wait for another process that has it, but not past an interrupt."""
    with open(path, "w", encoding="utf-8") as stream:
        told = False
        while True:
            process.check()
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    on_wait()
                    told = True
                time.sleep(0.3)
        yield
