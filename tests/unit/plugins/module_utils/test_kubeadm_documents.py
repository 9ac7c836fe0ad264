# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest
import yaml

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import ADMIN

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "kubeadm"
WISH: dict[str, t.Any] = {
    "address": "192.0.2.10",
    "port": 6443,
    "pod_cidr": "10.244.0.0/16",
    "service_cidr": "10.96.0.0/12",
    "version": "1.36.3-1.1",
}


def test_init_with_few_settings() -> None:
    assert documents.to_text(documents.init_documents(WISH)) == (FIXTURES / "init-plain.golden").read_text()


def test_init_with_all_settings() -> None:
    wish = {
        **WISH,
        "port": 8443,
        "extra_names": ["k8s.example.net", "192.0.2.10"],
        "image_repository": "mirror.example.net/k8s",
        "ignore_preflight_errors": ["SystemVerification"],
        "config": {
            "InitConfiguration": {"timeouts": {"controlPlaneComponentHealthCheck": "8m0s"}},
            "ClusterConfiguration": {"networking": {"dnsDomain": "example.local"}},
            "KubeletConfiguration": {"failCgroupV1": False, "maxPods": 200},
            "KubeProxyConfiguration": {"conntrack": {"maxPerCore": 0, "min": 0}},
        },
    }
    assert documents.to_text(documents.init_documents(wish)) == (FIXTURES / "init-all.golden").read_text()


def test_join() -> None:
    wish = {
        "address": "192.0.2.11",
        "endpoint": "192.0.2.10:6443",
        "token": "abcdef.0123456789abcdef",
        "ca_hash": "sha256:aa",
        "ignore_preflight_errors": ["SystemVerification"],
        "config": {"JoinConfiguration": {"timeouts": {"tlsBootstrap": "8m0s"}}},
    }
    text = documents.to_text(documents.join_documents(wish))
    assert text == (FIXTURES / "join.golden").read_text()
    # The name is kubelet's own business (case 68), its address the inventory's (case 69).
    (document,) = yaml.safe_load_all(text)
    assert "name" not in document["nodeRegistration"]
    assert {"name": "node-ip", "value": "192.0.2.11"} in document["nodeRegistration"]["kubeletExtraArgs"]


def test_the_text_is_yaml_with_one_document_a_kind() -> None:
    kinds = [entry["kind"] for entry in yaml.safe_load_all(documents.to_text(documents.init_documents(WISH)))]
    assert kinds == ["InitConfiguration", "ClusterConfiguration", "KubeletConfiguration", "KubeProxyConfiguration"]


def test_without_a_known_version_kubeadm_takes_its_own() -> None:
    assert "kubernetesVersion" not in documents.init_documents({**WISH, "version": ""})[1]


def test_merge_is_deep_and_replaces_lists() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert documents.merge(base, {"a": {"c": [3]}, "d": {"e": 1}}) == {"a": {"b": 1, "c": [3]}, "d": {"e": 1}}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ca.crt", "33d52318fc9bad959c05dbe006b1bd7d6baa05a305a32076a76a261230980e28"),
        ("ca-rsa.crt", "6237b5748a8bfed81645fd0377a1144774541c66a2f6a6217f739d41ae828142"),
    ],
)
def test_ca_hash_is_what_openssl_makes_of_it(name: str, expected: str) -> None:
    """openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | sha256sum"""
    assert documents.ca_cert_hash((FIXTURES / name).read_text()) == f"sha256:{expected}"


def test_a_certificate_that_is_cut_off_is_an_error() -> None:
    text = (FIXTURES / "ca.crt").read_text()
    lines = text.splitlines()
    for broken in ("", text[:200], "\n".join([lines[0], *lines[1:4], lines[-1]]), text.replace("MII", "!!!")):
        with pytest.raises(ValueError, match="certificate"):
            documents.ca_cert_hash(broken)


def test_token_secret() -> None:
    secret = documents.token_secret("abcdef.0123456789abcdef", "2026-11-30T12:00:00Z", "one run")
    assert json.loads(json.dumps(secret)) == json.loads((FIXTURES / "token.golden").read_text())


@pytest.mark.parametrize("token", ["", "abc.def", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef0"])
def test_a_token_has_one_form(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        documents.token_secret(token, "", "")


def test_kubeconfig_values() -> None:
    assert documents.kubeconfig_value(ADMIN, "server") == "https://192.0.2.10:6443"
    assert documents.kubeconfig_value('    server: "https://x:1"\n', "server") == "https://x:1"
    assert documents.kubeconfig_value(ADMIN, "token") == ""


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        (ADMIN, True),
        (ADMIN.replace("Q0VSVA==", "TkVX"), True),
        (ADMIN.replace("name: kubernetes", "name: lab"), True),
        (ADMIN + "- name: another-user\n  user: {token: x}\n", False),
        (ADMIN.replace("users:", "- cluster: {server: 'https://x:1'}\n  name: other\nusers:"), False),
        (ADMIN.replace("users:", '- {"cluster": {"certificate-authority": "/c"}, "name": "other"}\nusers:'), False),
        (ADMIN.replace("Q0E=", "T1RIRVI="), False),
        ('{"clusters": [{"name": "x", "cluster": {"certificate-authority-data": "Q0E="}}]}', False),
        ("", False),
    ],
)
def test_a_kubeconfig_for_this_cluster_and_nothing_else(text: str, alone: bool) -> None:
    assert documents.nothing_else(ADMIN, text) is alone


def test_kubeconfig_wish() -> None:
    other = ADMIN.replace("Q0E=", "T1RIRVI=").replace("Q0VSVA==", "T1RI")
    renewed = ADMIN.replace("Q0VSVA==", "TkVX")
    assert documents.kubeconfig_wish(ADMIN, "") == ADMIN
    assert documents.kubeconfig_wish(ADMIN, ADMIN) is None
    assert documents.kubeconfig_wish(ADMIN, other + ADMIN) is None
    assert documents.kubeconfig_wish(ADMIN, other) == ADMIN
    assert documents.kubeconfig_wish(renewed, ADMIN) == renewed
    assert documents.same_cluster(renewed, ADMIN)
    assert not documents.same_cluster(other, ADMIN)
    assert not documents.same_cluster("", "")
    # check mode before there is a cluster
    assert documents.kubeconfig_wish("", "") == ""
    assert documents.kubeconfig_wish("", other) is None


def test_manifest_flags() -> None:
    text = '    - kube-apiserver\n    - --advertise-address=192.0.2.10\n    - "--secure-port=8443"\n'
    assert documents.manifest_flag(text, "advertise-address") == "192.0.2.10"
    assert documents.manifest_flag(text, "secure-port") == "8443"
    assert documents.manifest_flag(text, "etcd-servers") == ""
