# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the steps on the machine do about its proxy."""

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _containerd_drop_in,
    _containerd_node,
    _containerd_service,
)
from ansible_collections.gshare.cluster.plugins.module_utils._proxy import assigned
from ansible_collections.gshare.cluster.plugins.modules import containerd_config
from ansible_collections.gshare.cluster.tests.unit.plugins.containerd_fakes import (
    NEW,
    OLD,
    OLD_PROXY,
    PROXY,
    Killed,
    Machine,
    die,
)


def test_read_tells_of_the_proxy(machine: Machine) -> None:
    machine.put("etc/environment", "export http_proxy=http://a:1\n")
    machine.put("etc/systemd/system/containerd.service.d/x.conf", "[Service]\nEnvironment=NO_PROXY=a\n")
    machine.put("proc/4194304/environ", "PATH=/bin\0NO_PROXY=a\0")
    assert machine.step("read")["proxy"] == {
        "path": "/etc/systemd/system/containerd.service.d/gshare-proxy.conf",
        "text": None,
        "environment": {"HTTP_PROXY": "http://a:1"},
        "others": ["/etc/systemd/system/containerd.service.d/x.conf"],
        "running": {"NO_PROXY": "a"},
    }


def test_the_drop_in_is_written_and_comes_into_force(machine: Machine) -> None:
    result = machine.apply(None, _drop_in=PROXY)
    assert (result["restart"], result["reason"]) == (True, "the running daemon has another proxy")
    assert machine.drop_in == PROXY
    assert (machine.units / "gshare-proxy.conf").stat().st_mode & 0o777 == 0o644
    assert machine.running == assigned(PROXY)
    assert machine.restarts == 1
    machine.apply(None, _drop_in=PROXY)
    assert machine.restarts == 1


def test_both_files_are_one_restart(machine: Machine) -> None:
    machine.apply(NEW, _drop_in=PROXY)
    assert (machine.file.read_text(), machine.drop_in, machine.restarts) == (NEW, PROXY, 1)
    assert machine.running == assigned(PROXY)


def test_the_drop_in_is_removed(machine: Machine) -> None:
    machine.apply(None, _drop_in=PROXY)
    machine.apply(None, _drop_in="")
    assert (machine.drop_in, machine.running, machine.restarts) == (None, {}, 2)
    machine.apply(None, _drop_in="")
    assert machine.restarts == 2


def test_a_drop_in_that_gives_the_same_restarts_nothing(machine: Machine) -> None:
    machine.apply(None, _drop_in=PROXY)
    assert machine.apply(None, _drop_in=f"{PROXY}# more\n")["restart"] is False
    assert machine.restarts == 1
    assert "# more" in (machine.bin / "loaded").read_text()


def test_read_removes_what_a_killed_run_left_of_the_drop_in(machine: Machine) -> None:
    left = "etc/systemd/system/containerd.service.d/gshare-proxy.conf.new~"
    machine.put(left, "left by a killed run")
    machine.step("read", check=True)
    assert (machine.root / left).exists()
    machine.step("read")
    assert not (machine.root / left).exists()


def test_roll_back_of_the_drop_in(machine: Machine) -> None:
    machine.apply(None, _drop_in=OLD_PROXY)
    result = machine.apply(None, _drop_in=PROXY.replace("http:", "CRASH:"))
    assert result["rolled_back"]
    assert "with the new /etc/systemd/system/containerd.service.d/gshare-proxy.conf, what was there" in result["msg"]
    assert "containerd runs with it again" in result["msg"]
    assert machine.drop_in == OLD_PROXY
    assert machine.running == assigned(OLD_PROXY)
    assert (machine.state, machine.file.read_text()) == ("active", OLD)


def test_roll_back_of_both_files(machine: Machine) -> None:
    result = machine.apply(f"{NEW}CRASH = 1\n", _drop_in=PROXY)
    assert f"with the new {machine.file} and /etc/systemd/system" in result["msg"]
    assert (machine.file.read_text(), machine.drop_in, machine.running) == (OLD, None, {})
    assert machine.folder() == ["config.toml"]


def test_a_proxy_that_does_not_come_into_force(machine: Machine) -> None:
    """Something that the files of the unit do not show takes it away."""
    machine.put("etc/systemd/system/containerd.service.d/z.conf", 'Environment="HTTPS_PROXY=b"\n')
    result = machine.apply(None, _drop_in=PROXY)
    assert result["rolled_back"]
    assert "another proxy than /etc/systemd/system/containerd.service.d/gshare-proxy.conf gives" in result["msg"]
    assert (machine.drop_in, machine.state) == (None, "active")


def test_the_proxy_does_not_get_into_the_log(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(containerd_config.AnsibleModule, "log", lambda _self, text, **_more: logged.append(text))
    machine.apply(None, _drop_in=PROXY)
    assert any("_step=apply" in line for line in logged)
    assert [line for line in logged if "a:1" in line] == []


@pytest.mark.parametrize(
    ("moment", "old", "new"),
    [(moment, "", PROXY) for moment in ("put", "atomic_move", "restart", "run", "wait")]
    + [(moment, PROXY, "") for moment in ("put", "restart", "run", "wait")],
)
def test_a_proxy_after_a_killed_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, moment: str, old: str, new: str
) -> None:
    """At each moment the drop-in is the old or the new one, and the next run brings it into force."""
    machine.apply(None, _drop_in=old)
    before = machine.restarts
    run = _containerd_node.Node.run

    def kill_restart(node: _containerd_node.Node, command: list[str]) -> tuple[int, str, str]:
        return die() if "restart" in command else run(node, command)

    places = {
        "put": (_containerd_drop_in.DropIn, "put", die),
        "atomic_move": (containerd_config.AnsibleModule, "atomic_move", die),
        "restart": (containerd_config, "restart", die),
        "run": (_containerd_node.Node, "run", kill_restart),
        "wait": (_containerd_service, "wait", die),
    }
    monkeypatch.setattr(*places[moment])
    with pytest.raises(Killed):
        machine.apply(None, _drop_in=new)
    monkeypatch.undo()
    machine.patch(monkeypatch)
    assert (machine.drop_in or "") == (new if moment in ("restart", "run", "wait") else old)
    machine.step("read")
    machine.apply(None, _drop_in=new)
    assert ((machine.drop_in or ""), machine.running) == (new, assigned(new))
    assert machine.restarts == before + 1
