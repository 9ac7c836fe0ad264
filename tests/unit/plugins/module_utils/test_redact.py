# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils._redact import MARK, redact

FORMS = [
    "password: {}",
    'password = "{}"',
    "  registryPassword: '{}'",
    '{{"username": "u", "password": "{}", "x": 1}}',
    "DB_PASSWORD={}",
    "export API_TOKEN={}",
    "- name: S3_SECRET_KEY\n  value: {}",
    "kubeadm join 10.0.0.10:6443 --token {} --discovery-token-ca-cert-hash sha256:00",
    "prog --password={}",
    "client-key-data: {}",
    '[plugins."x".auth]\n  auth = "{}"',
    '{{"auths": {{"reg:5000": {{"auth": "{}"}}}}}}',
    "machine deb.example.net login me password {}",
    "http_proxy=http://user:{}@10.0.0.1:3128/",
    "Authorization: Bearer {}",
    "authorization = Basic {}",
    "ansible_become_password={}",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n{}",
    "$ANSIBLE_VAULT;1.1;AES256\n  6162636465666768696a6b6c6d6e6f70{}",
]
LETTERS = string.ascii_letters + string.digits


@pytest.mark.parametrize("form", FORMS)
@given(secret=st.text(LETTERS, min_size=12, max_size=40))
def test_a_planted_secret_never_survives(form: str, secret: str) -> None:
    secret = (
        secret.lower().translate(str.maketrans("ghijklmnopqrstuvwxyz", "abcdefabcdefabcdefab"))
        if "VAULT" in form
        else secret
    )
    shown = redact(f"before\n{form.format(secret)}\nafter\n")
    assert secret not in shown.replace(MARK, "")
    assert MARK in shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "secret",
    [
        "abcdef.0123456789abcdef",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
        "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234",
        "$6$saltsalt$" + "a" * 86,
    ],
)
def test_secrets_that_show_by_themselves(secret: str) -> None:
    assert secret not in redact(f"journal: kubelet said {secret} to nobody\n")


@pytest.mark.parametrize(
    "text",
    [
        "image: registry.k8s.io/pause@sha256:" + "0" * 64,
        "kubelet 1.36.5-1.1 on gpu1 (10.0.0.20), uid 7f3b6c1e-8d2a-4c77-9a0e-1f2b3c4d5e6f",
        "volumes:\n- secret:\n    secretName: hami-scheduler-tls",
        "tokenTTL: 24h0m0s\nbootstrapTokens:\n- groups: [system:bootstrappers]",
        "  authorization:\n    mode: Webhook\n  authentication:\n    anonymous:\n      enabled: false",
        "--authorization-mode=Node,RBAC --service-account-key-file=/etc/kubernetes/pki/sa.pub",
        "certificate-authority-data: LS0tLS1CRUdJTg==",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        'config_path = "/etc/containerd/certs.d"',
        "automountServiceAccountToken: true",
        "Sep 30 10:00:00 gpu1 kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.",
    ],
)
def test_what_helps_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(LETTERS + " \n.,/()-", max_size=200))
def test_prose_without_a_name_of_a_secret_stays(text: str) -> None:
    words = ("pass", "secret", "token", "key", "credential", "bearer", "basic", "auth")
    if not any(word in text.lower() for word in words) and "." not in text:
        assert redact(text) == text
