# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.
"""What stands in containerd's files without effect, and other traps: each with file, line and a sentence."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_origin import File, Origins
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    CNI_DIRS,
    CRI,
    DEFAULT_RUNTIME,
    DISABLED_NAMES,
    PLUGINS,
    RUNTIMES,
    Config,
    Setting,
    equal,
    generated,
    leaves,
    locate,
    new_name,
    strings,
    told_of,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import Path, lookup

Row = dict[str, t.Any]

# `config dump` accepts them, but containerd does not start, or not its CRI plugin.
BLOCKING = frozenset({"cri_disabled", "default_runtime", "missing_import", "registry_mirrors", "registry_tls"})
# What schemas 3 and 4 still keep under the old plugin name.
_STILL_CRI = re.compile(r"disable_tcp_service|stream_.*|enable_tls_streaming|x509_key_pair_streaming")
_ROOT_KEYS = frozenset(
    {
        "cgroup",
        "debug",
        "disabled_plugins",
        "grpc",
        "imports",
        "metrics",
        "oom_score",
        "plugin_dir",
        "plugins",
        "proxy_plugins",
        "required_plugins",
        "root",
        "state",
        "stream_processors",
        "temp",
        "timeouts",
        "ttrpc",
        "version",
    }
)
_REGISTRY: Path = ("images", "registry")


def findings(config: Config) -> list[Row]:
    origins = Origins(config)
    rows: list[Row] = []
    for number, file in enumerate(origins.files):
        rows += _of_the_file(config, file, origins)
        if origins.has_cri:
            rows += _without_effect(origins, file, origins.files[number + 1 :])
    return [*rows, *_of_runtimes(config, origins), *_of_registries(config, origins)]


def not_imported(config: Config, idle: t.Iterable[str], names: t.Container[str] | None = None) -> list[Row]:
    """A row for each file, of those names, that looks like a drop-in, but that nothing imports."""
    message = f"not effective, because {config.path} does not import it; remove the file, or import its folder"
    found = [path for path in idle if names is None or os.path.basename(path) in names]
    return [_row("not_imported", path, None, message) for path in found]


def other_daemon(config: Config, stranger: str, service: str) -> list[Row]:
    """A row where another containerd than that of the service answers the kubelet."""
    return [_row("other_daemon", config.path, None, told_of(stranger, service))] if stranger else []


def sentence(row: Row) -> str:
    place = row["file"] if row["line"] is None else f"{row['file']}, line {row['line']}"
    return f"{place}: {row['message']}"


def _of_the_file(config: Config, file: File, origins: Origins) -> t.Iterator[Row]:
    told = generated(file.path, file.text)
    if told:
        yield _row("generated", file.path, 1, told)
    if "version" not in file.data:
        yield _row("no_version", file.path, 1, "no version line (read as version 1)")
    root = origins.files[0]
    if root.path == config.path and "version" in root.data and file.version > root.version:
        message = (
            f"version {file.version} is newer than version {root.version} of {root.path}: depending on its release "
            "containerd loses one of the two or does not start; give both files the same version"
        )
        yield _row("newer_drop_in", file.path, file.line(("version",)), message)
    if _disabled(file.data) and (_disabled(origins.dump) or not config.dump):
        message = "the CRI plugin is disabled; take it out of disabled_plugins"
        yield _row("cri_disabled", file.path, file.line(("disabled_plugins",)), message)
    for name in missing_imports(config, file.path, file.data):
        message = f"imports names {name}, which is not there, and containerd does not start without it; remove it there"
        yield _row("missing_import", file.path, file.line(("imports",)), message)
    for key in file.data:
        if key not in _ROOT_KEYS and key not in origins.dump:
            yield _row("unknown_key", file.path, file.line((key,)), _unknown(key, origins))


def missing_imports(config: Config, path: str, data: dict[str, t.Any]) -> list[str]:
    """The imports of one file that are neither a pattern nor there."""
    return [
        name
        for name in strings(data.get("imports"))
        if "*" not in name and full_path(path, name) not in map(os.path.normpath, config.texts)
    ]


def full_path(path: str, name: str) -> str:
    """An import as an absolute path; a relative one starts at the folder of the file that has it."""
    return os.path.normpath(os.path.join(os.path.dirname(path), name))


def _disabled(data: dict[str, t.Any]) -> bool:
    return bool(DISABLED_NAMES.intersection(strings(data.get("disabled_plugins"))))


def _unknown(key: str, origins: Origins) -> str:
    homes = [path for path, _value in leaves(origins.dump.get("plugins", {})) if path[-1] == key]
    better = f"; there is {dotted(('plugins', *homes[0]))}, move it there" if homes else "; correct or remove it"
    return f"{key} is not a key of the root, so containerd does not read it{better}"


def _without_effect(origins: Origins, file: File, later: list[File]) -> t.Iterator[Row]:
    """CRI settings of this file whose effective value is another one."""
    table = ("plugins", CRI)
    over = [other.path for other in later if lookup(other.data, table) is not None] if origins.daemon == 2 else []
    if over and lookup(file.data, table):
        message = (
            f"nothing of {dotted(table)} is effective: {over[-1]} has this section too, and containerd 1.x takes the "
            "whole section from the last file; have all of it in one file"
        )
        yield _row("shadowed", file.path, file.line(table), message)
        return
    for place, path, value in _settings_in(file):
        now = lookup(origins.view, path)
        nothing = isinstance(value, dict) or (now is None and not value)
        added = isinstance(now, list) and isinstance(value, list) and all(item in now for item in value)
        if nothing or added or equal(now, value):
            continue
        source = origins.of(path)
        if source and source[0] in [other.path for other in later]:
            name, reason = "shadowed", f": {source[0]}, line {source[1]}, comes later and sets it too; change it there"
        else:
            name, reason = _why(file, origins.daemon, place, path, now)
        yield _row(name, file.path, file.line(place), f"{dotted(place[2:])} is not effective{reason}")


def _settings_in(file: File) -> t.Iterator[tuple[Path, Path, t.Any]]:
    """Each CRI setting of a file under whichever plugin name: its place, its newest name, its value."""
    for path, value in leaves(lookup(file.data, ("plugins", CRI)) or {}):
        if file.version < 3 or not _STILL_CRI.fullmatch(path[0]):
            new = new_name(path)
            yield ("plugins", CRI, *path), new, [value] if new == CNI_DIRS else value
    for section, plugin in PLUGINS.items():
        for path, value in leaves(lookup(file.data, ("plugins", plugin)) or {}):
            yield ("plugins", plugin, *path), (section, *path), value


def _why(file: File, daemon: int, place: Path, path: Path, now: t.Any) -> tuple[str, str]:
    old, schema = place[1] == CRI, min(file.version, daemon)
    if old and schema < 2:
        return "not_effective", " (found under the version 2 plugin name in a file without a version line)"
    if old == (schema >= 3):
        better = dotted(locate(Setting(path, ["/"] if path == CNI_DIRS else None), schema)[0])
        reason = f"found under the version {2 if old else 3} plugin name, version {schema} has it as {better}"
        return "not_effective", f" ({reason})"
    if now is not None:
        return "not_effective", ": containerd has another value"
    if path[:3] == RUNTIMES and len(path) == 5:
        better = dotted((*place[:-1], "options", place[-1]))
        return "unknown_setting", f": this containerd has no such setting here; options of a runtime stand in {better}"
    return "unknown_setting", ": this containerd has no such setting; correct or remove it"


def _of_runtimes(config: Config, origins: Origins) -> t.Iterator[Row]:
    name = lookup(origins.view, DEFAULT_RUNTIME)
    if origins.has_cri and name and lookup(origins.view, (*RUNTIMES, name)) is None:
        message = (
            f"default_runtime_name is {name}, but there is no such runtime, and containerd does not load its CRI "
            "plugin; add the runtime"
        )
        yield _setting_row("default_runtime", config, origins, DEFAULT_RUNTIME, message)


def _of_registries(config: Config, origins: Origins) -> t.Iterator[Row]:
    registry = lookup(origins.view, _REGISTRY) or {}
    directory, mirrors, configs = (registry.get(key) for key in ("config_path", "mirrors", "configs"))
    if not directory:
        return
    both = "stands beside registry.config_path, and with both containerd does not load its CRI plugin"
    below = f"a hosts.toml for each below {directory.partition(':')[0]}"
    if mirrors:
        message = f"registry.mirrors ({', '.join(mirrors)}) {both}: write {below} and remove it here"
        yield _setting_row("registry_mirrors", config, origins, (*_REGISTRY, "mirrors"), message)
    for name in configs or {}:
        if lookup(configs, (name, "tls")) is not None:
            message = f"registry.configs.{dotted((name,))}.tls {both}: write {below} and remove it here"
            yield _setting_row("registry_tls", config, origins, (*_REGISTRY, "configs", name, "tls"), message)
    if ":" in directory and origins.daemon > 2:
        message = f"registry.config_path is {directory}, and containerd 2.1 and later read no list; name one directory"
        yield _setting_row("registry_list", config, origins, (*_REGISTRY, "config_path"), message)


def _setting_row(name: str, config: Config, origins: Origins, path: Path, message: str) -> Row:
    source = origins.of(path)
    return _row(name, *(source or (config.path, None)), message)


def _row(name: str, file: str, line: int | None, message: str) -> Row:
    return {"name": name, "file": file, "line": line, "message": message}
