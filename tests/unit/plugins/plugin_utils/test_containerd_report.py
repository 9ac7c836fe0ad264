# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import (
    blocked,
    newest_schema,
    refused,
    why_unmet,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import Config, Setting, effective

FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-x.toml"
PATH = ("images", "registry", "config_path")


def test_why_a_value_does_not_come_into_force() -> None:
    missing = [Setting(PATH, "/a"), Setting(("runtime", "no_such_key"), True)]
    dump = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/b'\n"
    drop_in = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/b'\n"
    config = Config(FILE, "version = 3\n", dump, {DROP_IN: drop_in})
    assert why_unmet(config, "version = 3\n", missing, effective(dump)) == (
        f"{FILE} was not changed: images.registry.config_path would be '/b' instead of '/a' because {DROP_IN}, line 3, "
        "sets it: change it there; runtime.no_such_key would be None instead of True: this containerd does not know "
        "the setting."
    )


def test_in_1_x_a_drop_in_takes_the_place_of_the_whole_section() -> None:
    drop_in = 'version = 2\n\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'
    config = Config(FILE, "version = 2\n", drop_in, {DROP_IN: drop_in})
    missing = [Setting(PATH, "/a"), Setting(("runtime", "enable_cdi"), True)]
    assert why_unmet(config, "version = 2\n", missing, effective(drop_in)) == (
        f"{FILE} was not changed: images.registry.config_path, runtime.enable_cdi would not be effective, because "
        f'{DROP_IN}, line 3, has plugins."io.containerd.grpc.v1.cri" too, and containerd 1.x takes the whole section '
        "from the last file; have all of it in one file."
    )


@pytest.mark.parametrize(
    ("program", "schema"),
    [("1.6.20", 2), ("1.7.24", 2), ("2.0.5", 3), ("2.2.1", 3), ("2.3.7", 4), ("3.0", 4), ("", 4)],
)
def test_the_newest_schema_that_a_containerd_reads(program: str, schema: int) -> None:
    assert newest_schema(program) == schema


def test_case_13_a_file_that_is_too_new_is_named() -> None:
    config = Config(FILE, "version = 2\n", "", {DROP_IN: "# x\nversion = 3\n"}, "1.7.24")
    assert str(refused(config, "unsupported config version `3`")) == (
        f"containerd cannot read {FILE}, which was not changed: unsupported config version `3`; {DROP_IN}, line 2: "
        "version 3 is newer than version 2, which containerd 1.7.24 knows; have the file in that version, or install a "
        "newer containerd"
    )


def test_what_keeps_containerd_from_serving() -> None:
    """The line is the one of the file as it is, not of the text that was to be."""
    before = Config(FILE, "version = 3\ndisabled_plugins = ['cri']\n", "", {DROP_IN: "disabled_plugins = ['cri']\n"})
    after = replace(before, text="version = 3\n")
    assert blocked(before, findings(after)) == [
        f"{FILE} was not changed: {DROP_IN}, line 1: the CRI plugin is disabled; take it out of disabled_plugins."
    ]
    assert blocked(before, findings(Config(FILE, "", ""))) == []
