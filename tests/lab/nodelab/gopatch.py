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
    text), ``texts`` pairs of (file, text) to write afterwards, ``drop`` requirements to take out of its go.mod.
    """

    module: str
    version: str
    folder: str
    remove: tuple[str, ...] = ()
    replace: tuple[tuple[str, str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    drop: tuple[str, ...] = ()


PATCHES = (
    # Without two backends: udp needs cgo on amd64, and the SDK of tencentvpc is not on the module proxy.
    ModulePatch(
        module="github.com/flannel-io/flannel",
        version=f"v{versions.FLANNEL}",
        folder="flannel",
        remove=("pkg/backend/tencentvpc", "pkg/backend/udp", "**/*_test.go"),
        replace=(("main.go", r'(?m)^.*/pkg/backend/(tencentvpc|udp)"\n', ""),),
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
    # crictl wants one constant of a package that brings a whole test framework.
    ModulePatch(
        module="sigs.k8s.io/cri-tools",
        version=f"v{versions.CRI_TOOLS}",
        folder="cri-tools",
        remove=("pkg/framework/*", "cmd/critest", "**/*_test.go"),
        texts=(("pkg/framework/framework.go", 'package framework\n\nconst OSWindows = "windows"\n'),),
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
    for name, text in patch.texts:
        (target / name).write_text(text, encoding="utf-8")


def _found(patch: ModulePatch, target: Path, pattern: str) -> list[Path]:
    found = sorted(target.glob(pattern))
    if not found:
        raise LabError(f"{patch.module} {patch.version} has no {pattern}; its patch in gopatch.py needs another look.")
    return found
