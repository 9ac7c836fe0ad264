# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_ingress
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import bad, not_ready
from ansible_collections.gshare.cluster.tests.unit.plugins.verify_gpu_fakes import told


def test_one_node_does_not_answer(gpus, tried):
    gpus.answers["gpu-2"] = "timed out"
    result = tried()
    assert bad(result) == {"ingress"}
    assert "port 30080 does not answer on gpu-2: timed out -> Let 30080/tcp pass" in told(result, "ingress")
    gpus.services[0]["spec"]["externalTrafficPolicy"] = "Local"
    assert tried()["by_name"]["ingress"]["status"] == "warning"


def test_nothing_answers(gpus, tried):
    gpus.answers = dict.fromkeys(["cp", "gpu-1", "gpu-2"], "connection refused")
    assert "does not answer on any node: connection refused" in told(tried(), "ingress")
    gpus.services = []
    assert "no Service in namespace ingress-nginx has NodePort 30080" in told(tried(), "ingress")


def test_a_controller_that_has_just_started_is_asked_again(gpus, tried, monkeypatch):
    gpus.ingress_refused = "failed calling webhook: connection refused"
    monkeypatch.setattr(_verify_ingress.time, "sleep", lambda _seconds: setattr(gpus, "ingress_refused", ""))
    assert tried()["by_name"]["ingress"]["status"] == "ok"


def test_the_controller_takes_up_no_ingress(gpus, tried):
    gpus.answers = dict.fromkeys(["cp", "gpu-1", "gpu-2"], (404, "404 page not found"))
    result = tried()
    assert "port 30080 on every node answers 404 and does not serve" in told(result, "ingress")
    gpus.ingress_refused = "admission webhook denied the request: no"
    assert "a probe Ingress of class nginx could not be made: admission webhook denied" in told(tried(), "ingress")


def test_a_controller_on_no_node_is_no_warning(gpus, tried):
    gpus.services[0]["spec"]["externalTrafficPolicy"] = "Local"
    gpus.answers = dict.fromkeys(["cp", "gpu-1", "gpu-2"], "connection refused")
    result = tried()
    assert result["by_name"]["ingress"]["status"] == "failed"
    assert "does not answer on any node: connection refused" in told(result, "ingress")


def test_nodes_that_are_not_ready_are_not_asked(gpus, tried):
    not_ready(gpus.worker("gpu-2"))
    gpus.answers["gpu-2"] = "timed out"
    assert bad(tried()) == {"nodes"}


def test_a_controller_that_takes_up_the_ingress_a_little_later(gpus, tried):
    answers = {"gpu-1": [(404, "404 page not found"), (503, ""), (200, "gpu-1\n")]}
    http = gpus.http

    def later(address, port, host):
        left = answers.get("gpu-1") if address == "192.0.2.11" else None
        return left.pop(0) if left else http(address, port, host)

    gpus.http = later
    assert bad(tried()) == set()
    assert answers == {"gpu-1": []}


def test_an_ingress_that_is_refused_at_first_is_made_again(gpus, tried):
    create, refusals = gpus.create, iter(["the webhook is not up yet"])

    def refuse_once(path, body):
        gpus.ingress_refused = next(refusals, "") if body["kind"] == "Ingress" else ""
        return create(path, body)

    gpus.create = refuse_once
    assert bad(tried()) == set()
