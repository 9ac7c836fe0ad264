# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._image_push import (
    PushError,
    account_file,
    docker_config,
    docker_reason,
    loaded,
)

AUTH = {"auth": "bGFiOnNlY3JldA=="}


def test_the_account_joins_those_of_the_user() -> None:
    own = json.dumps({"auths": {"ghcr.io": {"auth": "x"}}})
    assert json.loads(account_file("r:5000", "lab", "secret")) == {"auths": {"r:5000": AUTH}}
    assert json.loads(account_file("r:5000", "lab", "secret", own)) == {
        "auths": {"ghcr.io": {"auth": "x"}, "r:5000": AUTH}
    }


@pytest.mark.parametrize("own", [{"credsStore": "pass"}, {"credHelpers": {"r:5000": "pass"}}])
def test_no_helper_is_asked_about_the_registry(own: dict[str, object]) -> None:
    assert json.loads(account_file("r:5000", "lab", "secret", json.dumps(own)))["credHelpers"] == {"r:5000": ""}


def entry(architecture: str, config: str, kind: str = "OCIManifest") -> dict[str, object]:
    platform = {"os": "linux", "architecture": architecture}
    return {"Descriptor": {"platform": platform}, kind: {"config": {"digest": config}}}


def test_what_docker_tells_of_an_image() -> None:
    both = [entry("arm64", "sha256:a"), entry("amd64", "sha256:b")]
    assert docker_config(json.dumps(both).encode()) == "sha256:b"
    assert docker_config(json.dumps(entry("", "sha256:c", "SchemaV2Manifest")).encode()) == "sha256:c"
    with pytest.raises(PushError, match="no image for linux/amd64"):
        docker_config(json.dumps([*both[:1], *both[:1]]).encode())


def test_what_docker_has_loaded() -> None:
    assert loaded("Loaded image: team/train:3\n") == "team/train:3"
    assert loaded("Loaded image ID: sha256:ab\n") == "sha256:ab"
    with pytest.raises(PushError, match="names no image: nothing"):
        loaded("nothing")


def test_what_docker_needs_itself() -> None:
    told = docker_reason('Get "https://r:5000/v2/": http: server gave HTTP response to HTTPS client')
    assert '"insecure-registries" of /etc/docker/daemon.json' in told
    assert "/etc/docker/certs.d/REGISTRY/ca.crt" in docker_reason("tls: x509: unknown authority")
    assert docker_reason("denied") == "denied"
