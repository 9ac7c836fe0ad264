# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact
from ansible_collections.gshare.cluster.plugins.module_utils._redact_names import MARK, is_secret, redact_named

# No quote, backslash or brace that opens: what these mean differs from form to form, and has tests of its own.
SIGNS = ",;:}[]()<>@#%&*!?=+-_.~^|/$"
# How a value may stand, by what it may hold: anything up to the end of its line, or no blank.
LINES = [
    "password: {}",
    "  registryPassword: '{}'",
    '    password = "{}"',
    "DB_PASSWORD={}",
    "export API_TOKEN={}",
    "- token: {}",
    "# secret: {}",
    "ansible_become_pass={}",
    "password: |\n  {}\n",
    "password: >-\n  one\n\n  {}\n",
    "password: one\n  {}",
    'password = """\n{}\n"""',
    "- name: S3_SECRET_KEY\n  value: {}",
    "- name: S3_SECRET_KEY\n  value: |-\n    {}",
    "- value: '{}'\n  name: S3_SECRET_KEY",
    'name = "S3_SECRET_KEY"\nvalue = "{}"',
    '{{"username": "u", "password": "{}", "x": 1}}',
    '{{"name":"DB_PASSWORD","value":"{}"}}',
    '{{"value":"{}","name":"DB_PASSWORD"}}',
    'msg="{{\\"password\\":\\"{}\\",\\"x\\":1}}"',
    '{{"auths": {{"reg:5000": {{"auth": "{}"}}}}}}',
    'x-token = ["{}"]',
    "passwords:\n- one\n- {}",
    '"--password", "{}"',
    "- --password\n- 'one {}'",
    'Environment="REGISTRY_PASSWORD={}" "LEVEL=debug"',
    "2026-12-01T10:00:00+0000 gpu1 app[77]: DB_PASSWORD={}",
]
WORDS = [
    "kubeadm join 10.0.0.10:6443 --token a{} --discovery-token-ca-cert-hash sha256:00",
    "kubeadm join --certificate-key=a{} x",
    "prog --password=a{} x",
    "time=10:00 msg=x token=a{} code=401",
    "10.0.0.20 ansible_user=u ansible_ssh_pass=a{} ansible_port=22",
    "secret:\n    a{}z",
    "the Token: a{} was refused",
]


@pytest.mark.parametrize("form", LINES + WORDS)
@given(first=st.text(SIGNS, max_size=3), inner=st.text(SIGNS, max_size=3), last=st.text(SIGNS, max_size=3))
def test_a_planted_secret_never_survives(form: str, first: str, inner: str, last: str) -> None:
    blank = " " if form in LINES else ""
    shown = redact(f"before\n{form.format(f'{first}hunter{inner}{blank}horse{last}')}\nafter\n")
    assert "hunter" not in shown
    assert "horse" not in shown
    assert shown.startswith("before\n")
    assert shown.endswith("after\n")
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD='it'\\''s hunter'",
        'PASSWORD="say \\"hunter\\" twice"',
        "password: 'it''s hunter'",
        'password: "one\n  hunter"',
        '{"password": "a\\"hunter", "x": 1}',
        '"{\\"password\\": \\"a\\\\\\"hunter\\"}"',
        'password: "hunter',
        "password:hunter",
        "password => hunter",
        "password += hunter",
        "password: true hunter",
        "DB_PASSWORD={hunter=1}",
        "password: hunter\r\n",
        '"password": 123hunter,',
    ],
)
def test_quotes_and_what_is_like_nothing(text: str) -> None:
    assert "hunter" not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "volumes:\n- secret:\n    secretName: hami-scheduler-tls",
        '{"secret":{"secretName":"hami-scheduler-tls"}}',
        "imagePullSecrets:\n- name: pull",
        "secretKeyRef: {name: web, key: token}",
        "tokenTTL: 24h0m0s\nbootstrapTokens:\n- groups: [system:bootstrappers]",
        "  authorization:\n    mode: Webhook\n  authentication:\n    anonymous:\n      enabled: false",
        "--authorization-mode=Node,RBAC --service-account-key-file=/etc/kubernetes/pki/sa.pub",
        "kube-apiserver --enable-bootstrap-token-auth=true --authentication-token-webhook-cache-ttl=2m",
        "--discovery-token-ca-cert-hash sha256:00",
        "automountServiceAccountToken: true",
        'password = ""\ntoken: null\nauth: {}\ntokens: []',
        "certificate-authority-data: LS0tLS1CRUdJTg==\nclient-certificate-data: LS0tLS1CRUdJTg==",
        "image: registry:5000/team/token-server:1.4 and secret-operator:v2.0",
        'MountVolume.SetUp failed for volume "registry-token" : secret "pull" not found',
        "failed to find the secret, the token and the password",
        "PWD=/root",
        "bypass: hunter",
    ],
)
def test_what_helps_stays(text: str) -> None:
    assert redact_named(text) == text


def test_what_follows_a_value_stays() -> None:
    assert redact_named('{"token":"a","level":1,"auth":"b","x":[2]}') == (
        f'{{"token":{MARK},"level":1,"auth":{MARK},"x":[2]}}'
    )
    assert redact_named("secret: |\n  a\n\n  b\nlevel: 1\n") == f"secret: {MARK}\nlevel: 1\n"
    assert redact_named("tokens:\n- a\n- b\nlevel: 1\n") == f"tokens: {MARK}\nlevel: 1\n"


@pytest.mark.parametrize(
    "name", ["ansible_ssh_pass", "DB_PWD", "client-key-data", "_auth", "dbPass", ".dockerconfigjson"]
)
def test_secret_names(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["secretName", "token_file", "PASSWORD_FILE", "authority", "author", "tokenURL"])
def test_harmless_names(name: str) -> None:
    assert not is_secret(name)
