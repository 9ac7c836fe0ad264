# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What verify does about storage, and that nothing of it stays."""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_run
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError
from ansible_collections.gshare.cluster.plugins.modules import verify
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import (
    bad,
    moment,
)


def test_claim_not_bound_says_why(cluster, checked):
    cluster.claim_works = False
    cluster.claim_events = [
        'failed to create volume: pods "helper-pod" is forbidden: violates PodSecurity "restricted:latest"'
    ]
    result = checked(timeout=5)
    assert bad(result) == {"storage_claim"}
    assert "not bound: failed to create volume" in result["by_name"]["storage_claim"]["detail"]


def test_claim_not_writable(cluster, checked):
    cluster.claim_status = {
        "phase": "Failed",
        "containerStatuses": [
            {"name": "probe", "state": {"terminated": {"exitCode": 1, "message": "Read-only file system"}}}
        ],
    }
    assert "bound, but not written: Read-only file system" in checked()["by_name"]["storage_claim"]["detail"]


def test_volume_that_stays(cluster, checked):
    cluster.volume_stays = True
    assert "volume pvc-1 was not removed" in checked()["by_name"]["storage_claim"]["detail"]


def test_no_default_class(cluster, checked):
    cluster.classes = [{"metadata": {"name": "slow"}}]
    result = checked()
    assert bad(result) == {"storage_class", "storage_claim"}
    assert result["by_name"]["storage_claim"]["status"] == "skipped"
    assert "(there are: slow)" in result["by_name"]["storage_class"]["detail"]


def test_two_default_classes(cluster, checked):
    cluster.classes = cluster.classes * 1 + [
        {"metadata": {"name": "nfs", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    ]
    assert "2 classes are the default one: local-path, nfs" in checked()["by_name"]["storage_class"]["detail"]


def test_namespace_that_stays_is_a_warning(cluster, checked):
    cluster.namespace_stays = True
    found = checked()["by_name"]["cleanup"]
    assert found["status"] == "warning"
    assert "gshare-verify-" in found["detail"]


def test_young_service_account_is_waited_for(cluster, checked):
    cluster.service_account_after = 3
    assert bad(checked()) == set()


def test_cleans_up_after_an_error(cluster, checked, monkeypatch):
    def broken(*args: t.Any, **more: t.Any) -> t.Any:
        raise ApiError(500, "etcdserver: request timed out")

    monkeypatch.setattr(_verify_run.Prober, "_wait_for_probes", broken)
    result = checked()
    assert result["by_name"]["traffic"]["status"] == "failed"
    assert "etcdserver: request timed out" in result["by_name"]["traffic"]["detail"]
    assert cluster.namespaces == {}


def test_leftovers_of_a_killed_run_go(cluster, checked):
    here = verify.identity(1).split()
    meta = {"creationTimestamp": moment(60), "labels": {}}
    cluster.namespaces = {
        "gshare-verify-dead": {
            "metadata": {
                **meta,
                "name": "gshare-verify-dead",
                "annotations": {"gshare.io/verify-run": f"{here[0]} 999999999 1"},
            }
        },
        "gshare-verify-live": {
            "metadata": {**meta, "name": "gshare-verify-live", "annotations": {"gshare.io/verify-run": " ".join(here)}}
        },
        "gshare-verify-other": {
            "metadata": {
                **meta,
                "name": "gshare-verify-other",
                "annotations": {"gshare.io/verify-run": "another-boot 5 1"},
            }
        },
        "gshare-verify-old": {
            "metadata": {
                **meta,
                "name": "gshare-verify-old",
                "creationTimestamp": moment(7200),
                "annotations": {"gshare.io/verify-run": "another-boot 5 1"},
            }
        },
    }
    checked()
    assert set(cluster.namespaces) == {"gshare-verify-live", "gshare-verify-other"}
