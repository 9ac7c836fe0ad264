# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an action takes is what the module of its name documents; what begins with _ is between the two."""

from __future__ import annotations

import types
import typing as t

import pytest
import yaml

from ansible_collections.gshare.cluster.plugins.action import containerd_config as containerd_config_action
from ansible_collections.gshare.cluster.plugins.action import containerd_hosts as containerd_hosts_action
from ansible_collections.gshare.cluster.plugins.action import manifest as manifest_action
from ansible_collections.gshare.cluster.plugins.action import preflight_info as preflight_info_action
from ansible_collections.gshare.cluster.plugins.action import preflight_report as preflight_report_action
from ansible_collections.gshare.cluster.plugins.action import reboot as reboot_action
from ansible_collections.gshare.cluster.plugins.modules import (
    containerd_config,
    containerd_hosts,
    manifest,
    preflight_info,
    preflight_report,
    reboot,
)


@pytest.mark.parametrize(
    ("action", "documented"),
    [
        (containerd_config_action, containerd_config),
        (containerd_hosts_action, containerd_hosts),
        (manifest_action, manifest),
        (preflight_info_action, preflight_info),
        (preflight_report_action, preflight_report),
        (reboot_action, reboot),
    ],
    ids=lambda plugin: plugin.__name__.rpartition(".")[2],
)
def test_options_are_those_that_are_documented(
    monkeypatch: pytest.MonkeyPatch, action: types.ModuleType, documented: types.ModuleType
) -> None:
    seen: dict[str, t.Any] = {}

    def stop(_plugin: t.Any, argument_spec: dict[str, t.Any]) -> t.Any:
        seen.update(shown(argument_spec))
        raise StopIteration

    monkeypatch.setattr(action.ActionModule, "validate_argument_spec", stop)
    monkeypatch.setattr(action.ActionBase, "run", lambda self, tmp, task_vars: {})
    with pytest.raises(StopIteration):
        action.ActionModule.__new__(action.ActionModule).run(None, {})
    assert told(yaml.safe_load(documented.DOCUMENTATION)["options"]) == seen


def shown(spec: dict[str, t.Any]) -> dict[str, t.Any]:
    """An argument spec without what no documentation tells."""
    return {
        name: {key: shown(value) if key == "options" else value for key, value in option.items() if key != "no_log"}
        for name, option in spec.items()
    }


def told(options: dict[str, t.Any]) -> dict[str, t.Any]:
    """Documented options as an argument spec has them."""
    found = {}
    for name, option in options.items():
        if not name.startswith("_"):
            found[name] = {key: value for key, value in option.items() if key not in ("description", "suboptions")}
            if "suboptions" in option:
                found[name]["options"] = told(option["suboptions"])
    return found
