# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.tests.unit.plugins.verify_fakes import bad
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


def test_the_controller_takes_up_no_ingress(gpus, tried):
    gpus.answers = dict.fromkeys(["cp", "gpu-1", "gpu-2"], (404, "404 page not found"))
    result = tried()
    assert "port 30080 on every node answers 404 and does not serve" in told(result, "ingress")
    gpus.ingress_refused = "admission webhook denied the request: no"
    assert "a probe Ingress of class nginx could not be made: admission webhook denied" in told(tried(), "ingress")
