# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.gshare.cluster.plugins.action import preflight_info

FACTS = {"facts": {"hostname": "gpu-1"}}
Answer = dict[str, t.Any] | Exception


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., t.Any]:
    """Run the action; the module answers with the given results, one a call."""
    monkeypatch.setattr(preflight_info.ActionBase, "run", lambda self, tmp, task_vars: {})

    def run(*answers: Answer, become: bool = True, **more: t.Any) -> tuple[dict[str, t.Any], list[bool]]:
        plugin = preflight_info.ActionModule.__new__(preflight_info.ActionModule)
        plugin._task = types.SimpleNamespace(args={"ports": ["6443"], **more}, async_val=0)
        plugin._connection = types.SimpleNamespace(become=object() if become else None)
        left = list(answers)
        as_root: list[bool] = []

        def execute(module_args: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
            assert module_args == {"ports": [6443], "paths": ["/var/lib"]}
            as_root.append(plugin._connection.become is not None)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(plugin, "_execute_module", execute)
        result = plugin.run(None, {})
        assert left == []
        return result, as_root

    return run


def test_all_is_well(act):
    result, as_root = act(FACTS)
    assert result["facts"] == FACTS["facts"]
    assert result["problem"] == {}
    assert result["clock"]["before"] <= result["clock"]["after"]
    assert as_root == [True]
    assert "failed" not in result


def test_a_machine_that_does_not_answer_is_no_failure(act, monkeypatch):
    text = (
        "Failed to connect to the host via ssh: Warning: x\r\nssh: connect to host 192.0.2.1 port 22: No route to host"
    )
    monkeypatch.setattr(preflight_info, "_REBOOTS", ())
    result, as_root = act(AnsibleConnectionFailure(text))
    assert result["problem"] == {
        "name": "unreachable",
        "text": "ssh: connect to host 192.0.2.1 port 22: No route to host",
    }
    assert result["facts"] == {}
    assert as_root == [True]
    assert not {"failed", "unreachable"} & set(result)


def test_the_others_go_on_without_a_worker_that_is_away(act, monkeypatch):
    monkeypatch.setattr(preflight_info, "_REBOOTS", ())
    result, _as_root = act(AnsibleConnectionFailure("ssh: connect to 192.0.2.1: No route to host"), leave_out=True)
    assert result["unreachable"]
    assert result["problem"]["name"] == "worker_away"
    assert result["msg"] == "ssh: connect to 192.0.2.1: No route to host"


@pytest.mark.parametrize("text", ["ubuntu@192.0.2.1: Permission denied (publickey).", "Host key verification failed."])
def test_a_refused_login_is_somebodys_mistake(act, text):
    result, _as_root = act(AnsibleConnectionFailure(text), leave_out=True)
    assert "unreachable" not in result
    assert result["problem"]["name"] == "unreachable"


@pytest.mark.parametrize(
    "text",
    [
        "ssh: connect to host 192.0.2.1 port 22: Connection refused",
        "System is booting up. Unprivileged users are not permitted to log in yet.",
        "kex_exchange_identification: Connection closed by remote host",
        "ssh: connect to host 192.0.2.1 port 22: No route to host",
    ],
)
def test_a_machine_that_reboots_gets_some_time(act, monkeypatch, text):
    monkeypatch.setattr(preflight_info.time, "sleep", lambda _seconds: None)
    result, as_root = act(AnsibleConnectionFailure(text), AnsibleConnectionFailure(text), FACTS)
    assert result["facts"] == FACTS["facts"]
    assert as_root == [True] * 3


def test_but_not_for_ever(act, monkeypatch):
    clock = iter([0.0, 61.0])
    monkeypatch.setattr(preflight_info.time, "monotonic", lambda: next(clock))
    result, _as_root = act(AnsibleConnectionFailure("ssh: connect to host 192.0.2.1 port 22: Connection refused"))
    assert result["problem"]["name"] == "unreachable"


@pytest.mark.parametrize(
    "refusal",
    [
        AnsibleError("Missing sudo password"),
        {
            "failed": True,
            "msg": "Module result deserialization failed.",
            "module_stderr": "sudo: a password is required\n",
        },
        {"failed": True, "msg": "x", "module_stdout": "ops is not in the sudoers file.\r\n"},
        {"failed": True, "module_stderr": "/bin/sh: 1: sudo: not found\n"},
        AnsibleError("Timeout (12s) waiting for privilege escalation prompt: "),
    ],
)
def test_without_root_the_rest_is_gathered_all_the_same(act, refusal):
    result, as_root = act(refusal, FACTS)
    assert result["problem"]["name"] == "sudo"
    assert result["problem"]["text"].startswith("The login user cannot become root: ")
    assert result["facts"] == FACTS["facts"]
    assert as_root == [True, False]


def test_what_works_without_root_only_is_a_matter_of_root(act):
    result, _as_root = act({"failed": True, "msg": "something odd"}, FACTS)
    assert result["problem"] == {"name": "sudo", "text": "something odd"}


def test_no_python(act):
    missing = {"failed": True, "msg": "The module interpreter '/usr/bin/python3' was not found.", "module_stderr": ""}
    result, as_root = act(missing)
    assert result["problem"]["name"] == "python_missing"
    assert as_root == [True]


def test_another_failure_is_told_as_it_is(act):
    failure = {"failed": True, "msg": "first\n", "module_stderr": "Traceback\nOSError: disk on fire\n\n"}
    result, _as_root = act(failure, failure)
    assert result["problem"] == {"name": "gather_failed", "text": "OSError: disk on fire"}


def test_an_empty_failure_says_something(act):
    result, as_root = act({"failed": True}, become=False)
    assert result["problem"] == {"name": "gather_failed", "text": "no reason was given"}
    assert as_root == [False]
