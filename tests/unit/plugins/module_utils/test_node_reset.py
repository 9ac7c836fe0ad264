# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways of module kubeadm_reset are in its own tests; here is what is hard to reach from there."""

from __future__ import annotations

import os
import pathlib
import pwd
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make


class FakeCommands:
    """Nothing is installed and nothing runs."""

    def __init__(self) -> None:
        self.run: list[str] = []
        self.module = t.cast(t.Any, self)

    def __call__(self, argv: list[str], **more: t.Any) -> tuple[int, str, str]:
        self.run.append(" ".join(argv))
        return 1, "", ""

    def get_bin_path(self, name: str) -> None:
        return None


@pytest.fixture
def commands() -> machine.Commands:
    return t.cast(machine.Commands, FakeCommands())


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return make(tmp_path, monkeypatch)


def test_a_disk_of_its_own_is_emptied_and_stays(fake: Machine, commands: machine.Commands) -> None:
    fake.file("var/lib/etcd/member/snap/db")
    (fake.root / "var/lib/etcd/link").symlink_to("/nowhere")
    fake.patch.setattr(os.path, "ismount", lambda path: str(path).endswith("var/lib/etcd"))
    removed, warnings = node_reset.reset(commands, user=None)
    assert removed == ["/var/lib/etcd"]
    assert warnings == []
    assert list((fake.root / "var/lib/etcd").iterdir()) == []
    assert node_reset.reset(commands, user=None) == ([], [])


def test_the_marker_of_an_unfinished_init_goes_last(fake: Machine, commands: machine.Commands) -> None:
    """A reset that is cut off leaves data without manifests; with the marker the next run knows it for a leftover."""
    machine.set_marker()
    fake.file("var/lib/etcd/member/snap/db")
    seen: list[bool] = []
    fake.patch.setattr(node_reset, "_remove_folder", lambda name: seen.append(fake.has(machine.MARKER)))
    fake.patch.setattr(node_reset, "_folder_found", lambda name: name == "var/lib/etcd" and not seen)
    node_reset.reset(commands, user=None)
    assert seen == [True]
    assert not fake.has(machine.MARKER)


def test_folders_go_only_if_they_are_empty(fake: Machine, commands: machine.Commands) -> None:
    fake.file("var/lib/cni/networks/cbr0/10.244.1.2")
    fake.file("var/lib/cni/results/cbr0-abc-eth0")
    node_reset.reset(commands, user=None)
    assert not fake.has("var/lib/cni")
    fake.file("var/lib/cni/networks/cbr0/10.244.1.2")
    fake.file("var/lib/cni/networks/podman/10.88.0.2")
    node_reset.reset(commands, user=None)
    assert fake.has("var/lib/cni/networks/podman/10.88.0.2")


def test_a_binary_that_a_package_owns_stays(fake: Machine, commands: machine.Commands) -> None:
    fake.file("opt/cni/bin/flannel")
    assert node_reset.find(commands, None).files == ["opt/cni/bin/flannel"]
    owned = t.cast(machine.Commands, lambda argv, **more: (0, "", ""))
    assert node_reset.find(owned, None).files == []


def test_the_login_user(monkeypatch: pytest.MonkeyPatch) -> None:
    me = pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setenv("SUDO_USER", me)
    assert node_reset.login_user().pw_name == me
    monkeypatch.delenv("SUDO_USER")
    assert node_reset.login_user().pw_name == "root"
    with pytest.raises(KeyError):
        node_reset.login_user("nobody-of-this-name")
