# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Before anything is installed: check mode says what would be done, and does nothing."""

from __future__ import annotations

import pytest

testinfra_hosts = ["ansible://kube_cluster?sudo=true"]


@pytest.fixture(scope="module")
def check(playbooks):
    return playbooks.run("up", "--check", "--diff")


def test_ends_without_an_error(check) -> None:
    assert check.status == 0


def test_lists_what_would_be_done(check, host) -> None:
    address = host.backend.get_hostname()
    assert check.changed.get(address, 0) > 5
    assert "SystemdCgroup" in check.output or "containerd" in check.output


@pytest.mark.parametrize("path", ["/etc/kubernetes/admin.conf", "/etc/containerd", "/etc/modules-load.d/gshare.conf"])
def test_changes_nothing(check, host, path) -> None:
    assert not host.file(path).exists


def test_installs_nothing(check, host) -> None:
    assert not host.package("kubelet").is_installed
