# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import replace

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import blocked, why_unmet
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


def test_what_keeps_containerd_from_serving() -> None:
    """The line is the one of the file as it is, not of the text that was to be."""
    before = Config(FILE, "version = 3\ndisabled_plugins = ['cri']\n", "", {DROP_IN: "disabled_plugins = ['cri']\n"})
    after = replace(before, text="version = 3\n")
    assert blocked(before, findings(after)) == [
        f"{FILE} was not changed: {DROP_IN}, line 1: the CRI plugin is disabled; take it out of disabled_plugins."
    ]
    assert blocked(before, findings(Config(FILE, "", ""))) == []
