# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools
import json
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import kubeadm_init
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make

ARGS: dict[str, t.Any] = {
    "address": "192.0.2.10",
    "pod_cidr": "10.244.0.0/16",
    "service_cidr": "10.96.0.0/12",
    "api_timeout": 1,
    "init_timeout": 5,
    "stable_probes": 2,
}
NODES = json.dumps({"items": [{"metadata": {"name": "cp"}}]})
CONFIG_MAP = json.dumps({"data": {"ClusterConfiguration": "networking:\n  podSubnet: 10.244.0.0/16\n"}})
MARKER = "etc/kubernetes/gshare-init-unfinished"
# What a working init leaves, and what it was given.
INIT = """
case "$1" in
init)
  grep -q InitConfiguration "$3" && [ -e "$ROOT/etc/kubernetes/gshare-init-unfinished" ] || exit 9
  mkdir -p "$ROOT/etc/kubernetes/manifests" "$ROOT/etc/kubernetes/pki"
  echo x > "$ROOT/etc/kubernetes/pki/ca.crt"
  echo x > "$ROOT/etc/kubernetes/manifests/kube-apiserver.yaml";;
reset)
  rm -f "$ROOT/etc/kubernetes/manifests/kube-apiserver.yaml";;
esac
"""


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    monkeypatch.setattr(kubeadm_init, "PROBE_INTERVAL", 0.01)
    result.program("kubectl", f"case \"$*\" in *nodes*) printf %s '{NODES}';; *) printf %s '{CONFIG_MAP}';; esac")
    result.program("kubeadm", INIT)
    result.api("ready")
    return result


def test_a_fresh_machine(fake: Machine, run_module: t.Any) -> None:
    result = run_module(kubeadm_init.main, ARGS)
    assert result["changed"]
    assert result["state"] == "absent"
    assert result["actions"] == ["init"]
    assert [node["name"] for node in result["nodes"]] == ["cp"]
    assert not fake.has(MARKER)
    assert not list((fake.root / "run/gshare").glob("init-*"))
    (command,) = fake.runs("kubeadm")
    assert command.startswith("kubeadm init --config ")


def test_check_mode_on_a_fresh_machine_touches_nothing(fake: Machine, run_module: t.Any) -> None:
    result = run_module(kubeadm_init.main, ARGS, check=True)
    assert result["changed"]
    assert not result["ready"]
    assert result["nodes"] == []
    assert result["config"][1]["networking"]["podSubnet"] == "10.244.0.0/16"
    assert fake.runs("kubeadm") == []
    assert list(fake.root.iterdir()) == []


@pytest.mark.parametrize("check", [False, True])
def test_a_healthy_control_plane_is_left_alone(fake: Machine, run_module: t.Any, check: bool) -> None:
    fake.control_plane()
    result = run_module(kubeadm_init.main, {**ARGS, "force_reset": True}, check=check)
    assert not result["changed"]
    assert result["ready"]
    assert fake.runs("kubeadm") == []


def test_another_pod_range_is_an_error(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    result = run_module(kubeadm_init.main, {**ARGS, "pod_cidr": "10.10.0.0/16"})
    assert result["failed"]
    assert "POD_CIDR" in result["msg"]


def test_an_init_whose_end_is_missing_is_ended_without_a_reset(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    fake.file(MARKER)
    result = run_module(kubeadm_init.main, ARGS)
    assert result["actions"] == ["finish"]
    (command,) = fake.runs("kubeadm")
    phases = "preflight,certs,kubeconfig,etcd,control-plane,kubelet-start,show-join-command"
    assert command.endswith(f"--skip-phases {phases}")
    assert not fake.has(MARKER)


def test_leftovers_are_reset(fake: Machine, run_module: t.Any) -> None:
    fake.file("etc/kubernetes/admin.conf")
    fake.file("etc/kubernetes/pki/ca.key")
    fake.file(MARKER)
    result = run_module(kubeadm_init.main, ARGS)
    assert result["state"] == "leftover"
    assert result["actions"] == ["reset", "init"]
    assert "/etc/kubernetes/admin.conf" in result["removed"]
    assert not fake.has("etc/kubernetes/pki/ca.key")
    assert [line.split()[1] for line in fake.runs("kubeadm")] == ["reset", "init"]


def test_case_71_data_that_does_not_answer_stops_the_run(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    fake.api("none", "connection refused")
    result = run_module(kubeadm_init.main, ARGS)
    assert result["failed"]
    assert result["state"] == "broken"
    assert "connection refused" in result["msg"]
    assert "INIT_FORCE_RESET=1" in result["msg"]
    assert fake.runs("kubeadm") == []
    assert fake.has("var/lib/etcd/member/snap/db")
    # kubelet did not run, so it was started and given its time
    assert "systemctl start kubelet" in result["commands"]


def test_such_data_is_lost_only_if_the_user_says_so(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    old = fake.root / "etc/kubernetes/manifests/etcd.yaml"
    fake.patch.setattr(
        kubeadm_init.machine, "api_state", lambda address, port: ("none" if old.exists() else "ready", "")
    )
    result = run_module(kubeadm_init.main, {**ARGS, "force_reset": True})
    assert result["actions"] == ["start", "reset", "init"]
    assert not fake.has("var/lib/etcd/member")


@pytest.mark.parametrize(
    ("state", "actions"), [("active", []), ("activating", []), ("inactive", ["start"]), ("failed", ["start"])]
)
def test_a_kubelet_that_systemd_starts_by_itself_is_let_alone(
    fake: Machine, run_module: t.Any, state: str, actions: list[str]
) -> None:
    # After a boot it waits for containerd's socket: systemd starts it again after ten seconds.
    fake.control_plane()
    fake.service(state)
    states = iter(["none", "none", "ready"])
    fake.patch.setattr(kubeadm_init.machine, "api_state", lambda address, port: (next(states, "ready"), ""))
    result = run_module(kubeadm_init.main, ARGS)
    assert result["actions"] == actions
    assert result["changed"] is bool(actions)


def test_a_control_plane_that_boots_is_waited_for(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    states = iter(["none", "none", "alive"])
    fake.patch.setattr(kubeadm_init.machine, "api_state", lambda address, port: (next(states, "ready"), ""))
    fake.service("active")
    result = run_module(kubeadm_init.main, {**ARGS, "api_timeout": 30})
    assert not result["changed"]
    assert result["state"] == "healthy"


def test_a_worker_is_refused(fake: Machine, run_module: t.Any) -> None:
    fake.worker()
    result = run_module(kubeadm_init.main, ARGS)
    assert result["failed"]
    assert "worker of a cluster" in result["msg"]


def test_kubeadms_words_are_in_the_error_and_the_marker_stays(fake: Machine, run_module: t.Any) -> None:
    fake.program("kubeadm", 'echo "	[ERROR Swap]: running with swap on is not supported" >&2; exit 1')
    result = run_module(kubeadm_init.main, ARGS)
    assert result["failed"]
    assert result["msg"].startswith("kubeadm init failed: switch swap off.\n[ERROR Swap]")
    assert fake.has(MARKER)
    assert not list((fake.root / "run/gshare").glob("init-*"))


def test_an_init_that_hangs_is_ended(fake: Machine, run_module: t.Any) -> None:
    fake.program("kubeadm", "sleep 30")
    result = run_module(kubeadm_init.main, {**ARGS, "init_timeout": 1})
    assert result["failed"]
    assert "did not end within 1 s" in result["output"]


def test_case_79_an_api_that_goes_away_again_is_not_a_success(fake: Machine, run_module: t.Any) -> None:
    answers = itertools.cycle(["ready", "none"])
    fake.patch.setattr(kubeadm_init.machine, "api_state", lambda address, port: (next(answers), "connection refused"))
    result = run_module(kubeadm_init.main, ARGS)
    assert result["failed"]
    assert "cgroup driver" in result["msg"]
    assert fake.has(MARKER)


def test_another_kubeadm_is_waited_for(fake: Machine, run_module: t.Any) -> None:
    fake.file("proc/123/comm", "kubeadm\n")
    fake.file("proc/123/cmdline", "kubeadm\0init\0--config\0/x\0")
    result = run_module(kubeadm_init.main, {**ARGS, "init_timeout": 1})
    assert result["failed"]
    assert "kubeadm init --config /x" in result["msg"]
    assert fake.runs("kubeadm") == []
