# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put the collections that ours depends on into .cache/deps.

They come out of the Python package `ansible`, which carries them: that needs no Galaxy, and two folders of it are
2 MB where all of it is 470 MB. The ranges that they must be in stand in requirements.yml; a unit test compares.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

# The newest that runs on this Python: 14 is made for ansible-core 2.21, 12 for 2.19, the last one for Python 3.11.
PACKAGE = "ansible==14.5.0" if sys.version_info >= (3, 12) else "ansible==12.3.0"
COLLECTIONS = ("ansible/posix", "kubernetes/core")
TARGET = pathlib.Path(__file__).resolve().parent.parent / ".cache" / "deps"


def fetch(folder: pathlib.Path) -> pathlib.Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--only-binary=:all:", "--dest", str(folder), PACKAGE], check=True)
    return next(folder.glob("ansible-*.whl"))


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> None:
    wanted = tuple(f"ansible_collections/{name}/" for name in COLLECTIONS)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(wanted)])


def main() -> None:
    stamp = TARGET / "stamp"
    wanted = f"{PACKAGE} {' '.join(COLLECTIONS)}\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    print(f"setup: collections {', '.join(COLLECTIONS)} from {PACKAGE}", flush=True)
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as name:
        folder = pathlib.Path(name)
        unpack(fetch(folder), folder)
        for collection in COLLECTIONS:
            target = TARGET / "ansible_collections" / collection
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            (folder / "ansible_collections" / collection).rename(target)
    stamp.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
