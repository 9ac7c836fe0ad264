# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the registry keeps its files: a folder of its machine, or a volume; and what is taken out of it."""

from __future__ import annotations

import json

import pytest

FOLDER = "/var/lib/gshare-registry/registry/docker/registry/v2/blobs"


@pytest.fixture(scope="module", autouse=True)
def served(playbooks):
    assert playbooks.run("registry").status == 0


def test_garbage_collection_takes_what_has_no_tag_any_more(machines) -> None:
    # verify pushed images and took them away again.
    before = int(machines.run("cpu1", f"find {FOLDER} -type f | wc -l"))
    machines.registry("create job --from=cronjob/registry-garbage-collection once")
    machines.registry("wait --for=condition=complete job/once --timeout=120s")
    assert int(machines.run("cpu1", f"find {FOLDER} -type f | wc -l")) < before
    machines.registry("delete job once")


def test_on_a_volume(playbooks, machines) -> None:
    settings = ["-e", json.dumps({"registry_storage_class": "local-path", "registry_size": "1Gi"})]
    assert playbooks.run("registry", *settings).status == 0
    assert playbooks.run("registry", *settings).changed == {}
    assert playbooks.run("verify").status == 0
    claim = machines.registry("get pvc registry -o json")
    assert claim["status"]["phase"] == "Bound"
    assert claim["spec"]["resources"]["requests"]["storage"] == "1Gi"
