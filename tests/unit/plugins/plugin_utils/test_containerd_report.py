# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import (
    findings,
    origin,
    sources,
    why_unmet,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import Config, Setting, effective

FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-x.toml"
FIXTURES = Path(__file__).parent / "fixtures" / "containerd"
PATH = ("images", "registry", "config_path")
OLD = '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
NOT_IN_FORCE_2 = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = ""\n'
NOT_IN_FORCE_3 = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = ''\n"


def _read(kind: str, name: str) -> str:
    return (FIXTURES / kind / f"{name}.toml").read_bytes().decode()


def test_case_05_old_plugin_name_in_version_3_is_not_effective() -> None:
    rows = findings(Config(FILE, "version = 3\n\n" + OLD, NOT_IN_FORCE_3))
    assert [(row["name"], row["line"]) for row in rows] == [("not_effective", 4)]
    assert rows[0]["message"] == (
        "registry.config_path is not effective (found under the version 2 plugin name, version 3 has it as "
        'plugins."io.containerd.cri.v1.images".registry.config_path)'
    )


def test_old_plugin_name_that_containerd_translates_is_no_finding() -> None:
    dump = NOT_IN_FORCE_3.replace("''", "'/etc/containerd/certs.d'")
    assert findings(Config(FILE, "version = 3\n\n" + OLD, dump)) == []


def test_what_the_old_plugin_still_has_is_no_finding() -> None:
    text = "version = 3\n[plugins.'io.containerd.grpc.v1.cri']\nstream_server_port = '0'\n"
    assert findings(Config(FILE, text, NOT_IN_FORCE_3)) == []


def test_case_07_no_version_line() -> None:
    rows = findings(Config(FILE, OLD, NOT_IN_FORCE_2))
    assert [row["name"] for row in rows] == ["no_version", "not_effective"]
    assert rows[0]["message"] == "no version line (read as version 1)"


def test_newer_drop_in_and_disabled_plugin() -> None:
    text = 'version = 2\nimports = ["conf.d/*.toml"]\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
    rows = findings(Config(FILE, text, NOT_IN_FORCE_2, {DROP_IN: "\nversion = 3\n"}))
    assert [(row["name"], row["file"], row["line"]) for row in rows] == [
        ("cri_disabled", FILE, 3),
        ("newer_drop_in", DROP_IN, 2),
    ]


def test_a_clean_file_has_no_findings() -> None:
    for name in ("1.6.20-default", "1.7.24-default", "2.3.7-default"):
        assert findings(Config(FILE, _read("input", name), _read("dump", name))) == []


def test_where_values_come_from() -> None:
    config = Config(FILE, _read("input", "1.7.24-out-of-order"), _read("dump", "1.7.24-out-of-order"))
    rows = {row["setting"]: row for row in sources(config)}
    assert rows["runtime.containerd.runtimes.runc.options.SystemdCgroup"] == {
        "setting": "runtime.containerd.runtimes.runc.options.SystemdCgroup",
        "value": False,
        "file": FILE,
        "line": 16,
    }
    assert rows["runtime.cni.bin_dirs"]["line"] == 4
    assert rows["images.pinned_images.sandbox"]["file"] is None


def test_secrets_are_not_shown() -> None:
    dump = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry.configs.'x'.auth]\npassword = 'p'\n"
    assert [row["value"] for row in sources(Config(FILE, None, dump))] == [{}, "********"]


def test_the_last_drop_in_wins_and_in_1_x_takes_the_whole_section() -> None:
    text = f"version = 2\n{OLD}"
    other = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'
    assert origin(Config(FILE, text, NOT_IN_FORCE_2), PATH) == (FILE, 3)
    assert origin(Config(FILE, text, NOT_IN_FORCE_2, {DROP_IN: other}), PATH) is None
    assert origin(Config(FILE, text, NOT_IN_FORCE_3, {DROP_IN: other}), PATH) == (FILE, 3)
    assert origin(Config(FILE, text, NOT_IN_FORCE_3, {DROP_IN: f"\n{text}"}), PATH) == (DROP_IN, 4)


def test_why_a_value_does_not_come_into_force() -> None:
    missing = [Setting(PATH, "/a"), Setting(("runtime", "no_such_key"), True)]
    dump = NOT_IN_FORCE_3.replace("''", "'/b'")
    drop_in = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/b'\n"
    config = Config(FILE, "version = 3\n", dump, {DROP_IN: drop_in})
    assert why_unmet(config, "version = 3\n", missing, effective(dump)) == (
        f"{FILE} was not changed: images.registry.config_path would be '/b' instead of '/a' because {DROP_IN}, line 3, "
        "sets it: change it there; runtime.no_such_key would be None instead of True: this containerd does not know "
        "the setting."
    )
