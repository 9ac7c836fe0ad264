# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""What is told of an edit of containerd's configuration, or of the reason why there is none."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import (
    BLOCKING,
    Row,
    findings,
    sentence,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_origin import Origins
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    CRI,
    NEWEST,
    Config,
    ConfigRefused,
    Setting,
    check_types,
    effective,
    unmet,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import lookup


def file_diff(path: str, before: str, after: str) -> dict[str, str]:
    """One file, as Ansible shows differences."""
    return {"before": before, "after": after, "before_header": path, "after_header": path}


def refused(config: Config, problem: str) -> ConfigRefused:
    """containerd's own program does not take it."""
    known = newest_schema(config.program)
    reasons = [
        f"; {file.path}, line {file.line(('version',))}: version {file.version} is newer than version {known}, which "
        f"containerd {config.program} knows; have the file in that version, or install a newer containerd"
        for file in Origins(config).files
        if file.version > known
    ]
    return ConfigRefused(f"containerd cannot read {config.path}, which was not changed: {problem}{''.join(reasons)}")


def newest_schema(program: str) -> int:
    """The newest schema that a containerd of this version reads."""
    number = [int(part) for part in program.split(".") if part.isdecimal()]
    if not number or number >= [2, 3]:
        return NEWEST
    return 3 if number >= [2] else 2


def blocked(before: Config, rows: list[Row]) -> list[str]:
    """A sentence for each reason why containerd would not serve Kubernetes, with the lines of the files as they are.

    C(rows) are the findings of the edited text, C(before) has the text without the edit.
    """
    kinds = {(row["name"], row["file"]) for row in rows if row["name"] in BLOCKING}
    reasons = [row for row in findings(before) if (row["name"], row["file"]) in kinds] if kinds else []
    return [f"{before.path} was not changed: {sentence(row)}." for row in reasons]


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
    origins = Origins(replace(config, text=text))
    over = [file for file in origins.files if lookup(file.data, ("plugins", CRI)) is not None]
    if origins.daemon == 2 and over and over[-1].path != config.path:
        line = over[-1].line(("plugins", CRI))
        return (
            f"{config.path} was not changed: {', '.join(setting.name for setting in missing)} would not be effective, "
            f"because {over[-1].path}, line {line}, has {dotted(('plugins', CRI))} too, and containerd 1.x takes the "
            "whole section from the last file; have all of it in one file."
        )
    for setting in missing:
        value = lookup(view, setting.path)
        reason = f"{setting.name} would be {value!r} instead of {setting.value!r}"
        source = origins.of(setting.path)
        if source and source[0] != config.path:
            reason += f" because {source[0]}, line {source[1]}, sets it: change it there"
        elif value is None:
            reason += ": this containerd does not know the setting"
        reasons.append(reason)
    return f"{config.path} was not changed: {'; '.join(reasons)}."


def judge(config: Config, text: str, dump: str, wanted: list[Setting]) -> list[Row]:
    """What is to be said of an edited text that containerd takes; refused where it has not the wanted effect.

    C(dump) is what containerd makes of the text, the dump of C(config) what is in force.
    """
    after = replace(config, text=text, dump=dump)
    rows, view = findings(after), effective(dump)
    problems = blocked(replace(config, dump=dump), rows)
    missing = unmet(view, wanted)
    if missing and not any(row["name"] == "cri_disabled" for row in rows):
        problems.append(why_unmet(config, text, missing, view))
    if problems:
        raise ConfigRefused(" ".join(problems))
    check_types(config.path, view, wanted)
    return rows
