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
from ansible_collections.gshare.cluster.plugins.module_utils._proxy import assigned, drop_in

FILE = "/etc/containerd/config.toml"
SETTINGS = {"images": {"pinned_images": {"sandbox": "example.net/pause:1"}}}
TABLE = '\n[plugins."io.containerd.cri.v1.images".pinned_images]\n  sandbox = "example.net/pause:1"\n'
DROP_IN = "/etc/systemd/system/containerd.service.d/gshare-proxy.conf"
OLD = "# ours\nversion = 4\n"


class Machine:
    """Answers the steps; a text is its own effective configuration."""

    def __init__(self, content: str | None = OLD, **facts: t.Any) -> None:
        self.facts = {
            "installed": True,
            "content": content,
            "digest": "d",
            "drop_ins": {},
            "version": "2.3.7",
            "stranger": "",
            "idle": [],
            "dump": content or "version = 4\nimports = ['/etc/containerd/conf.d/*.toml']\n",
            "dump_problem": "",
            "service_config": None,
            "service_at_boot": True,
            "restart": False,
            "reason": "read",
            "proxy": {"path": DROP_IN, "text": None, "environment": {}, "others": [], "running": {}},
            **facts,
        }
        self.probe: dict[str, t.Any] = {"problem": "", "restart": True, "reason": "probe"}
        self.apply: dict[str, t.Any] = {"restart": True, "reason": "apply", "backup_file": "/b~"}
        self.gpu_use: list[str] = []
        self.steps: list[dict[str, t.Any]] = []

    def answer(
        self, module_name: str, module_args: dict[str, t.Any], task_vars: dict[str, t.Any] | None
    ) -> dict[str, t.Any]:
        self.steps.append(module_args)
        step = module_args["_step"]
        if step == "use":
            return {"commands": [], "gpu_use": self.gpu_use}
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
    assert result["diff"] == [{"before": OLD, "after": OLD + TABLE, "before_header": FILE, "after_header": FILE}]
    assert result["commands"] == ["read", "probe", "apply"]
    assert result["schema"] == 4
    assert result["warnings"] == []
    assert result["registry_directory"] is None


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
    assert result["diff"][0]["after"] == OLD + TABLE


def test_restart_alone(act: Act) -> None:
    """What a run leaves that was killed between writing and restarting."""
    machine = Machine(OLD + TABLE, restart=True)
    result = act(machine)
    assert machine.names == ["read", "apply"]
    assert machine.steps[1]["_content"] is None
    assert (result["changed"], result["written"], result["restarted"]) == (True, False, True)


def test_start_at_boot_alone(act: Act) -> None:
    machine = Machine(OLD + TABLE, service_at_boot=False)
    machine.apply = {"restart": False, "reason": "read"}
    result = act(machine)
    assert machine.names == ["read", "apply"]
    assert machine.steps[1]["_content"] is None
    assert (result["changed"], result["restarted"]) == (True, False)


def proxy(**changes: t.Any) -> dict[str, t.Any]:
    environment = {"HTTPS_PROXY": "http://u:secret@a:1", "NO_PROXY": "b"}
    return {"path": DROP_IN, "text": None, "environment": environment, "others": [], "running": {}, **changes}


PROXY_TEXT = drop_in({"HTTPS_PROXY": "http://u:secret@a:1", "NO_PROXY": "b,192.0.2.10"})
DIRECT = {"settings": SETTINGS, "no_proxy": ["192.0.2.10:5000"]}


def test_a_proxy_that_is_in_force_is_one_round_trip(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy(text=PROXY_TEXT, running=assigned(PROXY_TEXT)))
    result = act(machine, DIRECT, diff=True)
    assert machine.names == ["read"]
    assert (result["changed"], result["proxy_written"], result["restarted"]) == (False, False, False)
    assert "diff" not in result


def test_the_drop_in_alone(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy())
    result = act(machine, DIRECT, diff=True)
    assert machine.names == ["read", "apply"]
    assert machine.steps[1]["_content"] is None
    assert machine.steps[1]["_drop_in"] == PROXY_TEXT
    assert (result["changed"], result["written"], result["proxy_written"]) == (True, False, True)
    (diff,) = result["diff"]
    assert (diff["before"], diff["before_header"], diff["after_header"]) == ("", DROP_IN, DROP_IN)
    assert diff["after"] == PROXY_TEXT.replace("secret", "********")
    assert "secret" not in str(result)


def test_both_files(act: Act) -> None:
    machine = Machine(OLD, proxy=proxy())
    result = act(machine, DIRECT, diff=True)
    assert machine.names == ["read", "probe", "apply"]
    assert [diff["after_header"] for diff in result["diff"]] == [FILE, DROP_IN]
    assert (result["written"], result["proxy_written"]) == (True, True)


def test_check_mode_predicts_the_drop_in(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy())
    result = act(machine, DIRECT, check=True, diff=True)
    assert machine.names == ["read"]
    assert (result["changed"], result["proxy_written"], result["restarted"]) == (True, True, True)
    assert result["reason"] == "the running daemon has another proxy"
    assert len(result["diff"]) == 1


def test_a_drop_in_that_gives_the_same_is_a_change_without_a_restart(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy(text=f"{PROXY_TEXT}# more\n", running=assigned(PROXY_TEXT)))
    result = act(machine, DIRECT, check=True)
    assert (result["changed"], result["proxy_written"], result["restarted"]) == (True, True, False)
    assert result["reason"] == "read"


def test_a_drop_in_that_is_not_in_force(act: Act) -> None:
    """What a run leaves that was killed between writing and restarting."""
    machine = Machine(OLD + TABLE, proxy=proxy(text=PROXY_TEXT))
    result = act(machine, DIRECT)
    assert machine.names == ["read", "apply"]
    assert (result["changed"], result["proxy_written"], result["restarted"]) == (True, False, True)


def test_the_drop_in_is_removed_with_the_proxy(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy(environment={}, text=PROXY_TEXT, running=assigned(PROXY_TEXT)))
    result = act(machine, DIRECT, diff=True)
    assert machine.steps[1]["_drop_in"] == ""
    assert (result["proxy_written"], result["diff"][0]["after"]) == (True, "")


def test_the_proxy_of_someone_else_stays(act: Act) -> None:
    machine = Machine(OLD + TABLE, proxy=proxy(others=["/x.conf"], running={"HTTPS_PROXY": "c"}))
    result = act(machine, DIRECT)
    assert machine.names == ["read"]
    assert result["warnings"] == ["containerd has its proxy from /x.conf; NO_PROXY there lacks 192.0.2.10."]


def test_first_file(act: Act) -> None:
    machine = Machine(None)
    result = act(machine, diff=True)
    assert machine.steps[2]["_content"] == f'version = 4\nimports = ["/etc/containerd/conf.d/*.toml"]\n{TABLE}'
    assert result["diff"][0]["before"] == ""


def test_not_installed(act: Act) -> None:
    machine = Machine(installed=False)
    predicted = act(machine, {"registry_directory": "/a"}, check=True)
    assert (predicted["changed"], predicted["registry_directory"]) == (True, "/a")
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
        (OLD, {"stranger": "process 812 (/opt/containerd)"}, {}, r"socket is held by process 812 \(/opt/containerd\)"),
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


KEEP = {"settings": SETTINGS, "keep_gpu_work": True}


@pytest.mark.parametrize("check", [False, True])
def test_who_uses_a_gpu_is_not_disturbed(act: Act, check: bool) -> None:
    machine = Machine()
    machine.gpu_use = ["pod team/train-1 uses a GPU"]
    result = act(machine, KEEP, check=check, diff=True)
    assert machine.names == ["read", "probe", "use"]
    assert (result["changed"], result["written"], result["restarted"]) == (False, False, False)
    (sentence,) = result["held_back"]
    assert "pod team/train-1 uses a GPU" in sentence
    assert "-e gshare_disrupt=" in sentence
    assert result["warnings"] == [sentence]
    assert "diff" not in result


def test_without_gpu_work_nothing_is_held_back(act: Act) -> None:
    machine = Machine()
    assert act(machine, KEEP)["changed"]
    assert machine.names == ["read", "probe", "use", "apply"]


def test_who_uses_a_gpu_is_not_asked_about_where_nothing_restarts(act: Act) -> None:
    machine = Machine(OLD + TABLE)
    assert not act(machine, KEEP)["changed"]
    assert machine.names == ["read"]


NVIDIA_DROP_IN = "/etc/containerd/conf.d/99-nvidia.toml"


def test_a_generated_drop_in_goes_with_the_change(act: Act) -> None:
    imports = 'imports = ["/etc/containerd/conf.d/*.toml"]\n'
    drop_in = "version = 4\n"
    machine = Machine(imports + OLD + TABLE, drop_ins={NVIDIA_DROP_IN: drop_in})
    result = act(machine, {"settings": SETTINGS, "absorb": ["99-nvidia.toml"]}, diff=True)
    assert machine.names == ["read", "probe", "probe", "apply"]
    assert machine.steps[-1]["_absorbed"] == [NVIDIA_DROP_IN]
    assert (result["changed"], result["written"], result["absorbed"]) == (True, False, [NVIDIA_DROP_IN])
    assert result["diff"][0]["before"] == drop_in
    assert "is kept as a copy" in result["warnings"][0]


def test_case_14_a_drop_in_that_nothing_imports_is_told(act: Act) -> None:
    idle = ["/etc/containerd/config.d/99-nvidia.toml", "/etc/containerd/config.d/mine.toml"]
    options = {"settings": SETTINGS, "absorb": ["99-nvidia.toml"]}
    (warning,) = act(Machine(OLD + TABLE, idle=idle), options)["warnings"]
    assert warning.startswith("/etc/containerd/config.d/99-nvidia.toml: not effective")


CERTS = {"registry_directory": "/etc/containerd/certs.d"}
LIST = f"{OLD}[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/etc/containerd/certs.d:/b'\n"


@pytest.mark.parametrize("check", [False, True])
def test_a_list_of_directories_becomes_one_and_what_is_lost_is_told_once(act: Act, check: bool) -> None:
    machine = Machine(LIST)
    machine.probe["entries"] = {"/b": ["ghcr.io"]}
    result = act(machine, CERTS, check=check)
    assert machine.steps[1]["_folders"] == ["/b"]
    assert result["registry_directory"] == "/etc/containerd/certs.d"
    (warning,) = result["warnings"]
    assert warning.startswith("/b is no longer read by containerd")
    again = act(Machine(LIST.replace(":/b", "")), CERTS)
    assert (again["changed"], again["registry_directory"], again["warnings"]) == (False, "/etc/containerd/certs.d", [])


def test_the_owners_directory_is_the_result(act: Act) -> None:
    result = act(Machine(LIST.replace("/etc/containerd/certs.d:/b", "/srv/hosts")), CERTS)
    assert (result["changed"], result["registry_directory"]) == (False, "/srv/hosts")


def test_a_held_back_change_leaves_the_directory_as_it_was(act: Act) -> None:
    machine = Machine(LIST)
    machine.gpu_use = ["pod team/train-1 uses a GPU"]
    assert act(machine, {**CERTS, "keep_gpu_work": True})["registry_directory"] is None


def test_with_what_containerd_would_not_serve_nothing_is_written(act: Act) -> None:
    """All reasons at once: what keeps the CRI plugin from loading, and what does not come into force."""
    mirrors = "[plugins.'io.containerd.cri.v1.images'.registry.mirrors.x]\nendpoint = ['http://y']\n"
    machine = Machine(OLD + mirrors, drop_ins={NVIDIA_DROP_IN: "version = 4\ndisabled_plugins = ['cri']\n"})
    table = "[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/etc/containerd/certs.d'\n"
    machine.probe["dump"] = f"version = 4\ndisabled_plugins = ['io.containerd.grpc.v1.cri']\n{table}{mirrors}"
    result = act(machine, CERTS)
    assert result["failed"]
    assert "apply" not in machine.names
    assert f"{FILE}, line 3: registry.mirrors (x) stands beside registry.config_path" in result["msg"]
    assert f"{NVIDIA_DROP_IN}, line 2: the CRI plugin is disabled; take it out" in result["msg"]
