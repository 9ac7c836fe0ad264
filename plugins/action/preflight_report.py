# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judges what preflight gathered, on the controller, and prints one table."""

from __future__ import annotations

import json
import os
import tempfile
import typing as t

from ansible import constants as C
from ansible.errors import AnsibleFilterError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.vars import transform_to_native_types

from ansible_collections.gshare.cluster.plugins.filter.node_ip import node_ip
from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_findings as findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import ROLES, Finding, Machine, Settings

display = Display()


class ActionModule(ActionBase):
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        variables = task_vars or {}
        _result, args = self.validate_argument_spec(
            argument_spec={
                "stage": {"type": "str", "choices": ["inventory", "machines"], "default": "machines"},
                "settings": {"type": "dict", "default": {}},
                "gathered": {"type": "dict", "default": {}},
                "json": {"type": "path"},
            }
        )
        settings = Settings(**transform_to_native_types(args["settings"]))
        groups, hostvars = variables["groups"], variables["hostvars"]
        everyone = [_machine(name, hostvars[name], groups) for name in groups.get("kube_cluster", [])]
        found = findings.inventory(everyone, settings, groups)
        machines = everyone
        if args["stage"] == "machines":
            machines = [_filled(one, args["gathered"][one.name]) for one in everyone if one.name in args["gathered"]]
            found += findings.judge(machines, settings)
        return self._answer(args, found, machines)

    def _answer(self, args: dict[str, t.Any], found: list[Finding], machines: list[Machine]) -> dict[str, t.Any]:
        report = findings.data(found, machines)
        last = args["stage"] == "machines" or not report["ok"]
        sentence = findings.sentence(found, len(machines))
        if found and last:
            color = C.config.get_config_value("COLOR_WARN" if report["ok"] else "COLOR_ERROR")
            display.display("\n" + findings.table(found, width=display.columns) + "\n", color=color)
        if args["json"] and last:
            _write(args["json"], report)
        if not report["ok"]:
            return {"changed": False, "failed": True, "msg": sentence}
        if last:
            display.display(sentence)
        return {"changed": False, "msg": sentence, "findings": report["findings"]}


def _machine(name: str, variables: t.Mapping[str, t.Any], groups: t.Mapping[str, t.Sequence[str]]) -> Machine:
    wanted = variables.get("gshare_node_ip") or variables.get("ansible_host") or name
    problem = {}
    try:
        address = node_ip(wanted)
    except AnsibleFilterError as exc:
        address, problem = str(wanted), {"name": "address_unresolved", "text": exc.message}
    return Machine(name, address, tuple(role for role in ROLES if name in groups.get(role, [])), problem=problem)


def _filled(machine: Machine, gathered: dict[str, t.Any]) -> Machine:
    machine.facts = gathered.get("facts") or {}
    machine.clock = gathered.get("clock") or {}
    machine.problem = machine.problem or gathered.get("problem") or {}
    if not machine.facts and not machine.problem:
        # The task that gathers ended in a way of its own, such as a time limit.
        machine.problem = {"name": "gather_failed", "text": str(gathered.get("msg") or "nothing was gathered")}
    return machine


def _write(path: str, report: dict[str, t.Any]) -> None:
    """Whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=folder, prefix=".gshare-")
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    os.replace(temporary, path)
