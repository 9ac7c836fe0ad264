# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generated configurations: every version, every spelling that TOML has, line ends, the byte order mark, comments."""

from __future__ import annotations

import typing as t

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    Setting,
    edit,
    effective,
    leaves,
    locate,
    unmet,
    wishes,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_edit import render
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import BARE_KEY, BOM, load, same

FILE = "/etc/containerd/config.toml"
CRI = "io.containerd.grpc.v1.cri"
_FLAGS, _NUMBERS, _FOLDERS = st.booleans(), st.integers(1, 9), st.sampled_from(["/a", "/b'c", "/opt/ü"])
_RUNC_V2 = st.just("io.containerd.runc.v2")
_SETTINGS: dict[str, st.SearchStrategy[t.Any]] = {
    "runtime.enable_selinux": _FLAGS,
    "runtime.max_container_log_line_size": _NUMBERS,
    "runtime.cni.conf_dir": _FOLDERS,
    "runtime.cni.bin_dirs": _FOLDERS.map(lambda folder: [folder]),
    "runtime.containerd.default_runtime_name": st.just("runc"),
    "runtime.containerd.runtimes.runc.runtime_type": _RUNC_V2,
    "runtime.containerd.runtimes.runc.options.SystemdCgroup": _FLAGS,
    "runtime.containerd.runtimes.nvidia.runtime_type": _RUNC_V2,
    "runtime.containerd.runtimes.nvidia.options.BinaryName": _FOLDERS,
    "images.pinned_images.sandbox": st.sampled_from(["example.net/pause:1", ""]),
    "images.registry.config_path": _FOLDERS,
    "images.max_concurrent_downloads": _NUMBERS,
    "images.snapshotter": st.just("overlayfs"),
}
_LOOK_ALIKES = {
    "io.containerd.nri.v1.nri": {"plugin_config_path": "/etc/nri/conf.d", "disable": True},
    "io.containerd.transfer.v1.local": {"config_path": "/etc/other", "max_concurrent_downloads": 3},
}
_ROOT_KEYS = {
    "oom_score": -5,
    "disabled_plugins": ["io.containerd.snapshotter.v1.zfs", CRI],
    "imports": ["/etc/containerd/conf.d/*.toml"],
    "grpc": {"gid": 7},
    "timeouts": {"io.containerd.timeout.task.state": "2s"},
}


def _tree(values: t.Mapping[tuple[str, ...], t.Any]) -> dict[str, t.Any]:
    result: dict[str, t.Any] = {}
    for path, value in values.items():
        table = result
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    return result


def _some(draw: st.DrawFn) -> dict[tuple[str, ...], t.Any]:
    names = draw(st.lists(st.sampled_from(sorted(_SETTINGS)), unique=True, max_size=6))
    return {tuple(name.split(".")): draw(_SETTINGS[name]) for name in names}


def _spell(draw: st.DrawFn, quote: str, tree: dict[str, t.Any], header: tuple[str, ...], lines: list[str]) -> None:
    def key(*parts: str) -> str:
        return ".".join(part if BARE_KEY.fullmatch(part) else f"{quote}{part}{quote}" for part in parts)

    def inline(value: t.Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{key(k)} = {inline(v)}" for k, v in value.items()) + " }"
        return render(value, quote)

    indent, note = "  " * draw(st.integers(0, 2)), draw(st.sampled_from(["", "  # why"]))
    tables = []
    for name, value in tree.items():
        spelling = (
            draw(st.sampled_from(["header", "header", "dotted", "inline"])) if isinstance(value, dict) else "value"
        )
        if spelling == "header":
            tables.append(name)
        elif spelling == "dotted":
            lines += [f"{indent}{key(name, *path)} = {inline(leaf)}{note}" for path, leaf in leaves(value)]
        else:
            lines.append(f"{indent}{key(name)} = {inline(value)}{note}")
    for name in tables:
        lines += draw(st.sampled_from([[], [""], ["", f"# about {name}"], [f"{indent}# [plugins.x]"]]))
        lines.append(f"{indent}[{key(*header, name)}]")
        _spell(draw, quote, tree[name], (*header, name), lines)


@st.composite
def configurations(draw: st.DrawFn) -> tuple[str, dict[str, t.Any]]:
    """A configuration and a wish."""
    version = draw(st.sampled_from([None, 2, 3, 4]))
    found = {locate(Setting(path, value), version or 2)[0]: (path, value) for path, value in _some(draw).items()}
    plugins = {place: locate(Setting(*setting), version or 2)[1] for place, setting in found.items()}
    tree: dict[str, t.Any] = {} if version is None else {"version": version}
    tree.update({key: _ROOT_KEYS[key] for key in draw(st.lists(st.sampled_from(sorted(_ROOT_KEYS)), unique=True))})
    tree.update(_tree(plugins))
    for name in draw(st.lists(st.sampled_from(sorted(_LOOK_ALIKES)), unique=True)):
        tree.setdefault("plugins", {})[name] = _LOOK_ALIKES[name]
    lines = ["# ours"]
    _spell(draw, draw(st.sampled_from(['"', "'"])), tree, (), lines)
    text = draw(st.sampled_from(["\n", "\r\n"])).join([*lines, *draw(st.sampled_from([[""], [], ["", ""]]))])
    return draw(st.sampled_from(["", BOM])) + text, _tree(_some(draw))


def _plain_containerd(text: str) -> str:
    """What a containerd without defaults prints: 1.x takes the mark, 2.x does not; no version means no settings."""
    version = load(text).get("version")
    if version is None:
        return "version = 2\n"
    return "" if text.startswith(BOM) and version > 2 else text


def _comments(text: str) -> list[str]:
    return [line for line in text.removeprefix(BOM).split("\n") if line.lstrip().startswith("#")]


@settings(max_examples=200, deadline=None)
@given(configurations())
def test_generated(case: tuple[str, dict[str, t.Any]]) -> None:
    text, wish = case
    dump = _plain_containerd(text)
    after = edit(Config(FILE, text, dump), wish)
    dump_after = _plain_containerd(after)
    # All that was wished for is in force, containerd reads it, and a second edit changes nothing.
    assert unmet(effective(dump_after), wishes(wish)) == []
    assert dump_after or after == text
    assert edit(Config(FILE, after, dump_after), wish) == after
    # All else has the value that it had.
    schema = load(after).get("version", 2)
    wished = {locate(setting, schema)[0] for setting in wishes(wish)}
    before, now = dict(leaves(load(text))), dict(leaves(load(after)))
    for path in (before.keys() | now.keys()) - wished - {("version",), ("disabled_plugins",)}:
        added = path not in before and path[-1] == "runtime_type"
        assert added or same(before.get(path), now.get(path)), path
    disabled = [name for name in load(text).get("disabled_plugins", []) if name != CRI]
    assert [name for name in load(after).get("disabled_plugins", []) if name != CRI] == disabled
    # So have comments, line ends and the mark.
    assert _comments(after) == _comments(text)
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)
    assert after.startswith(BOM) == (text.startswith(BOM) and bool(dump))
