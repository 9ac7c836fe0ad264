# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import socket
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import APISERVER, CA_HASH, Machine, make


class Stopped(Exception):
    """fail_json was called."""


class FakeModule:
    """The few parts of AnsibleModule that are used."""

    def __init__(self) -> None:
        self.result: dict[str, t.Any] = {}

    def fail_json(self, **result: t.Any) -> t.NoReturn:
        self.result = result
        raise Stopped


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return make(tmp_path, monkeypatch)


def probes(monkeypatch: pytest.MonkeyPatch, **answers: tuple[int, str]) -> None:
    def probe(address: str, port: int, endpoint: str) -> tuple[int, str]:
        return answers[endpoint.strip("/").split("?")[0]]

    monkeypatch.setattr(machine, "probe", probe)


def test_api_state(monkeypatch: pytest.MonkeyPatch) -> None:
    probes(monkeypatch, livez=(200, "ok"), readyz=(200, "ok"))
    assert machine.api_state("192.0.2.10", 6443) == ("ready", "")
    probes(monkeypatch, livez=(500, "[-]etcd failed: reason withheld\n"), readyz=(500, ""))
    assert machine.api_state("192.0.2.10", 6443) == ("alive", "/livez says etcd failed")
    # A server that wants to know who asks is alive all the same.
    probes(monkeypatch, livez=(401, "Unauthorized"), readyz=(401, ""))
    assert machine.api_state("192.0.2.10", 6443) == ("alive", "/livez says 401")
    probes(monkeypatch, livez=(200, "ok"), readyz=(0, "connection refused"))
    assert machine.api_state("192.0.2.10", 6443) == ("none", "connection refused")


def test_a_port_where_nobody_listens(fake: Machine) -> None:
    fake.control_plane()
    status, text = machine.probe("127.0.0.1", 1, "/livez", timeout=1)
    assert status == 0
    assert "refused" in text


def test_the_manifest_knows_the_address_best(fake: Machine) -> None:
    asked: list[tuple[str, int]] = []
    fake.patch.setattr(machine, "api_state", lambda address, port: (asked.append((address, port)), ("ready", ""))[1])
    fake.control_plane()
    fake.file("etc/kubernetes/manifests/kube-apiserver.yaml", APISERVER.replace("=6443", "=8443"))
    assert machine.control_plane_facts("198.51.100.1", 6443)["api_url"] == "https://192.0.2.10:8443"
    assert asked == [("192.0.2.10", 8443)]


def test_etcd_that_runs_elsewhere(fake: Machine) -> None:
    fake.file("etc/kubernetes/manifests/kube-apiserver.yaml", APISERVER.replace("127.0.0.1", "192.0.2.50"))
    fake.api("none")
    assert machine.control_plane_facts()["external_etcd"]


def test_etcds_data_is_where_its_manifest_says(fake: Machine) -> None:
    fake.file("etc/kubernetes/manifests/etcd.yaml", "    - --data-dir=/srv/etcd\n")
    assert not machine.control_plane_facts()["etcd_data"]
    fake.file("srv/etcd/member/wal/0")
    assert machine.control_plane_facts()["etcd_data"]


def test_a_workers_kubelet_conf_says_nothing_about_an_init(fake: Machine) -> None:
    fake.worker()
    facts = machine.control_plane_facts("192.0.2.11")
    assert facts["kubelet_conf"]
    assert not facts["finalized"]
    assert facts["api"] == "none"


def test_a_ca_that_was_cut_off_counts_as_missing(fake: Machine) -> None:
    fake.worker(ca="-----BEGIN CERTIFICATE-----\nMII")
    commands = t.cast(machine.Commands, lambda *args, **more: (0, "", ""))
    assert not machine.worker_facts(commands)["pki/ca.crt"]
    fake.worker()
    assert machine.worker_facts(commands)["ca_hash"] == CA_HASH


def test_a_secret_file_is_gone_also_after_an_error(fake: Machine) -> None:
    seen: list[tuple[str, str, int, int]] = []

    def use() -> None:
        with machine.secret_file("secret", "join-") as name:
            modes = [os.stat(entry).st_mode & 0o777 for entry in (name, os.path.dirname(name))]
            seen.append((name, pathlib.Path(name).read_text(), *modes))
            raise KeyError

    with pytest.raises(KeyError):
        use()
    ((name, *rest),) = seen
    assert rest == ["secret", 0o600, 0o700]
    assert not os.path.exists(name)


def test_one_at_a_time(fake: Machine) -> None:
    module = FakeModule()
    with machine.only_one(t.cast(t.Any, module), 0):
        with pytest.raises(Stopped), machine.only_one(t.cast(t.Any, module), 0):
            pass
        assert "another run of this collection" in module.result["msg"]
    with machine.only_one(t.cast(t.Any, module), 0):
        pass


def test_a_kubeadm_that_only_prints_something_is_not_at_work(fake: Machine) -> None:
    fake.file("proc/7/comm", "kubeadm\n")
    fake.file("proc/7/cmdline", "kubeadm\0version\0")
    fake.file("proc/8/comm", "bash\n")
    assert machine.running_kubeadm() == []
    fake.file("proc/7/cmdline", "kubeadm\0join\0--config\0/x\0")
    assert machine.running_kubeadm() == ["kubeadm join --config /x"]


def test_the_marker(fake: Machine) -> None:
    machine.clear_marker()
    machine.set_marker()
    assert fake.has(machine.MARKER)
    assert machine.control_plane_facts()["marker"]
    machine.clear_marker()
    assert not fake.has(machine.MARKER)


def test_an_endpoint_that_is_reached_and_one_that_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
        assert machine.unreachable(endpoint) == ""
    assert "refused" in machine.unreachable(endpoint, attempts=1)
