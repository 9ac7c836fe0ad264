# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import os
import pathlib
import pwd
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset
from ansible_collections.gshare.cluster.plugins.modules import admin_kubeconfig
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import ADMIN, Machine, make

TARGET = "home/op/.kube/config"
OTHER = ADMIN.replace("Q0E=", "T1RIRVI=").replace("Q0VSVA==", "T1RI")


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.file("etc/kubernetes/admin.conf", ADMIN)
    account = pwd.struct_passwd(("op", "x", os.getuid(), os.getgid(), "", "/home/op", "/bin/sh"))
    monkeypatch.setattr(node_reset, "login_user", lambda name="": account)
    return result


def test_check_run_and_run_again(fake: Machine, run_module: t.Any) -> None:
    predicted = run_module(admin_kubeconfig.main, {}, check=True, diff=True)
    assert not fake.has("home")
    done = run_module(admin_kubeconfig.main, {}, diff=True)
    assert predicted["changed"]
    assert done["changed"]
    assert predicted["diff"] == done["diff"]
    assert (fake.root / TARGET).read_text() == ADMIN
    assert (fake.root / TARGET).stat().st_mode & 0o777 == 0o600
    assert not run_module(admin_kubeconfig.main, {})["changed"]


def test_another_clusters_file_is_kept_as_a_backup(fake: Machine, run_module: t.Any) -> None:
    fake.file(TARGET, OTHER)
    result = run_module(admin_kubeconfig.main, {})
    assert (fake.root / TARGET).read_text() == ADMIN
    backup = pathlib.Path(result["backup_file"])
    assert backup.read_text() == OTHER
    assert backup.stat().st_mode & 0o777 == 0o600


def test_other_entries_beside_an_old_certificate_are_kept_as_a_backup(fake: Machine, run_module: t.Any) -> None:
    present = ADMIN.replace("Q0VSVA==", "T0xE") + OTHER
    fake.file(TARGET, present)
    result = run_module(admin_kubeconfig.main, {})
    assert (fake.root / TARGET).read_text() == ADMIN
    assert pathlib.Path(result["backup_file"]).read_text() == present


def test_a_file_that_holds_this_cluster_among_others_stays(fake: Machine, run_module: t.Any) -> None:
    fake.file(TARGET, OTHER + ADMIN).chmod(0o600)
    assert not run_module(admin_kubeconfig.main, {})["changed"]
    assert (fake.root / TARGET).read_text() == OTHER + ADMIN


def test_renewed_certificates_replace_the_old_ones(fake: Machine, run_module: t.Any) -> None:
    fake.file(TARGET, ADMIN.replace("Q0VSVA==", "T0xE"))
    result = run_module(admin_kubeconfig.main, {})
    assert "backup_file" not in result
    assert (fake.root / TARGET).read_text() == ADMIN


def test_a_file_that_others_can_read_is_closed(fake: Machine, run_module: t.Any) -> None:
    fake.file(TARGET, ADMIN).chmod(0o644)
    assert run_module(admin_kubeconfig.main, {})["changed"]
    assert (fake.root / TARGET).stat().st_mode & 0o777 == 0o600
    assert not run_module(admin_kubeconfig.main, {})["changed"]


def test_without_a_cluster(fake: Machine, run_module: t.Any) -> None:
    (fake.root / "etc/kubernetes/admin.conf").unlink()
    assert run_module(admin_kubeconfig.main, {}, check=True)["changed"]
    assert "kubeadm init phase kubeconfig admin" in run_module(admin_kubeconfig.main, {})["msg"]


def test_an_unknown_account(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, run_module: t.Any) -> None:
    make(tmp_path, monkeypatch)
    with contextlib.suppress(KeyError):
        pwd.getpwnam("nobody-of-this-name")
    assert "nobody-of-this-name" in run_module(admin_kubeconfig.main, {"user": "nobody-of-this-name"})["msg"]
