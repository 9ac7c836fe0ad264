# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""What containerd's configuration means, for schema 2 (1.x), 3 (2.0 to 2.2) and 4 (2.3).

Settings are named once, as the newest schema does: C(runtime) is the plugin C(io.containerd.cri.v1.runtime), C(images)
is C(io.containerd.cri.v1.images). In schema 2 both are one plugin, C(io.containerd.grpc.v1.cri), with some other names.
What counts is the effective configuration, which C(containerd config dump) prints; a file is edited only where the
effective value differs from the wanted one.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import dotted, remove_items, set_value
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import (
    BOM,
    Path,
    TomlError,
    find,
    load,
    lookup,
    same,
)

CRI = "io.containerd.grpc.v1.cri"
RUNTIME = "io.containerd.cri.v1.runtime"
IMAGES = "io.containerd.cri.v1.images"
PLUGINS = {"runtime": RUNTIME, "images": IMAGES}
DISABLED_NAMES = frozenset({"cri", CRI, RUNTIME, IMAGES})
NEWEST = 4

# Schema 2 has these under other names; all others keep theirs.
_OLD_NAMES: dict[Path, Path] = {
    ("images", "pinned_images", "sandbox"): ("sandbox_image",),
    ("images", "snapshotter"): ("containerd", "snapshotter"),
    ("images", "disable_snapshot_annotations"): ("containerd", "disable_snapshot_annotations"),
    ("images", "discard_unpacked_layers"): ("containerd", "discard_unpacked_layers"),
}
_NEW_NAMES = {old: new for new, old in _OLD_NAMES.items()}
_IMAGES_FIRST = frozenset(
    {
        "registry",
        "image_decryption",
        "max_concurrent_downloads",
        "image_pull_progress_timeout",
        "image_pull_with_sync_fs",
        "stats_collect_period",
    }
)
CNI_DIRS: Path = ("runtime", "cni", "bin_dirs")
RUNTIMES: Path = ("runtime", "containerd", "runtimes")
DEFAULT_RUNTIME: Path = ("runtime", "containerd", "default_runtime_name")
_RUNC = "io.containerd.runc.v2"
_CNI_DEFAULT = ["/opt/cni/bin"]
_SERVER_TABLES = ("grpc", "ttrpc", "debug", "metrics", "cgroup", "timeouts", "proxy_plugins", "stream_processors")


class ConfigRefused(Exception):
    """The configuration cannot or must not be edited; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Setting:
    """One wanted value, for example runtime.cni.bin_dirs."""

    path: Path
    value: t.Any

    @property
    def name(self) -> str:
        return dotted(self.path)


@dataclass
class Config:
    """The configuration of one containerd as it was read: the file, what it imports, what comes out."""

    path: str
    text: str | None
    dump: str
    drop_ins: dict[str, str] = field(default_factory=dict)
    program: str = ""  # the version of containerd

    @property
    def texts(self) -> dict[str, str]:
        """All files in the order in which containerd reads them."""
        return {**({} if self.text is None else {self.path: self.text}), **self.drop_ins}


def wishes(settings: t.Mapping[str, t.Any]) -> list[Setting]:
    """A nested dictionary as single values."""
    found: list[Setting] = []

    def walk(path: Path, value: t.Any) -> None:
        if isinstance(value, dict):
            for key in value:
                walk((*path, str(key)), value[key])
        elif value is None:
            raise ConfigRefused(f"settings.{dotted(path)} is null; TOML has no null, leave the setting out.")
        elif len(path) > 1:
            found.append(Setting(path, value))
        else:
            raise ConfigRefused(f"settings.{path[0]} must be a dictionary of settings.")

    for section in settings:
        if section not in PLUGINS:
            raise ConfigRefused(f"settings has no section {section}; there are runtime and images.")
        walk((section,), settings[section] or {})
    return found


def parse(path: str, text: str) -> dict[str, t.Any]:
    try:
        return load(text)
    except TomlError as exc:
        raise ConfigRefused(
            f"{path}, line {exc.line}: not valid TOML ({exc}); correct it by hand, nothing was changed."
        ) from exc


def effective(dump: str) -> dict[str, t.Any]:
    """The CRI settings that are in force, under the names of the newest schema, out of C(config dump)."""
    data = load(dump)
    return cri_view(data, data.get("version", 2))


def cri_view(data: t.Mapping[str, t.Any], schema: int) -> dict[str, t.Any]:
    """The CRI settings of one parsed text under the names of the newest schema."""
    plugins = _table(data, "plugins")
    if schema < 3:
        return _from_schema_2(_table(plugins, CRI))
    view = {"runtime": dict(_table(plugins, RUNTIME)), "images": dict(_table(plugins, IMAGES))}
    cni = view["runtime"].get("cni")
    # containerd 2.2 and later: a bin_dir replaces the default of bin_dirs when the plugin starts, after the dump.
    if isinstance(cni, dict) and cni.get("bin_dir") and cni.get("bin_dirs", _CNI_DEFAULT) == _CNI_DEFAULT:
        view["runtime"]["cni"] = {**cni, "bin_dirs": [cni["bin_dir"]]}
    return view


def _table(data: t.Mapping[str, t.Any], name: str) -> dict[str, t.Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _from_schema_2(table: dict[str, t.Any]) -> dict[str, t.Any]:
    view: dict[str, t.Any] = {"runtime": {}, "images": {}}
    for path, value in leaves(table):
        target = view
        new = new_name(path)
        if new == CNI_DIRS:
            value = [value]
        for part in new[:-1]:
            target = target.setdefault(part, {})
        target[new[-1]] = value
    return view


def leaves(table: dict[str, t.Any], base: Path = ()) -> t.Iterator[tuple[Path, t.Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*base, key))
        else:
            yield (*base, key), value


def new_name(path: Path) -> Path:
    """A path below the schema 2 plugin as the newest schema names it, with its section."""
    if path in _NEW_NAMES:
        return _NEW_NAMES[path]
    if path == ("cni", "bin_dir"):
        return CNI_DIRS
    if path[:2] == ("containerd", "runtimes") and path[3:] == ("sandbox_mode",):
        return ("runtime", *path[:3], "sandboxer")
    return ("images" if path[0] in _IMAGES_FIRST else "runtime", *path)


def locate(setting: Setting, schema: int, one_cni_dir: bool = False) -> tuple[Path, t.Any]:
    """Where a file of this schema has the setting, and the value as it is written there.

    C(one_cni_dir): this file or this containerd has C(bin_dir) instead of C(bin_dirs) although the schema is 3 or 4.
    """
    path, value = setting.path, setting.value
    if path == CNI_DIRS and (schema < 3 or one_cni_dir):
        if not isinstance(value, list) or len(value) != 1:
            raise ConfigRefused(f"{setting.name}: this configuration can name one directory only, not {value}.")
        path, value = ("runtime", "cni", "bin_dir"), value[0]
    if schema >= 3:
        return ("plugins", PLUGINS[path[0]], *path[1:]), value
    if path[:3] == RUNTIMES and path[4:] == ("sandboxer",):
        path = (*path[:4], "sandbox_mode")
    return ("plugins", CRI, *_OLD_NAMES.get(path, path[1:])), value


def unmet(view: dict[str, t.Any], wanted: t.Iterable[Setting]) -> list[Setting]:
    """The settings whose effective value is not the wanted one."""
    return [s for s in wanted if not equal(lookup(view, s.path), s.value)]


def equal(left: t.Any, right: t.Any) -> bool:
    if same(left, right):
        return True
    if isinstance(left, str) and isinstance(right, str):
        seconds = _duration(left)
        return seconds is not None and seconds == _duration(right)
    return False


def _duration(text: str) -> float | None:
    """A duration as Go writes it: containerd prints 5m as 5m0s."""
    if not re.fullmatch(r"(\d+(\.\d+)?(ns|us|ms|s|m|h))+", text):
        return None
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(ns|us|ms|s|m|h)", text))


def generated(path: str, text: str) -> str | None:
    """k3s and RKE2 write the file anew at each start."""
    if path.startswith("/var/lib/rancher/") or re.search(r"^#.*generated by (k3s|rke2)", text, re.IGNORECASE | re.M):
        return (
            "the file is generated by k3s, an edit would vanish at its next start; put registries into registries.yaml "
            "and other settings into config.toml.tmpl (version 2) or config-v3.toml.tmpl (version 3)"
        )
    return None


def version_of(path: str, data: dict[str, t.Any], text: str) -> int:
    """The version that a file says it has; 1 without a word, as containerd reads it."""
    version = data.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ConfigRefused(f"{path}, line {find(text, ('version',))}: version is {version!r}, it must be a number.")
    if version > NEWEST:
        raise ConfigRefused(
            f"{path}, line {find(text, ('version',))}: version {version} is newer than what is known here "
            "(2, 3 and 4); update this collection."
        )
    return version


def file_schema(path: str, data: dict[str, t.Any], daemon: int, text: str = "") -> tuple[int, bool]:
    """The schema of a file, and whether its version line has to be written first."""
    version = version_of(path, data, text)
    if version > daemon:
        raise ConfigRefused(
            f"{path}, line {find(text, ('version',))}: version {version} is newer than this containerd, which knows "
            f"{daemon}; have the file in version {daemon}, or install a newer containerd."
        )
    if version > 1:
        return version, False
    plugins = _table(data, "plugins")
    short = [name for name in plugins if not name.startswith("io.containerd.")]
    if short:
        raise ConfigRefused(
            f"{path}, line {find(text, ('plugins', short[0]))}: plugins.{dotted((short[0],))} is the language of "
            "version 1; convert the file to version 2 by hand or with `containerd config migrate`, then run again."
        )
    if RUNTIME in plugins or IMAGES in plugins:
        return 3, True
    # Only a file without tables means the same in every schema.
    return (2 if any(name in data for name in ("plugins", *_SERVER_TABLES)) else daemon), True


def edit(config: Config, settings: t.Mapping[str, t.Any]) -> str:
    """The text that the file should have. Everything wanted is in force already: the same text."""
    wanted = wishes(settings)
    text = config.text
    data = _editable(config)
    dump = load(config.dump) if config.dump else {}
    daemon = dump.get("version") or max(version_of(config.path, data, text or ""), 2)
    if config.dump and daemon > NEWEST:
        raise ConfigRefused(f"This containerd writes version {daemon} configurations, known here are 2, 3 and 4.")
    schema, unversioned = file_schema(config.path, data, daemon, text or "") if text is not None else (daemon, False)
    view = cri_view(dump, daemon)
    needed = _with_types(unmet(view, wanted), wanted, view, data, daemon)
    disabled = bool(DISABLED_NAMES.intersection(strings(data.get("disabled_plugins"))))
    if text is not None and text.startswith(BOM) and not config.dump:
        text = text.removeprefix(BOM)  # containerd 1.x accepts the mark, 2.x does not start with it
    elif text is not None and not needed and not disabled:
        return text
    if text is None:
        text = _fresh(config.path, dump, schema)
    elif unversioned:
        text = set_value(text, ("version",), schema)
        # What stands in the file comes into force with the version line.
        own = cri_view(data, schema)
        needed += [s for s in unmet(own, wanted) if lookup(own, s.path) is not None and s not in needed]
    try:
        text = remove_items(text, ("disabled_plugins",), DISABLED_NAMES)
        one_cni_dir = _one_cni_dir(schema, data, dump)
        for setting in needed:
            text = set_value(text, *locate(setting, schema, one_cni_dir))
    except TomlError as exc:
        raise ConfigRefused(f"{config.path}: {exc}.") from exc
    return text


def _editable(config: Config) -> dict[str, t.Any]:
    """The file's data, if it and what it imports are texts that may and can be worked with."""
    told = generated(config.path, config.text) if config.text else None
    if told:
        raise ConfigRefused(f"{config.path}: {told}.")
    data = parse(config.path, config.text or "")
    for path, drop_in in config.drop_ins.items():
        version_of(path, parse(path, drop_in), drop_in)
    return data


def strings(value: t.Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _one_cni_dir(schema: int, data: dict[str, t.Any], dump: dict[str, t.Any]) -> bool:
    if schema < 3:
        return True
    here = lookup(data, ("plugins", RUNTIME, "cni")) or {}
    known = lookup(dump, ("plugins", RUNTIME, "cni")) or {}
    return bool(here.get("bin_dir")) or ("bin_dir" in known and "bin_dirs" not in known)


def _fresh(path: str, dump: dict[str, t.Any], schema: int) -> str:
    """A first file: just the version and the imports that this containerd has by default."""
    imports = [item for item in strings(dump.get("imports")) if item != path and "*" in item]
    lines = [f"version = {schema}"] + ([f'imports = ["{item}"]' for item in imports[:1]])
    return "\n".join(lines) + "\n"


def _with_types(
    needed: list[Setting], wanted: list[Setting], view: dict[str, t.Any], data: dict[str, t.Any], daemon: int
) -> list[Setting]:
    """containerd 1.x: a runtime that the file mentions loses its defaults, so its type has to be written as well.

    A file that mentions any runtime has no others, so the default one and what is wished of others have to be in it.
    """
    if daemon > 2:
        return needed
    result: list[Setting] = []
    names, default = _runtimes(wanted), lookup(view, DEFAULT_RUNTIME) or "runc"
    if _runtimes(needed):
        lost = [s for s in wanted if _runtimes([s]) and lookup(data, locate(s, 2)[0]) is None]
        needed = needed + [s for s in lost if s not in needed]
        names += [default] if lookup(data, ("plugins", CRI, *RUNTIMES[1:], default)) is None else []
    for name in dict.fromkeys(names):
        path = (*RUNTIMES, name, "runtime_type")
        touched = name == default or any(s.path[:4] == path[:4] for s in needed)
        force = lookup(view, path)
        if force and not (touched and not lookup(data, ("plugins", CRI, *path[1:]))):
            continue
        # While the CRI plugin is disabled, the dump does not have its defaults.
        kind = Setting(path, force or (_RUNC if name == "runc" else None))
        kind = next((s for s in wanted if s.path == path), kind)
        if kind.value:
            result.append(kind)
    return result + [s for s in needed if s not in result]


def _runtimes(wanted: t.Iterable[Setting]) -> list[str]:
    return list(dict.fromkeys(s.path[3] for s in wanted if s.path[:3] == RUNTIMES and len(s.path) > 4))


def check_types(path: str, view: dict[str, t.Any], wanted: t.Iterable[Setting]) -> None:
    """A runtime without a type makes every pod of it fail."""
    for name in _runtimes(wanted):
        if not lookup(view, (*RUNTIMES, name, "runtime_type")):
            raise ConfigRefused(
                f"{path} was not changed: the runtime {name} would have no runtime_type; add "
                f"{dotted((*RUNTIMES, name, 'runtime_type'))} to the settings."
            )


def schema_of(dump: str) -> int | None:
    """The schema that this containerd writes itself."""
    return load(dump).get("version", 2) if dump else None


def check_service(path: str, configured: str | None, service: str, stranger: str) -> None:
    """The file must be the one that the daemon reads, and the daemon the one that the kubelet asks."""
    read = configured or "/etc/containerd/config.toml"
    if read != path:
        raise ConfigRefused(f"The service {service} reads {read}, not {path}; give that file as path.")
    if stranger:
        raise ConfigRefused(f"{path} was not changed: {told_of(stranger, service)}.")


def told_of(stranger: str, service: str) -> str:
    return (
        f"the kubelet's socket is held by {stranger}, not by the service {service}, whose configuration does not count "
        "then; give the unit of that process as service, or stop it and restart the service"
    )
