# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A registry that asks who one is: the machines and verify have the account, others get nothing."""

from __future__ import annotations

import json

import pytest

# What `htpasswd -nbB lab lab-secret` writes.
USERS = "lab:$2y$05$gshareclusterlabsalt.u/WwZo8oUN08OX7vRIZUZY3uXADngsjC\n"


@pytest.fixture(scope="module")
def served(playbooks, tmp_path_factory):
    file = tmp_path_factory.mktemp("users") / "htpasswd"
    file.write_text(USERS, encoding="utf-8")
    users = {"registry_htpasswd_file": str(file)}
    account = {"gshare_registry_username": "lab", "gshare_registry_password": "lab-secret"}
    run = playbooks.run("registry", "--diff", "-e", json.dumps({**users, **account}))
    return run, ["-e", json.dumps({**users, **account})]


def test_who_has_the_account_pulls_and_pushes(served, playbooks, registry) -> None:
    run, settings = served
    assert run.status == 0
    assert playbooks.run("registry", *settings).changed == {}
    verified = playbooks.run("verify", *settings)
    assert verified.status == 0
    assert f"an image pushed to {registry} was pulled by 3 nodes" in " ".join(verified.output.split())


def test_others_get_nothing(served, playbooks) -> None:
    said = " ".join(playbooks.run("verify").output.split())
    assert "lets nobody push without an account: POST /v2/gshare-verify/probe/blobs/uploads/: 401 Unauthorized" in said


def test_the_password_is_in_no_output_and_for_root_alone(served, machines, registry) -> None:
    assert "lab-secret" not in served[0].output
    assert "bGFiOmxhYi1zZWNyZXQ=" not in served[0].output  # the same as the header has it
    assert machines.run("gpu1", f"stat -c %a /etc/containerd/certs.d/{registry}/hosts.toml").strip() == "600"
    assert "lab-secret" not in machines.run("gpu1", "journalctl --boot --no-pager")
