# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An image of one's own goes to the registry and from there to every node, before a pod asks for it."""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import tarfile

import pytest

from .conftest import NODES


def write_archive(path: pathlib.Path) -> None:
    """An image as `docker save` writes it, with one file."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("hello"), io.BytesIO())
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": ["team/train:3"], "Layers": ["layer.tar"]}]
    parts = {
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
        "layer.tar": layer.getvalue(),
    }
    with tarfile.open(path, "w") as tar:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


@pytest.fixture(scope="module")
def command(playbooks, registry, tmp_path_factory) -> list[str]:
    # The registry has no users any more.
    assert playbooks.run("registry").status == 0
    path = tmp_path_factory.mktemp("images") / "train.tar"
    write_archive(path)
    wish = {"images": [str(path)], "prepull": [f"{registry}/team/train:3"], "nodes": "kube_cluster"}
    return ["push_images", "-e", json.dumps(wish)]


def test_it_goes_to_the_registry_and_to_every_node(command, playbooks, machines, registry) -> None:
    run = playbooks.run(*command)
    assert run.status == 0
    for node in NODES:
        assert f"{registry}/team/train" in machines.crictl(node, "images")


def test_again_nothing_is_pushed_or_pulled(command, playbooks) -> None:
    again = playbooks.run(*command)
    assert (again.status, again.changed) == (0, {})


def test_an_image_that_is_not_there_is_told_for_each_node(playbooks, registry, addresses) -> None:
    wish = json.dumps({"prepull": [f"{registry}/team/none:1"], "nodes": "kube_cluster"})
    run = playbooks.run("push_images", "-e", wish)
    assert run.status != 0
    assert "not found" in run.output
    # A batch of two of which nobody can pull ends the run.
    assert run.recap[addresses["control1"]]["failed"] == 1
