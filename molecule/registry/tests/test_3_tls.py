# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From HTTP to HTTPS with one variable and users who have to say who they are, and back."""

from __future__ import annotations

import json
import subprocess

import pytest

from .conftest import NODES


@pytest.fixture(scope="module")
def settings(addresses, tmp_path_factory) -> list[str]:
    """What is set once: certificate, authority and users. Nothing of it counts before gshare_registry_tls is true."""
    folder = tmp_path_factory.mktemp("tls")
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    names = ["-addext", f"subjectAltName=IP:{addresses['cpu1']}"]
    subprocess.run([*openssl, *files, *names], check=True, capture_output=True)
    values = {
        "gshare_registry_ca_file": str(folder / "certificate.pem"),
        "registry_certificate_file": str(folder / "certificate.pem"),
        "registry_key_file": str(folder / "key.pem"),
    }
    return ["-e", json.dumps(values)]


@pytest.fixture(scope="module")
def moved(playbooks, machines, settings):
    before = {node: machines.containerd(node) for node in NODES}
    return playbooks.run("registry", *settings, "-e", '{"gshare_registry_tls": true}'), before


def test_one_variable_moves_it_to_tls(moved, playbooks, machines, settings, registry) -> None:
    run, before = moved
    assert run.status == 0
    tls = [*settings, "-e", '{"gshare_registry_tls": true}']
    assert playbooks.run("registry", *tls).changed == {}
    said = " ".join(playbooks.run("verify", *tls).output.split())
    assert f"an image pushed to {registry} was pulled by 3 nodes" in said
    assert {node: machines.containerd(node) for node in NODES} == before
    assert f'server = "https://{registry}"' in machines.run(
        "gpu1", f"cat /etc/containerd/certs.d/{registry}/hosts.toml"
    )


def test_no_key_is_shown(moved) -> None:
    assert "PRIVATE KEY" not in moved[0].output


def test_and_back(moved, playbooks, machines, settings, registry) -> None:
    assert playbooks.run("registry", *settings).status == 0
    assert playbooks.run("verify", *settings).status == 0
    assert machines.run("gpu1", f"ls /etc/containerd/certs.d/{registry}").split() == ["hosts.toml"]
