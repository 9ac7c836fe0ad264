# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Copies of Go modules that need a small change before they build here, declared as data."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import typing as t
from pathlib import Path

from nodelab import process, versions
from nodelab.errors import LabError


@dataclasses.dataclass(frozen=True)
class ModulePatch:
    """What to change in a copy of ``module``, which gosrc/go.mod replaces by ``./folder``.

    ``remove`` are patterns of files to delete, ``replace`` triples of (pattern of files, regular expression,
    text), ``empty`` packages whose Go files give way to a bare package clause, ``drop`` requirements to take out of
    its go.mod.
    """

    module: str
    version: str
    folder: str
    remove: tuple[str, ...] = ()
    replace: tuple[tuple[str, str, str], ...] = ()
    empty: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


PATCHES = (
    # Its udp backend needs cgo on amd64, and the SDK of its tencentvpc backend is not on the module proxy.
    ModulePatch(
        module="github.com/flannel-io/flannel",
        version=f"v{versions.FLANNEL}",
        folder="flannel",
        remove=("pkg/backend/udp/*amd64*", "**/*_test.go"),
        replace=(("pkg/backend/udp/udp*.go", r"(?m)^//\s?(go:build|\+build) .*\n", ""),),
        empty=("pkg/backend/tencentvpc",),
        drop=(
            "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common",
            "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/vpc",
        ),
    ),
    # It imports logrus by its old name, and one build cannot hold two paths that differ only in case.
    ModulePatch(
        module="github.com/rancher/local-path-provisioner",
        version=f"v{versions.LOCAL_PATH}",
        folder="local-path-provisioner",
        remove=("vendor", "test"),
        replace=(("*.go", "github.com/Sirupsen/logrus", "github.com/sirupsen/logrus"),),
        drop=("github.com/Sirupsen/logrus",),
    ),
)


def as_data(patch: ModulePatch) -> dict[str, t.Any]:
    """Return the patch as plain data, for a recipe's hash."""
    return dataclasses.asdict(patch)


def write_copy(patch: ModulePatch, workspace: Path, go: Path, env: t.Mapping[str, str]) -> None:
    """Download the module and write its changed copy to ``workspace``/folder."""
    answer = process.run([go, "mod", "download", "-json", f"{patch.module}@{patch.version}"], cwd="/", env=env)
    source = Path(json.loads(answer)["Dir"])
    target = workspace / patch.folder
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, names, _files in os.walk(target):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o755)
    apply(patch, target)
    if patch.drop:
        drops = [f"-droprequire={module}" for module in patch.drop]
        process.run([go, "mod", "edit", *drops], cwd=target, env=env)


def apply(patch: ModulePatch, target: Path) -> None:
    """Change the files of a copy. Raises LabError when a pattern finds nothing: the module is not what was expected."""
    for pattern in patch.remove:
        for path in _found(patch, target, pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for pattern, expression, text in patch.replace:
        for path in _found(patch, target, pattern):
            path.write_text(re.sub(expression, text, path.read_text(encoding="utf-8")), encoding="utf-8")
    for package in patch.empty:
        for path in _found(patch, target, f"{package}/*.go"):
            path.unlink()
        (target / package / "empty.go").write_text(f"package {Path(package).name}\n", encoding="utf-8")


def _found(patch: ModulePatch, target: Path, pattern: str) -> list[Path]:
    found = sorted(target.glob(pattern))
    if not found:
        raise LabError(f"{patch.module} {patch.version} has no {pattern}; its patch in gopatch.py needs another look.")
    return found
