# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's side, with the module itself run on a directory of the test."""

from __future__ import annotations

import types
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.action import containerd_hosts
from ansible_collections.gshare.cluster.plugins.modules import containerd_hosts as module
from ansible_collections.gshare.cluster.tests.unit.conftest import RunModule

HUB = {"name": "docker.io", "endpoints": [{"url": "http://192.0.2.191:5001"}]}
LOGIN = {
    "name": "quay.io",
    "endpoints": [{"url": "https://m.example.net/v2/quay", "username": "robot", "password": "sesame"}],
}


class Node:
    """A machine whose containerd names this directory."""

    def __init__(self, home: Path, run_module: RunModule) -> None:
        self.home = home
        self.run_module = run_module
        self.facts: dict[str, t.Any] = {"installed": True, "version": "2.3.7", "dump_problem": ""}
        self.names(str(home))
        self.calls: list[dict[str, t.Any]] = []

    def names(self, path: str) -> None:
        table = "[plugins.'io.containerd.cri.v1.images'.registry]"
        self.facts["dump"] = f"version = 3\n{table}\nconfig_path = '{path}'\n"

    def answer(self, module_name: str, module_args: dict[str, t.Any], task_vars: t.Any) -> dict[str, t.Any]:
        self.calls.append(module_args)
        if module_args["directory"].startswith("/etc"):  # not that of the machine on which the test runs
            return {**self.facts, "tree": {"folders": [], "files": {}}}
        result = self.run_module(module.main, module_args)
        result.pop("commands", None)
        return {**result, **self.facts} if module_args["_step"] == "read" else result

    def put(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.is_file())


@pytest.fixture
def node(tmp_path: Path, run_module: RunModule) -> Node:
    (tmp_path / "certs.d").mkdir()
    return Node(tmp_path / "certs.d", run_module)


@pytest.fixture
def act(node: Node, monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., dict[str, t.Any]]:
    def run(*registries: dict[str, t.Any], check: bool = False, diff: bool = False, **more: t.Any) -> dict[str, t.Any]:
        plugin = containerd_hosts.ActionModule.__new__(containerd_hosts.ActionModule)
        args = {"registries": list(registries), "directory": str(node.home), **more}
        args = {key: value for key, value in args.items() if value is not None}
        plugin._task = types.SimpleNamespace(args=args, check_mode=check, diff=diff, async_val=0)
        monkeypatch.setattr(plugin, "_execute_module", node.answer)
        monkeypatch.setattr(containerd_hosts.ActionBase, "run", lambda self, tmp, task_vars: {})
        return plugin.run(None, {})

    return run


Act = t.Callable[..., dict[str, t.Any]]


def test_two_round_trips_to_write_and_one_when_nothing_changes(act: Act, node: Node) -> None:
    first = act(HUB)
    assert (first["changed"], first["written"]) == (True, [f"{node.home}/docker.io/hosts.toml"])
    assert [call["_step"] for call in node.calls] == ["read", "apply"]
    second = act(HUB)
    assert (second["changed"], second["written"], second["warnings"]) == (False, [], [])
    assert len(node.calls) == 3


def test_a_key_changed_by_hand_comes_back(act: Act, node: Node) -> None:
    act(HUB)
    file = node.home / "docker.io/hosts.toml"
    text = file.read_text()
    file.write_text(text.replace("5001", "5999"))
    result = act(HUB, diff=True)
    assert file.read_text() == text
    assert "5999" in result["diff"][0]["before"]
    assert result["diff"][0]["after"] == text


def test_check_mode_predicts_and_writes_nothing(act: Act, node: Node) -> None:
    predicted = act(HUB, LOGIN, check=True, diff=True)
    assert node.files() == []
    done = act(HUB, LOGIN, diff=True)
    for key in ("changed", "written", "removed", "diff", "warnings"):
        assert predicted[key] == done[key], key


def test_what_is_not_asked_for_any_more_goes(act: Act, node: Node) -> None:
    node.put("ghcr.io/hosts.toml", 'server = "https://ghcr.io"\n')
    act(HUB, LOGIN)
    result = act()
    assert result["removed"] == [f"{node.home}/docker.io/hosts.toml", f"{node.home}/quay.io/hosts.toml"]
    assert node.files() == ["ghcr.io/hosts.toml"]
    assert act()["changed"] is False


def test_nothing_asked_for_costs_one_round_trip(act: Act, node: Node) -> None:
    node.names("")
    assert act(directory=None)["changed"] is False
    assert len(node.calls) == 1


def test_a_file_of_others_is_kept_and_that_is_said(act: Act, node: Node) -> None:
    node.put("docker.io/hosts.toml", 'server = "https://docker.io"\n')
    result = act(HUB)
    (copy,) = result["backup_files"]
    assert Path(copy).read_text() == 'server = "https://docker.io"\n'
    assert result["warnings"] == [
        f"{node.home}/docker.io/hosts.toml was not written by this collection; a copy is kept beside it, and ours "
        "takes its place."
    ]
    assert act(HUB)["warnings"] == []


def test_findings_are_warnings_too(act: Act, node: Node) -> None:
    node.put("192.0.2.191_5000_/hosts.toml", 'server = "https://old.example.net"\n')
    result = act({"name": "192.0.2.191:5000", "plain_http": True})
    assert [one["name"] for one in result["findings"]] == ["shadowed"]
    assert result["warnings"] == [result["findings"][0]["message"]]


def test_nothing_secret_leaves_the_plugin(act: Act, node: Node) -> None:
    result = act(LOGIN, diff=True)
    assert "Basic" in (node.home / "quay.io/hosts.toml").read_text()
    for secret in ("sesame", "Basic", "cm9ib3Q"):
        assert secret not in str(result)
    # The machine is told files, not passwords.
    assert "sesame" not in str(node.calls)


def test_all_mistakes_before_the_machine_is_asked(act: Act, node: Node) -> None:
    result = act({"name": "quay.io", "endpoints": [{"url": "a"}, {"url": "https://b/c"}]})
    assert result["failed"]
    assert "has no scheme" in result["msg"]
    assert "without /v2" in result["msg"]
    assert node.calls == []


def test_the_daemon_names_the_directory(act: Act, node: Node) -> None:
    result = act(HUB, directory=None)
    assert (result["directory"], node.files()) == (str(node.home), ["docker.io/hosts.toml"])
    assert [(call["_step"], call["directory"]) for call in node.calls] == [
        ("read", "/etc/containerd/certs.d"),
        ("read", str(node.home)),
        ("apply", str(node.home)),
    ]


def test_the_version_of_the_daemon_decides_about_ipv6(act: Act, node: Node) -> None:
    asked = {"name": "[2001:db8::1]:5000", "plain_http": True}
    assert act(asked)["changed"]
    node.facts["version"] = "1.7.24"
    assert "containerd 1.7.24 cannot read an IPv6 address there" in act(asked)["msg"]


@pytest.mark.parametrize(
    ("path", "said"), [("", "config_path is empty"), ("/etc/containerd/certs.d:/etc/docker/certs.d", "is the list")]
)
def test_without_a_directory_that_counts_the_usual_one_is_written_and_told(
    act: Act, node: Node, path: str, said: str
) -> None:
    node.names(path)
    result = act(HUB, directory=None)
    assert (result["changed"], result["directory"]) == (True, "/etc/containerd/certs.d")
    assert said in result["warnings"][0]
    predicted = act(HUB, directory=None, check=True)
    assert (predicted["changed"], predicted["directory"]) == (True, "/etc/containerd/certs.d")


def test_without_containerd(act: Act, node: Node) -> None:
    node.facts = {"installed": False}
    assert act()["changed"] is False
    assert act(HUB, check=True)["changed"] is True
    assert "install it before this task" in act(HUB)["msg"]


def test_a_step_that_fails_fails_the_task(act: Act, node: Node) -> None:
    node.facts = {"failed": True, "msg": "no space left"}
    assert act(HUB)["msg"] == "no space left"
