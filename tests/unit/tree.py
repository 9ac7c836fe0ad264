# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of the collection and what roles declare, for the tests of the house rules."""

from __future__ import annotations

import functools
import pathlib
import re
import subprocess
import typing as t

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


class _Loader(yaml.SafeLoader):
    """YAML as Ansible writes it: its tags (!unsafe, !vault) are plain values here."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: loader.construct_scalar(node))


@functools.cache
def tracked() -> tuple[pathlib.Path, ...]:
    """What git tracks or would, as paths relative to the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return tuple(sorted(path for name in names if name and ((path := ROOT / name).exists() or path.is_symlink())))


def files(*patterns: str) -> list[pathlib.Path]:
    return [path for path in tracked() if any(path.relative_to(ROOT).match(pattern) for pattern in patterns)]


def under(*folders: str, suffixes: tuple[str, ...] = ()) -> list[pathlib.Path]:
    return [
        path
        for path in tracked()
        if any(path.is_relative_to(ROOT / folder) for folder in folders) and (not suffixes or path.suffix in suffixes)
    ]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@functools.cache
def data(path: pathlib.Path) -> t.Any:
    return yaml.load(text(path), Loader=_Loader)  # the loader is a safe one


def roles() -> list[pathlib.Path]:
    return sorted({ROOT.joinpath(*path.relative_to(ROOT).parts[:2]) for path in under("roles")})


def options(role: pathlib.Path) -> dict[str, dict[str, t.Any]]:
    """The options of all entry points of a role."""
    specs = data(role / "meta" / "argument_specs.yml")["argument_specs"]
    return {key: value for entry in specs.values() for key, value in (entry.get("options") or {}).items()}


def defaults(role: pathlib.Path) -> dict[str, t.Any]:
    path = role / "defaults" / "main.yml"
    return (data(path) or {}) if path.exists() else {}


@functools.cache
def variables(role: pathlib.Path) -> frozenset[str]:
    """All variable names that belong to a role: its options, defaults, and the internal ones that it uses."""
    internal = re.compile(rf"\b__{role.name}_\w+")
    used = {found for path in under(name(role)) for found in internal.findall(text(path))}
    return frozenset({*options(role), *defaults(role), *used})
