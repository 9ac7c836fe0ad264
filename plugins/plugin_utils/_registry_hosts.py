# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""What stands in containerd's directory of registries, and what has to be written and removed there.

containerd reads a registry's hosts.toml at every pull, so nothing is restarted for it. A file of ours begins with
C(MARK); certificates of ours have names that nobody else uses and that containerd does not look for by itself.
"""

from __future__ import annotations

import hashlib
import posixpath
import typing as t
from dataclasses import dataclass, field

from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import login
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import Endpoint, Registry
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import render
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import TomlError, load

DIRECTORY = "/etc/containerd/certs.d"
FILE = "hosts.toml"
MARK = "# Managed by gshare.cluster: changes by hand are overwritten."
_SIGN = MARK.partition(":")[0]
_PUBLIC, _PRIVATE = "0644", "0600"


@dataclass(frozen=True)
class Entry:
    """A file that is there; the text of a hosts.toml, of all others the digest."""

    digest: str
    mode: str = _PUBLIC
    text: str | None = None

    @property
    def ours(self) -> bool:
        return self.text is not None and self.text.startswith(_SIGN)


@dataclass(frozen=True)
class Tree:
    """The directory: its folders, and their files by their path below it."""

    folders: tuple[str, ...] = ()
    files: dict[str, Entry] = field(default_factory=dict)

    def names(self, folder: str) -> list[str]:
        return [posixpath.basename(path) for path in self.files if posixpath.dirname(path) == folder]


def tree_of(found: t.Mapping[str, t.Any]) -> Tree:
    """The directory as the machine told of it."""
    return Tree(tuple(found["folders"]), {path: Entry(**entry) for path, entry in found["files"].items()})


@dataclass(frozen=True)
class File:
    path: str
    text: str
    mode: str = _PUBLIC

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    def stands(self, entry: Entry | None) -> bool:
        return entry is not None and (entry.digest, entry.mode) == (self.digest, self.mode)


@dataclass(frozen=True)
class Plan:
    """In this order, a run that is killed leaves every hosts.toml with the certificates that it names."""

    write: list[File]
    remove: list[str]
    # Files of others that one of ours takes the place of.
    keep: list[str]

    @property
    def changes(self) -> bool:
        return bool(self.write or self.remove)


def files(registry: Registry) -> list[File]:
    """All files of one registry, hosts.toml last."""
    lines = [MARK]
    tables: list[str] = []
    found: list[File] = []
    if registry.server:
        lines.append(f"server = {render(registry.server)}")
    for number, endpoint in enumerate(registry.endpoints, start=1):
        settings, headers = _settings(endpoint, number)
        table = f"host.{render(endpoint.url)}"
        if endpoint.url == registry.server:
            # The last one that is asked is the same machine, which wants the same proof.
            lines += settings
            tables = [*_table("header", headers), *tables]
        path = ["override_path = true"] if endpoint.has_path else []
        capabilities = [f"capabilities = {render(list(endpoint.capabilities))}"]
        tables += ["", f"[{table}]", *(f"  {line}" for line in capabilities + path + settings)]
        tables += _table(f"{table}.header", headers)
        found += _certificates(registry.name, endpoint, number)
    secret = any(endpoint.password for endpoint in registry.endpoints)
    text = "\n".join([*lines, *tables, ""])
    return [*found, File(f"{registry.name}/{FILE}", text, _PRIVATE if secret else _PUBLIC)]


def _table(name: str, pairs: list[str]) -> list[str]:
    return ["", f"[{name}]", *(f"  {pair}" for pair in pairs)] if pairs else []


def _settings(endpoint: Endpoint, number: int) -> tuple[list[str], list[str]]:
    settings, headers = [], []
    if endpoint.ca:
        settings.append(f"ca = {render(_pem(number, 'ca'))}")
    if endpoint.client_certificate:
        pair = [_pem(number, "client"), _pem(number, "client-key")]
        settings.append(f"client = {render([pair])}")
    if endpoint.username:
        headers.append(f"Authorization = {render(f'Basic {login(endpoint.username, endpoint.password)}')}")
    return settings, headers


def _pem(number: int, kind: str) -> str:
    return f"gshare-{number}-{kind}.pem"


def _certificates(folder: str, endpoint: Endpoint, number: int) -> list[File]:
    texts = (
        ("ca", endpoint.ca, _PUBLIC),
        ("client", endpoint.client_certificate, _PUBLIC),
        ("client-key", endpoint.client_key, _PRIVATE),
    )
    return [File(f"{folder}/{_pem(number, kind)}", text, mode) for kind, text, mode in texts if text]


def plan(registries: t.Iterable[Registry], tree: Tree) -> Plan:
    """What to do so that the directory has exactly these registries beside those of others."""
    wish = {file.path: file for registry in registries for file in files(registry)}
    write = [file for path, file in wish.items() if not file.stands(tree.files.get(path))]
    gone = [path for path, entry in tree.files.items() if path not in wish and (entry.ours or _is_ours(path))]
    # A hosts.toml goes before the certificates that it names.
    remove = sorted(gone, key=lambda path: (posixpath.dirname(path), posixpath.basename(path) != FILE, path))
    keep = [path for path in wish if (entry := tree.files.get(path)) and entry.text is not None and not entry.ours]
    return Plan(write, remove, keep)


def _is_ours(path: str) -> bool:
    """A certificate of ours, or what a killed run left of it."""
    name = posixpath.basename(path)
    return (name.startswith("gshare-") and name.endswith(".pem")) or name.startswith(".gshare-")


def diffs(directory: str, plan_: Plan, tree: Tree) -> list[dict[str, str]]:
    """One entry a file; nothing secret is in it, old or new."""
    found = []
    for file in plan_.write:
        found.append(_diff(f"{directory}/{file.path}", tree.files.get(file.path), file))
    for path in plan_.remove:
        found.append(_diff(f"{directory}/{path}", tree.files[path], None))
    return found


def _diff(path: str, old: Entry | None, new: File | None) -> dict[str, str]:
    before = "" if old is None else _shown("old", old.text, old.mode)
    after = "" if new is None else _shown("new", new.text if path.endswith(FILE) else None, new.mode)
    return {"before": before, "after": after, "before_header": path, "after_header": path}


def _shown(age: str, text: str | None, mode: str) -> str:
    """A text that may hold a password or a key is not shown; mode says what is, a header what may be."""
    try:
        plain = text is not None and mode == _PUBLIC and "header" not in str(load(text)).lower()
    except TomlError:
        plain = False
    return str(text) if plain else f"({age} content, not shown)\n"
