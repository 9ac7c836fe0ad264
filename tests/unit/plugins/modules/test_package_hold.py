# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import package_hold
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make

ARGS = {"name": ["kubelet", "kubeadm", "cri-tools"]}


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.file("state", "kubelet install installed 1\nkubeadm hold installed 1\ncri-tools deinstall config-files 1\n")
    result.program("dpkg-query", 'cat "$ROOT/state"')
    result.program(
        "apt-mark",
        r"""case "$*" in
"hold kubelet") printf 'kubelet hold installed 1\nkubeadm hold installed 1\n' > "$ROOT/state";;
"unhold kubeadm") printf 'kubelet install installed 1\nkubeadm install installed 1\n' > "$ROOT/state";;
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


def test_no_name_is_not_every_package(fake: Machine, run_module: t.Any) -> None:
    result = run_module(package_hold.main, {"name": []})
    assert (result["changed"], result["packages"], fake.runs("dpkg-query")) == (False, [], [])


def test_nothing_is_installed(fake: Machine, run_module: t.Any) -> None:
    fake.program("dpkg-query", "exit 1")
    assert not run_module(package_hold.main, ARGS, check=True)["changed"]


def test_a_refusal_of_apt_mark_is_told(fake: Machine, run_module: t.Any) -> None:
    fake.program("apt-mark", 'echo "E: The package lists are corrupt" >&2; exit 100')
    assert "corrupt" in run_module(package_hold.main, ARGS)["msg"]


UNATTENDED = {"unattended_file": "/etc/apt/apt.conf.d/52gshare", "unattended_patterns": ["kube", "cri-tools$"]}


def test_unattended_upgrades_are_kept_out(fake: Machine, run_module: t.Any) -> None:
    main = functools.partial(package_hold.main, str(fake.root))
    path = fake.root / "etc/apt/apt.conf.d/52gshare"
    predicted = run_module(main, {**ARGS, **UNATTENDED}, check=True, diff=True)
    assert not path.exists()
    done = run_module(main, {**ARGS, **UNATTENDED}, diff=True)
    assert predicted["diff"] == done["diff"]
    assert (done["diff"][1]["before"], done["diff"][1]["after"]) == ("", path.read_text())
    assert path.read_text().splitlines()[1:] == [
        "Unattended-Upgrade::Package-Blacklist {",
        '    "kube";',
        '    "cri-tools$";',
        "};",
    ]
    assert not run_module(main, {**ARGS, **UNATTENDED})["changed"]
    path.unlink()
    assert run_module(main, {**ARGS, **UNATTENDED})["changed"]
