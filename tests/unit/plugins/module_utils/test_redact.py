# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils._redact import MARK, redact

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "redact"
LETTERS = string.ascii_letters + string.digits


def test_the_golden_text() -> None:
    shown = redact((FIXTURES / "given.txt").read_text())
    assert shown == (FIXTURES / "shown.txt").read_text()
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "secret",
    [
        "abcdef.0123456789abcdef",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
        "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234",
        "$6$saltsalt$" + "a" * 86,
        "$apr1$saltsalt$abcdefghijklmnopqrstu.",
        "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
        "nvapi-abcdefghijklmnopqrstuvwxyz0123",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlF",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUU=",
    ],
)
def test_secrets_that_show_by_themselves(secret: str) -> None:
    assert redact(f"journal: kubelet said {secret} to nobody\n") == f"journal: kubelet said {MARK} to nobody\n"
    assert redact(f"kubelet said {secret}.\n") in (f"kubelet said {MARK}.\n", f"kubelet said {MARK}\n")


@pytest.mark.parametrize(
    "form",
    [
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        '"key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----"',
        "-----BEGIN PRIVATE KEY-----\n{}",
        "Authorization: Bearer {}",
        "authorization = Basic {}",
        "curl -H 'Authorization: Bearer {}' https://example.net/",
    ],
)
@given(secret=st.text(LETTERS, min_size=12, max_size=40))
def test_a_secret_in_its_frame_never_survives(form: str, secret: str) -> None:
    assert secret not in redact(f"before\n{form.format(secret)}\n")


@pytest.mark.parametrize("join", ["\n", "\n    ", "\\n"])
def test_a_vault_goes_with_all_its_lines(join: str) -> None:
    text = join.join(["$ANSIBLE_VAULT;1.2;AES256;dev", "62313365" * 10, "6231", "after"])
    assert redact(text) == f"{MARK}{join}after"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:a@b/c@10.0.0.1:3128/", "http://REDACTED@10.0.0.1:3128/"),
        ("https://ghtoken@git.example.net/x", "https://REDACTED@git.example.net/x"),
        ("proxy = me:pw@10.0.0.1:3128", "proxy = REDACTED@10.0.0.1:3128"),
        ('Acquire::http::Proxy "http://me:pw@10.0.0.1:3128";', 'Acquire::http::Proxy "http://REDACTED@10.0.0.1:3128";'),
        ("curl --user me:pw https://x", "curl --user me:REDACTED https://x"),
        ("docker login -u me -p pw reg:5000", "docker login -u me -p REDACTED reg:5000"),
        ("machine apt.example.net login me password pw", "machine apt.example.net login me password REDACTED"),
    ],
)
def test_users_and_passwords_before_a_host(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "image: registry.k8s.io/pause@sha256:" + "0" * 64,
        "kubelet 1.36.5-1.1 on gpu1 (10.0.0.20), uid 7f3b6c1e-8d2a-4c77-9a0e-1f2b3c4d5e6f",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        'config_path = "/etc/containerd/certs.d"',
        "ssh://ubuntu@10.0.0.20:22/ http://[2001:db8::1]:80/a@b http://10.0.0.1:80/a:b@c",
        "docker-pullable://registry:5000/team/web@sha256:00 podman run --user 1000:1000 -u 0:0",
        "no_proxy=10.0.0.0/8,.cluster.local,localhost",
        "Sep 30 10:00:00 gpu1 kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.",
        "coredns-7d764666f9-abcde.18a3f2b4c5d6e7f8 Normal Scheduled",
    ],
)
def test_what_helps_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(LETTERS + " \n.,/()-", max_size=200))
def test_prose_without_a_name_of_a_secret_stays(text: str) -> None:
    words = ("pass", "secret", "token", "key", "credential", "bearer", "basic", "auth", "pwd", "psk", "eyj", "login")
    if not any(word in text.lower() for word in words) and "." not in text:
        assert redact(text) == text


@pytest.mark.parametrize("part", ["-", "a-", "password ", "token=[", 'auth="', "proxy=a:", "value: x ", "login ", "\\"])
def test_a_long_text_takes_no_long_time(part: str) -> None:
    began = time.process_time()
    redact(part * (40_000 // len(part)))
    assert time.process_time() - began < 10
