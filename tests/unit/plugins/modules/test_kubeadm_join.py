# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.modules import kubeadm_join
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import CA_HASH, Machine, make

TOKEN = "abcdef.0123456789abcdef"
ARGS: dict[str, t.Any] = {
    "endpoint": "192.0.2.10:6443",
    "token": TOKEN,
    "ca_hash": CA_HASH,
    "address": "192.0.2.11",
    "timeout": 5,
}
NODES = [{"name": "gpu-1", "addresses": ["192.0.2.11"], "ready": True}]
JOIN = f"""
case "$1" in
join) grep -q {TOKEN} "$3" || exit 9; echo joined > "$ROOT/joined";;
reset) rm -f "$ROOT/etc/kubernetes/kubelet.conf";;
esac
"""


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.program("kubeadm", JOIN)
    monkeypatch.setattr(machine, "unreachable", lambda endpoint: "")
    return result


def test_a_fresh_machine_joins(fake: Machine, run_module: t.Any) -> None:
    result = run_module(kubeadm_join.main, ARGS)
    assert result["action"] == "join"
    assert result["changed"]
    assert fake.has("joined")
    assert not list((fake.root / "run/gshare").glob("join-*"))
    assert (fake.root / "run/gshare").stat().st_mode & 0o777 == 0o700
    # The token is in no list of processes and in no result.
    assert TOKEN not in "".join(fake.runs())
    assert TOKEN not in str({key: value for key, value in result.items() if key != "invocation"})


@pytest.mark.parametrize("half_joined", [False, True])
def test_an_api_server_that_is_not_reached(
    fake: Machine, run_module: t.Any, monkeypatch: pytest.MonkeyPatch, half_joined: bool
) -> None:
    if half_joined:
        fake.worker()
    monkeypatch.setattr(machine, "unreachable", lambda endpoint: f"{endpoint} timed out")
    result = run_module(kubeadm_join.main, {**ARGS, "nodes": [{"name": "cp", "addresses": ["192.0.2.10"]}]})
    assert result["failed"]
    assert "let 6443/tcp pass" in result["msg"]
    assert "192.0.2.10:6443 timed out" in result["msg"]
    assert fake.runs("kubeadm") == []
    assert fake.has("etc/kubernetes/kubelet.conf") is half_joined


def test_check_mode(fake: Machine, run_module: t.Any) -> None:
    result = run_module(kubeadm_join.main, {**ARGS, "token": "", "ca_hash": "", "endpoint": ""}, check=True)
    assert result["changed"]
    assert fake.runs("kubeadm") == []
    assert list(fake.root.iterdir()) == []


def test_a_node_of_the_cluster_is_left_alone(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    fake.service("active")
    result = run_module(kubeadm_join.main, {**ARGS, "nodes": NODES})
    assert result["action"] == "none"
    assert not result["changed"]
    assert fake.runs("kubeadm") == []


def test_a_kubelet_that_was_stopped_is_started(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    result = run_module(kubeadm_join.main, {**ARGS, "nodes": NODES})
    assert result["action"] == "start"
    assert "systemctl start kubelet" in fake.runs("systemctl")


def test_a_kubelet_that_systemd_starts_by_itself_is_let_alone(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    fake.service("activating")
    assert run_module(kubeadm_join.main, {**ARGS, "nodes": NODES})["action"] == "none"


def test_a_join_that_was_cut_off_is_cleared_away_first(fake: Machine, run_module: t.Any) -> None:
    fake.file("etc/kubernetes/bootstrap-kubelet.conf", "    server: https://192.0.2.10:6443\n")
    fake.file("etc/kubernetes/pki/ca.crt", "-----BEGIN CERT")
    fake.file("run/gshare/join-old.yaml", TOKEN)
    result = run_module(kubeadm_join.main, ARGS)
    assert result["action"] == "reset"
    assert "/etc/kubernetes/bootstrap-kubelet.conf" in result["removed"]
    assert [line.split()[1] for line in fake.runs("kubeadm")] == ["reset", "join"]
    assert not fake.has("run/gshare/join-old.yaml")


def test_case_63_links_of_an_earlier_cluster_go_before_the_join(fake: Machine, run_module: t.Any) -> None:
    fake.program("ip", """case "$*" in "-j link") echo '[{"ifname": "cni0"}, {"ifname": "eth0"}]';; esac""")
    result = run_module(kubeadm_join.main, ARGS)
    assert result["removed"] == ["link cni0"]
    lines = fake.runs()
    assert lines.index("ip link delete cni0") < next(
        i for i, line in enumerate(lines) if line.startswith("kubeadm join")
    )


def test_a_machine_of_another_cluster_is_refused(fake: Machine, run_module: t.Any) -> None:
    fake.worker(server="https://198.51.100.1:6443")
    result = run_module(kubeadm_join.main, {**ARGS, "ca_hash": "sha256:00"})
    assert result["failed"]
    assert "another cluster (https://198.51.100.1:6443)" in result["msg"]
    assert fake.has("etc/kubernetes/kubelet.conf")


@pytest.mark.parametrize("check", [False, True])
def test_case_66_a_name_that_is_taken_is_refused(fake: Machine, run_module: t.Any, check: bool) -> None:
    nodes = [{"name": "gpu-1", "addresses": ["192.0.2.12"]}]
    result = run_module(kubeadm_join.main, {**ARGS, "nodes": nodes}, check=check)
    assert result["failed"]
    assert fake.runs("kubeadm") == []


def test_case_64_a_failed_join_leaves_no_token_behind(fake: Machine, run_module: t.Any) -> None:
    fake.program("kubeadm", "echo 'error: could not find a JWS signature for token ID \"abcdef\"' >&2; exit 1")
    result = run_module(kubeadm_join.main, ARGS)
    assert result["failed"]
    assert "expired" in result["msg"]
    assert not list((fake.root / "run/gshare").glob("join-*"))
