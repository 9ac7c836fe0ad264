# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_origin import Origins, sources
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import Config

FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-x.toml"
FIXTURES = Path(__file__).parent / "fixtures" / "containerd"
PATH = ("images", "registry", "config_path")
OLD = '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
NOT_IN_FORCE_2 = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = ""\n'
NOT_IN_FORCE_3 = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = ''\n"


def _read(kind: str, name: str) -> str:
    return (FIXTURES / kind / f"{name}.toml").read_bytes().decode()


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
    assert Origins(Config(FILE, text, NOT_IN_FORCE_2)).of(PATH) == (FILE, 3)
    assert Origins(Config(FILE, text, NOT_IN_FORCE_2, {DROP_IN: other})).of(PATH) is None
    assert Origins(Config(FILE, text, NOT_IN_FORCE_3, {DROP_IN: other})).of(PATH) == (FILE, 3)
    assert Origins(Config(FILE, text, NOT_IN_FORCE_3, {DROP_IN: f"\n{text}"})).of(PATH) == (DROP_IN, 4)


def test_a_name_of_another_schema_is_the_origin_where_containerd_translates_it() -> None:
    text = f"version = 3\n{OLD}"
    dump = NOT_IN_FORCE_3.replace("''", "'/etc/containerd/certs.d'")
    assert Origins(Config(FILE, text, dump)).of(PATH) == (FILE, 3)
    assert Origins(Config(FILE, text, NOT_IN_FORCE_3)).of(PATH) is None
