# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Takes a generated drop-in into the configuration file, so that it shadows nothing any more.

C(nvidia-ctk runtime configure) writes a full copy of the CRI section as it was at that moment into 99-nvidia.toml.
containerd 1.x then ignores the section of the root file altogether, 2.x later changes to values that the copy has.
What only the copy brings into force goes into the root file; where the root file says something itself, that counts.
The copy is kept beside its place, under a name that nothing imports.
"""

from __future__ import annotations

import os
import typing as t
from dataclasses import dataclass, field

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import full_path
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_registry import (
    CONFIG_PATH,
    missing_directory,
    refuse_directory,
    unread,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import file_diff
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    CRI,
    DEFAULT_RUNTIME,
    IMAGES,
    RUNTIME,
    Config,
    ConfigRefused,
    Setting,
    cri_view,
    edit,
    effective,
    equal,
    leaves,
    parse,
    strings,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted, remove_items, set_value
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import load, lookup

Json = dict[str, t.Any]


@dataclass
class Plan:
    """The text that the file should have, and the drop-ins that go with it."""

    config: Config
    text: str
    settings: Json
    gone: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def candidate(self) -> str:
        """The text to try while the drop-ins are still there: it imports the others by name."""
        return without(self.text, self.config) if self.gone else self.text

    def diffs(self, before: Config) -> list[dict[str, str]]:
        """What changes, file by file."""
        found = [file_diff(before.path, before.text or "", self.text)] if self.text != before.text else []
        return found + [file_diff(path, before.drop_ins[path], "") for path in self.gone]


def plan(config: Config, options: Json, dump_of: t.Callable[[str], str]) -> Plan:
    """What to write for the options of the task. C(dump_of) asks containerd what it makes of a text."""
    settings, names, never_default = options["settings"], options["absorb"], options["never_default"]
    refuse_directory(settings, options["registry_directory"])
    gone = [path for path in config.drop_ins if os.path.basename(path) in names]
    warnings = []
    before = config
    if gone and config.text is not None:
        rest = {path: text for path, text in config.drop_ins.items() if path not in gone}
        left = Config(config.path, config.text, "", rest)
        left.dump = dump_of(without(config.text, left))
        carried = carry(config, left, gone, never_default)
        settings = _over(carried, settings)
        warnings = [_told(config, path, carried, never_default) for path in gone]
        config = left
    settings = _demoted(config, settings, never_default)
    settings, lost = _in_one_directory(before, config, settings, options["registry_directory"])
    text = edit(config, settings)
    return Plan(config, _not_imported(config.path, text, gone), settings, gone, warnings, lost)


def _not_imported(path: str, text: str, gone: list[str]) -> str:
    """containerd does not start with the name of a file that is not there."""
    names = strings(load(text).get("imports")) if gone else []
    return remove_items(text, ("imports",), {name for name in names if full_path(path, name) in gone})


def _in_one_directory(before: Config, after: Config, settings: Json, wanted: str | None) -> tuple[Json, list[str]]:
    """The settings with a directory for registries where one is wanted, and what is not read any more with it."""
    directory = missing_directory(_in_force(after), settings, wanted) if wanted else None
    if not directory:
        return settings, []
    return _merged(settings, _over([Setting(CONFIG_PATH, directory)], {})), unread(_in_force(before), directory)


def without(text: str, config: Config) -> str:
    """The text with the drop-ins that stay as its only imports."""
    return set_value(text, ("imports",), list(config.drop_ins))


def carry(config: Config, left: Config, gone: list[str], never_default: t.Collection[str]) -> list[Setting]:
    """What would no longer be in force without the drop-ins, and that nothing else says."""
    before, after = _view(config, gone), effective(left.dump) if left.dump else {}
    own = _own(left)
    found = []
    for path, value in leaves(before):
        if equal(lookup(after, path), value) or (not value and lookup(after, path) is None):
            continue
        if lookup(own, path) is not None or (path == DEFAULT_RUNTIME and value in never_default):
            continue
        found.append(Setting(path, value))
    foreign = _foreign(config.dump, left.dump)
    if foreign:
        raise ConfigRefused(
            f"{' and '.join(gone)} sets {', '.join(foreign)} as well, which is not of the CRI plugins; move that to a "
            f"file of your own or to {config.path}, then run again. Nothing was changed."
        )
    return found


def _view(config: Config, gone: list[str]) -> Json:
    """The CRI settings in force; of a configuration that containerd refuses what the drop-ins themselves say."""
    if config.dump:
        return effective(config.dump)
    view: Json = {}
    for path in gone:
        data = parse(path, config.drop_ins[path])
        view = _merged(view, cri_view(data, _version(data)))
    return view


def _in_force(config: Config) -> Json:
    return effective(config.dump) if config.dump else _own(config)


def _own(config: Config) -> Json:
    """What the root file itself says."""
    data = parse(config.path, config.text or "")
    return cri_view(data, _version(data))


def _version(data: Json) -> int:
    version = data.get("version", 2)
    return version if isinstance(version, int) else 2


def _foreign(before: str, after: str) -> list[str]:
    """Settings outside of the CRI plugins that differ."""
    if not before or not after:
        return []
    old, new = load(before), load(after)
    ours = {("plugins", name) for name in (CRI, RUNTIME, IMAGES)}
    return [
        dotted(path)
        for path, value in leaves(old)
        if path[0] not in ("version", "imports") and path[:2] not in ours and value
        if not equal(lookup(new, path), value)
    ]


def _demoted(config: Config, settings: Json, never_default: t.Collection[str]) -> Json:
    """runc is the default runtime again where one is that must not be."""
    if not never_default:
        return settings
    if lookup(_in_force(config), DEFAULT_RUNTIME) not in never_default or lookup(settings, DEFAULT_RUNTIME):
        return settings
    return _over([Setting(DEFAULT_RUNTIME, "runc")], settings)


def _over(found: list[Setting], settings: Json) -> Json:
    """The settings, and below them what was found."""
    result: Json = {}
    for setting in found:
        target = result
        for part in setting.path[:-1]:
            target = target.setdefault(part, {})
        target[setting.path[-1]] = setting.value
    return _merged(result, settings)


def _merged(base: Json, over: t.Mapping[str, t.Any]) -> Json:
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def _told(config: Config, path: str, carried: list[Setting], never_default: t.Collection[str]) -> str:
    told = f"{path} lay over {config.path}: it is kept as a copy that nothing imports"
    if carried:
        told += f", and what only it said is in {config.path} now ({', '.join(s.name for s in carried)})"
    data = parse(path, config.drop_ins[path])
    default = lookup(cri_view(data, _version(data)), DEFAULT_RUNTIME)
    if default in never_default:
        told += f"; it had made {default} the default runtime, which is runc again"
    return f"{told}."
