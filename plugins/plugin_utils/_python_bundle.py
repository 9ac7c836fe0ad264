# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection.

"""Python packages of the controller, packed so that a machine with another Python can use them."""

from __future__ import annotations

import gzip
import os
import tarfile
import typing as t
from importlib import metadata

try:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name
except ImportError:  # ansible-core needs it itself, so only tools that import this file alone come here
    Requirement = SpecifierSet = canonicalize_name = None  # type: ignore[assignment,misc] # see the line above

COMPILED = (".so", ".pyd", ".dll", ".dylib", ".pyc")
PYTHONS = [f"3.{minor}" for minor in range(6, 21)]


class BundleError(Exception):
    """A sentence for the user."""


class Bundle(t.NamedTuple):
    files: dict[str, str]
    versions: dict[str, str]
    minimum_python: str
    needs_newest: str


def _needed(distribution: metadata.Distribution) -> t.Iterator[str]:
    for text in distribution.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def _find(name: str, wanted_by: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError as exc:
        raise BundleError(
            f"The Python package {name}{wanted_by} is missing on the controller, beside ansible-core: install it with "
            "`pip install -r requirements.txt` of this collection in the same environment."
        ) from exc


def distributions(names: t.Sequence[str]) -> list[metadata.Distribution]:
    """The packages and all that they need, each once."""
    todo: list[tuple[str, str]] = [(canonicalize_name(name), "") for name in names]
    found: dict[str, metadata.Distribution] = {}
    while todo:
        name, wanted_by = todo.pop()
        if name in found:
            continue
        found[name] = _find(name, wanted_by)
        todo.extend((needed, f" (needed by {name})") for needed in _needed(found[name]))
    return [found[name] for name in sorted(found)]


def package_files(distribution: metadata.Distribution) -> dict[str, str]:
    """Python and data files, relative to the folder of packages; no scripts, nothing compiled, no records."""
    if distribution.files is None:
        raise BundleError(
            f"The Python package {distribution.name} of the controller has no list of its files: install it with pip."
        )
    result = {}
    for entry in distribution.files:
        name = str(entry)
        if name.startswith("..") or os.path.isabs(name) or name.endswith(COMPILED) or "__pycache__" in entry.parts:
            continue
        if ".dist-info" in entry.parts[0] and entry.name != "METADATA":
            continue  # how it was installed, which differs from controller to controller
        result[name] = str(distribution.locate_file(entry))
    return result


def minimum_python(specs: t.Mapping[str, str]) -> tuple[str, str]:
    """The oldest Python that all packages accept, and the package that asks for it."""
    oldest = {
        name: next((version for version in PYTHONS if SpecifierSet(spec).contains(f"{version}.99")), PYTHONS[0])
        for name, spec in specs.items()
    }
    name = max(sorted(oldest), key=lambda entry: PYTHONS.index(oldest[entry]))
    return oldest[name], name


def collect(names: t.Sequence[str]) -> Bundle:
    files: dict[str, str] = {}
    versions: dict[str, str] = {}
    specs: dict[str, str] = {}
    for distribution in distributions(names):
        files.update(package_files(distribution))
        versions[distribution.name] = distribution.version
        specs[distribution.name] = str(distribution.metadata.json.get("requires_python") or ">=3")
    return Bundle(files, versions, *minimum_python(specs))


def pack(files: t.Mapping[str, str], target: str) -> None:
    """A tar file that is the same whenever its content is."""
    with (
        open(target, "wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mode = os.path.getsize(files[name]), 0o644
            with open(files[name], "rb") as handle:
                tar.addfile(info, handle)
