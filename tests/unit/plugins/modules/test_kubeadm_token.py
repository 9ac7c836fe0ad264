# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import datetime
import json
import pathlib
import re
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import kubeadm_token
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import CA_HASH, Machine, make


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    result = make(tmp_path, monkeypatch)
    result.program("kubectl", 'cat > "$ROOT/stdin"')
    return result


def test_a_token_lives_for_a_quarter_of_an_hour(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    result = run_module(kubeadm_token.main, {})
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", result["token"])
    assert result["ca_hash"] == CA_HASH
    assert result["endpoint"] == "192.0.2.10:6443"
    secret = json.loads((fake.root / "stdin").read_text())
    data = secret["stringData"]
    assert f"{data['token-id']}.{data['token-secret']}" == result["token"]
    expires = datetime.datetime.fromisoformat(data["expiration"].replace("Z", "+00:00"))
    left = expires - datetime.datetime.now(datetime.UTC)
    assert 13 * 60 < left.total_seconds() <= 15 * 60
    # Neither the list of processes nor the list of commands shows it.
    assert data["token-secret"] not in "".join(fake.runs())
    assert data["token-secret"] not in "".join(result["commands"])


def test_two_calls_make_two_tokens(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    assert run_module(kubeadm_token.main, {})["token"] != run_module(kubeadm_token.main, {})["token"]


def test_check_mode(fake: Machine, run_module: t.Any) -> None:
    result = run_module(kubeadm_token.main, {}, check=True)
    assert result == {**result, "changed": True, "token": "", "ca_hash": "", "endpoint": ""}
    fake.control_plane()
    assert run_module(kubeadm_token.main, {}, check=True)["ca_hash"] == CA_HASH
    assert fake.runs("kubectl") == []


def test_without_a_cluster_there_is_nothing_to_delete(fake: Machine, run_module: t.Any) -> None:
    assert not run_module(kubeadm_token.main, {"state": "absent"}, check=True)["changed"]
    assert fake.runs("kubectl") == []


def test_delete(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    fake.program("kubectl", "echo secret/bootstrap-token-abcdef")
    result = run_module(kubeadm_token.main, {"state": "absent", "token_id": "abcdef"})
    assert result["changed"]
    assert "delete secret -n kube-system bootstrap-token-abcdef --ignore-not-found" in fake.runs("kubectl")[0]
    fake.program("kubectl")
    assert not run_module(kubeadm_token.main, {"state": "absent", "token_id": "abcdef"})["changed"]


def test_all_that_runs_have_left(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    run_module(kubeadm_token.main, {})
    assert json.loads((fake.root / "stdin").read_text())["metadata"]["labels"] == {"gshare.io/token": "join"}
    fake.program("kubectl", "echo No resources found")
    assert not run_module(kubeadm_token.main, {"state": "absent"})["changed"]
    assert "delete secret -n kube-system --selector gshare.io/token --ignore-not-found" in fake.runs("kubectl")[-1]


def test_the_apis_words_are_in_the_error(fake: Machine, run_module: t.Any) -> None:
    fake.control_plane()
    fake.program("kubectl", 'echo "error: You must be logged in to the server" >&2; exit 1')
    result = run_module(kubeadm_token.main, {})
    assert result["failed"]
    assert "must be logged in" in result["msg"]
