# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's side, with the machine's answers made up; a machine that merges nothing and has no defaults."""

from __future__ import annotations

import re
import types
import typing as t

import pytest
from ansible.errors import AnsibleError

from ansible_collections.gshare.cluster.plugins.action import containerd_config

FILE = "/etc/containerd/config.toml"
SETTINGS = {"images": {"pinned_images": {"sandbox": "example.net/pause:1"}}}
TABLE = '\n[plugins."io.containerd.cri.v1.images".pinned_images]\n  sandbox = "example.net/pause:1"\n'
OLD = "# ours\nversion = 4\n"


class Machine:
    """Answers the steps; a text is its own effective configuration."""

    def __init__(self, content: str | None = OLD, **facts: t.Any) -> None:
        self.facts = {
            "installed": True,
            "content": content,
            "digest": "d",
            "drop_ins": {},
            "dump": content or "version = 4\nimports = ['/etc/containerd/conf.d/*.toml']\n",
            "dump_problem": "",
            "service_config": None,
            "restart": False,
            "reason": "read",
            **facts,
        }
        self.probe: dict[str, t.Any] = {"problem": "", "restart": True, "reason": "probe"}
        self.apply: dict[str, t.Any] = {"restart": True, "reason": "apply", "backup_file": "/b~"}
        self.steps: list[dict[str, t.Any]] = []

    def answer(
        self, module_name: str, module_args: dict[str, t.Any], task_vars: dict[str, t.Any] | None
    ) -> dict[str, t.Any]:
        self.steps.append(module_args)
        step = module_args["_step"]
        if step == "probe":
            return {"commands": [step], "dump": module_args["_content"], **self.probe}
        return {"commands": [step], **(self.facts if step == "read" else self.apply)}

    @property
    def names(self) -> list[str]:
        return [step["_step"] for step in self.steps]


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., dict[str, t.Any]]:
    def run(
        machine: Machine, args: dict[str, t.Any] | None = None, *, check: bool = False, diff: bool = False
    ) -> dict[str, t.Any]:
        plugin = containerd_config.ActionModule.__new__(containerd_config.ActionModule)
        args = {"settings": SETTINGS} if args is None else args
        plugin._task = types.SimpleNamespace(args=args, check_mode=check, diff=diff, async_val=0)
        monkeypatch.setattr(plugin, "_execute_module", machine.answer)
        monkeypatch.setattr(containerd_config.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, {})

    return run


Act = t.Callable[..., dict[str, t.Any]]


def test_change(act: Act) -> None:
    machine = Machine()
    result = act(machine, diff=True)
    assert machine.names == ["read", "probe", "apply"]
    assert machine.steps[2]["_content"] == OLD + TABLE
    assert machine.steps[2]["_digest"] == "d"
    assert result["changed"]
    assert (result["written"], result["restarted"], result["reason"]) == (True, True, "apply")
    assert result["backup_file"] == "/b~"
    assert result["diff"] == {"before": OLD, "after": OLD + TABLE, "before_header": FILE, "after_header": FILE}
    assert result["commands"] == ["read", "probe", "apply"]
    assert result["schema"] == 4
    assert result["warnings"] == []


def test_nothing_to_do_is_one_round_trip(act: Act) -> None:
    machine = Machine(OLD + TABLE)
    result = act(machine, diff=True)
    assert machine.names == ["read"]
    assert (result["changed"], result["written"], result["restarted"]) == (False, False, False)
    assert "diff" not in result


def test_check_mode_predicts_and_does_not_apply(act: Act) -> None:
    machine = Machine()
    result = act(machine, check=True, diff=True)
    assert machine.names == ["read", "probe"]
    assert (result["changed"], result["restarted"], result["reason"]) == (True, True, "probe")
    assert result["diff"]["after"] == OLD + TABLE


def test_restart_alone(act: Act) -> None:
    """What a run leaves that was killed between writing and restarting."""
    machine = Machine(OLD + TABLE, restart=True)
    result = act(machine)
    assert machine.names == ["read", "apply"]
    assert machine.steps[1]["_content"] is None
    assert (result["changed"], result["written"], result["restarted"]) == (True, False, True)


def test_first_file(act: Act) -> None:
    machine = Machine(None)
    result = act(machine, diff=True)
    assert machine.steps[2]["_content"] == f'version = 4\nimports = ["/etc/containerd/conf.d/*.toml"]\n{TABLE}'
    assert result["diff"]["before"] == ""


def test_not_installed(act: Act) -> None:
    machine = Machine(installed=False)
    assert act(machine, check=True)["changed"]
    result = act(machine)
    assert result["failed"]
    assert "install it" in result["msg"]


def test_a_failed_step_is_the_result(act: Act) -> None:
    machine = Machine()
    machine.apply = {"failed": True, "msg": "rolled back", "rolled_back": True}
    result = act(machine)
    assert result["failed"]
    assert result["msg"] == "rolled back"


@pytest.mark.parametrize(
    ("content", "facts", "probe", "message"),
    [
        ("[a]\n[a]\n", {}, {}, f"{FILE}, line 2: not valid TOML"),
        ("# generated by k3s\nversion = 2\n", {}, {}, "generated by k3s"),
        (OLD, {"service_config": "/srv/c.toml"}, {}, "reads /srv/c.toml"),
        (OLD, {}, {"problem": "INVALID", "dump": ""}, "which was not changed: INVALID"),
        (OLD + TABLE, {"dump": "", "dump_problem": "so and so"}, {}, "cannot read .* so and so"),
        (OLD, {}, {"dump": OLD}, "would be None instead of 'example.net/pause:1'"),
    ],
)
def test_refusals(act: Act, content: str, facts: dict[str, t.Any], probe: dict[str, t.Any], message: str) -> None:
    machine = Machine(content, **facts)
    machine.probe.update(probe)
    result = act(machine)
    assert result["failed"]
    assert re.search(message, result["msg"])
    assert "apply" not in machine.names


def test_a_configuration_that_containerd_cannot_read_is_repaired(act: Act) -> None:
    content = '\ufeff[debug]\nlevel = "info"\n'
    machine = Machine(content, dump="", dump_problem="invalid character")
    assert act(machine)["changed"]
    assert machine.steps[2]["_content"].startswith("version = 2\n")


def test_a_runtime_without_type_is_refused(act: Act) -> None:
    settings = {"runtime": {"containerd": {"runtimes": {"x": {"options": {"SystemdCgroup": True}}}}}}
    result = act(Machine(), {"settings": settings})
    assert "would have no runtime_type" in result["msg"]


def test_what_stays_without_effect_is_a_warning(act: Act) -> None:
    content = f'{OLD}[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = "/a"\n{TABLE}'
    warnings = act(Machine(content))["warnings"]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"{FILE}, line 4: registry.config_path is not effective")


def test_wrong_options_are_refused(act: Act) -> None:
    with pytest.raises(AnsibleError, match="setings"):
        act(Machine(), {"setings": {}})
