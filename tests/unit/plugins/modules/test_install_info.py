# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import install_info
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import Machine, make

KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.program(
        "dpkg-query",
        "printf 'kubelet hold installed 1.36.5-1.1\\nkubeadm install installed 1.36.5-1.1\\n"
        "kubectl hold config-files 1.36.4-1.1\\n'; exit 1",
    )
    result.program("systemctl", '[ "$2" = kubelet ] && echo enabled && exit 0; echo disabled; exit 1')
    return result


def test_nothing_is_lacking(fake: Machine, run_module: t.Any, tmp_path: pathlib.Path) -> None:
    key = tmp_path / "key.asc"
    key.write_text(KEY)
    checksum = hashlib.sha256(KEY.encode()).hexdigest()
    args = {
        "packages": ["kubelet=1.36.5-*", "kubelet"],
        "held": True,
        "files": [{"path": str(key), "content": KEY, "checksum": f"sha256:{checksum}"}, {"path": str(key)}],
        "services": ["kubelet"],
    }
    result = run_module(install_info.main, args, check=True)
    assert (result["changed"], result["complete"], result["lacking"]) == (False, True, [])


def test_all_that_is_lacking_is_told(fake: Machine, run_module: t.Any, tmp_path: pathlib.Path) -> None:
    args = {"packages": ["kubeadm", "kubectl"], "held": True, "files": [{"path": str(tmp_path / "key.asc")}]}
    result = run_module(install_info.main, args)
    assert result["lacking"] == ["hold of kubeadm", "package kubectl", f"file {tmp_path}/key.asc"]
    assert (result["changed"], result["complete"]) == (False, False)
    assert result["packages"] == ["kubectl"]


def test_a_dpkg_that_was_cut_off_is_to_be_finished(
    fake: Machine, run_module: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_info.dpkg, "JOURNAL", str(tmp_path / "updates"))
    assert run_module(install_info.main, {"packages": ["kubelet"]})["complete"]
    (tmp_path / "updates").mkdir()
    (tmp_path / "updates/0003").touch()
    result = run_module(install_info.main, {"packages": ["kubelet"]})
    assert (result["complete"], result["lacking"]) == (False, ["end of what dpkg was cut off in"])


def test_a_service_that_does_not_start_at_boot(fake: Machine, run_module: t.Any) -> None:
    assert run_module(install_info.main, {"services": ["kubelet", "other"]})["lacking"] == ["start of other at boot"]
