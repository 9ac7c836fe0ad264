# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Where containerd's effective CRI settings come from, and what stands in its files without effect."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    CNI_DIRS,
    CRI,
    DISABLED_NAMES,
    RUNTIME,
    Config,
    ConfigRefused,
    Setting,
    cri_view,
    effective,
    equal,
    leaves,
    locate,
    new_name,
    strings,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import Path, TomlError, find, load, lookup

_SECRET = frozenset({"auth", "auths", "password", "identitytoken"})
# What schemas 3 and 4 still keep under the old plugin name.
_STILL_CRI = re.compile(r"disable_tcp_service|stream_.*|enable_tls_streaming|x509_key_pair_streaming")


def file_diff(path: str, before: str, after: str) -> dict[str, str]:
    """One file, as Ansible shows differences."""
    return {"before": before, "after": after, "before_header": path, "after_header": path}


def refused(path: str, problem: str) -> ConfigRefused:
    """containerd's own program does not take it."""
    return ConfigRefused(f"containerd cannot read {path}, which was not changed: {problem}")


def held_back(result: dict[str, t.Any], in_use: list[str], host: str) -> dict[str, t.Any]:
    """The result of leaving everything as it is, because a restart would disturb who uses the GPUs."""
    left = (
        f"containerd on {host} was left as it is, although it needs a restart ({result['reason']}): "
        f"{'; '.join(in_use)}. Run again when that has ended, or with -e gshare_disrupt={host}."
    )
    nothing = {"changed": False, "written": False, "proxy_written": False, "restarted": False, "absorbed": []}
    return {**result, **nothing, "held_back": [left], "warnings": [left]}


def why_unmet(config: Config, text: str, missing: list[Setting], view: dict[str, t.Any]) -> str:
    """One sentence for settings that the edited file has but that do not come into force."""
    reasons = []
    for setting in missing:
        value = lookup(view, setting.path)
        reason = f"{setting.name} would be {value!r} instead of {setting.value!r}"
        source = origin(Config(config.path, text, config.dump, config.drop_ins), setting.path)
        if source and source[0] != config.path:
            reason += f" because {source[0]}, line {source[1]}, sets it: change it there"
        elif value is None:
            reason += ": this containerd does not know the setting"
        reasons.append(reason)
    return f"{config.path} was not changed: {'; '.join(reasons)}."


def origin(config: Config, path: Path) -> tuple[str, int | None] | None:
    """The file and line that an effective setting comes from; None for containerd's own default."""
    daemon = load(config.dump).get("version", 2) if config.dump else 2
    result = None
    for file, text in config.texts.items():
        try:
            data = load(text)
        except TomlError:
            continue
        schema = data.get("version", 1)
        if not isinstance(schema, int) or (schema < 2 and daemon == 2):
            continue
        if daemon == 2 and lookup(data, ("plugins", CRI)) is not None:
            result = None  # containerd 1.x takes the whole plugin section from the last file that has one
        if lookup(cri_view(data, schema), path) is not None:
            one = bool(lookup(data, ("plugins", RUNTIME, "cni", "bin_dir")))
            value = ["/"] if path == CNI_DIRS else None
            result = (file, find(text, locate(Setting(path, value), schema, one)[0]))
    return result


def sources(config: Config) -> list[dict[str, t.Any]]:
    """Every effective CRI setting with the file and line that it comes from."""
    rows = []
    for path, value in leaves(effective(config.dump)):
        found = origin(config, path)
        rows.append(
            {
                "setting": dotted(path),
                "value": "********" if _SECRET.intersection(path) else value,
                "file": found[0] if found else None,
                "line": found[1] if found else None,
            }
        )
    return rows


def findings(config: Config) -> list[dict[str, t.Any]]:
    """What stands in the files but is not in force, and other traps, each with file, line and a sentence."""
    rows: list[dict[str, t.Any]] = []
    dump = load(config.dump) if config.dump else {}
    daemon = dump.get("version", 2)
    view = cri_view(dump, daemon)
    root = None
    for file, text in config.texts.items():
        data = load(text)
        version = data.get("version")
        if version is None:
            rows.append(_finding("no_version", file, 1, "no version line (read as version 1)"))
        if file == config.path:
            root = version
        elif isinstance(version, int) and isinstance(root, int) and version > root:
            text_ = f"version {version} is newer than version {root} of {config.path}: one of the two is ignored"
            rows.append(_finding("newer_drop_in", file, find(text, ("version",)), text_))
        if DISABLED_NAMES.intersection(strings(data.get("disabled_plugins"))):
            line = find(text, ("disabled_plugins",))
            rows.append(_finding("cri_disabled", file, line, "the CRI plugin is disabled"))
        rows += _not_effective(file, text, data, view, daemon)
    return rows


def _not_effective(
    file: str, text: str, data: dict[str, t.Any], view: dict[str, t.Any], daemon: int
) -> list[dict[str, t.Any]]:
    """Settings under the version 2 plugin name where that name is not read."""
    rows: list[dict[str, t.Any]] = []
    version = data.get("version", 1)
    table = lookup(data, ("plugins", CRI))
    if not isinstance(table, dict) or version == 2:
        return rows
    for path, value in leaves(table):
        if version >= 3 and _STILL_CRI.fullmatch(path[0]):
            continue
        new = new_name(path)
        if equal(lookup(view, new), [value] if new == CNI_DIRS else value):
            continue
        line = find(text, ("plugins", CRI, *path))
        if version >= 3:
            better = dotted(locate(Setting(new, value), version)[0])
            reason = f"found under the version 2 plugin name, version {version} has it as {better}"
        else:
            reason = "found under the version 2 plugin name in a file without a version line"
        rows.append(_finding("not_effective", file, line, f"{dotted(path)} is not effective ({reason})"))
    return rows


def _finding(name: str, file: str, line: int | None, message: str) -> dict[str, t.Any]:
    return {"name": name, "file": file, "line": line, "message": message}
