# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import package_hold
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make

ARGS = {"name": ["kubelet", "kubeadm", "cri-tools"]}


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.file("state", "kubelet install installed\nkubeadm hold installed\ncri-tools deinstall config-files\n")
    result.program("dpkg-query", 'cat "$ROOT/state"')
    result.program(
        "apt-mark",
        r"""case "$*" in
"hold kubelet") printf 'kubelet hold installed\nkubeadm hold installed\n' > "$ROOT/state";;
"unhold kubeadm") printf 'kubelet install installed\nkubeadm install installed\n' > "$ROOT/state";;
*) exit 1;;
esac""",
    )
    return result


def test_check_run_and_run_again(fake: Machine, run_module: t.Any) -> None:
    predicted = run_module(package_hold.main, ARGS, check=True, diff=True)
    assert fake.runs("apt-mark") == []
    done = run_module(package_hold.main, ARGS, diff=True)
    assert predicted["packages"] == done["packages"] == ["kubelet"]
    assert predicted["diff"] == done["diff"]
    assert done["diff"]["before"] == "kubeadm held\nkubelet free\n"
    assert not run_module(package_hold.main, ARGS)["changed"]


def test_free(fake: Machine, run_module: t.Any) -> None:
    assert run_module(package_hold.main, {**ARGS, "state": "free"})["packages"] == ["kubeadm"]
    assert not run_module(package_hold.main, {**ARGS, "state": "free"})["changed"]


def test_nothing_is_installed(fake: Machine, run_module: t.Any) -> None:
    fake.program("dpkg-query", "exit 1")
    assert not run_module(package_hold.main, ARGS, check=True)["changed"]


def test_a_refusal_of_apt_mark_is_told(fake: Machine, run_module: t.Any) -> None:
    fake.program("apt-mark", 'echo "E: The package lists are corrupt" >&2; exit 100')
    assert "corrupt" in run_module(package_hold.main, ARGS)["msg"]
