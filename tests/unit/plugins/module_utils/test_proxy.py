# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils import _proxy

VALUE = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http_proxy=http://a:1\n", {"HTTP_PROXY": "http://a:1"}),
        ('  export Https_Proxy="http://a:1"\r\n', {"HTTPS_PROXY": "http://a:1"}),
        ("no_proxy='a,b' # those\n", {"NO_PROXY": "a,b"}),
        ("http_proxy=small\nHTTP_PROXY=LARGE\nHTTP_PROXYS=x\nPATH=/bin\n", {"HTTP_PROXY": "LARGE"}),
        ("HTTP_PROXY=\nhttp_proxy=small\n", {"HTTP_PROXY": "small"}),
        ("#http_proxy=http://a:1\nhttp_proxy\nhttps_proxy=''\n", {}),
        ("http_proxy=http://\udcff\n", {"HTTP_PROXY": "http://?"}),
    ],
)
def test_proxies_of_etc_environment(text: str, found: dict[str, str]) -> None:
    assert _proxy.of_environment(text) == found


def test_proxies_of_a_process() -> None:
    environ = "PATH=/bin\0https_proxy=http://a:1=\0GSHARE_PROXY=HTTP_PROXY\0HTTP_PROXY=b\0"
    assert _proxy.of_process(environ) == {
        "https_proxy": "http://a:1=",
        "GSHARE_PROXY": "HTTP_PROXY",
        "HTTP_PROXY": "b",
    }


def test_drop_in() -> None:
    text = _proxy.drop_in({"HTTPS_PROXY": 'http://u%20s:p"\\ w@a:1', "NO_PROXY": "a,b"})
    assert text.splitlines()[1:] == [
        "[Service]",
        'Environment="HTTPS_PROXY=http://u%%20s:p\\"\\\\ w@a:1"',
        'Environment="NO_PROXY=a,b"',
        'Environment="GSHARE_PROXY=HTTPS_PROXY NO_PROXY"',
    ]


@given(VALUE, VALUE)
def test_a_drop_in_gives_what_went_into_it(proxy: str, excluded: str) -> None:
    values = {"HTTP_PROXY": proxy, "NO_PROXY": excluded}
    given = _proxy.assigned(_proxy.drop_in(values))
    assert given == {**values, "GSHARE_PROXY": "HTTP_PROXY NO_PROXY"}
    assert not _proxy.differs(given, given)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("[Service]\nEnvironment=HTTP_PROXY=http://a:1\n", True),
        ("[Service]\nEnvironment=A=1 \"https_proxy=http://a:1\" 'B=2'\n", True),
        ("[Service]\nEnvironment=A=1 \\\n  NO_PROXY=a\n", True),
        ("[Service]\n Environment = \n", True),
        ("[Service]\nUnsetEnvironment=NO_PROXY\n", True),
        ('[Service]\nEnvironment="HTTP_PROXY=a\n', False),  # systemd ignores the line
        ("[Service]\nEnvironmentFile=-/etc/default/proxy\n", True),
        ("[Service]\nEnvironmentFile=/etc/default/other\nEnvironmentFile=\n", False),
        ("[Service]\n#Environment=HTTP_PROXY=a\n; Environment=HTTP_PROXY=a\n", False),
        ("[Service]\nEnvironment=A=HTTP_PROXY\nExecStartPre=/bin/true HTTP_PROXY=a\n", False),
        ("", False),
    ],
)
def test_who_says_which_proxy_a_service_has(text: str, claims: bool) -> None:
    files = {"/etc/default/proxy": "http_proxy=http://a:1\n", "/etc/default/other": "PATH=/bin\n"}
    assert _proxy.claims(text, lambda path: files.get(path, "")) is claims


@pytest.mark.parametrize(
    ("running", "wanted", "differs"),
    [
        ({}, {"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"}, True),
        ({"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"}, {"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"}, False),
        ({"HTTP_PROXY": "b", "GSHARE_PROXY": "HTTP_PROXY"}, {"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"}, True),
        (
            {"HTTP_PROXY": "a", "NO_PROXY": "b", "GSHARE_PROXY": "HTTP_PROXY NO_PROXY"},
            {"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"},
            True,
        ),
        ({"HTTP_PROXY": "a", "GSHARE_PROXY": "HTTP_PROXY"}, {}, True),
        ({"HTTP_PROXY": "a"}, {}, False),
        (None, {"HTTP_PROXY": "a"}, False),
    ],
)
def test_differs(running: dict[str, str] | None, wanted: dict[str, str], differs: bool) -> None:
    assert _proxy.differs(running, wanted) is differs


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a:1", "http://a:1"),
        ("http://u@a:1", "http://u@a:1"),
        ("http://u:secret@a:1", "http://u:********@a:1"),
        ("u:secret@a:1", "u:********@a:1"),
        ('http://u:secret"@:secret/@[::1]:1', "http://u:********@[::1]:1"),
        ("http://u:%73ecret@a", "http://u:********@a"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert _proxy.hide(url) == shown
    hidden = _proxy.hide(_proxy.drop_in({"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "::1,a"}))
    assert hidden.count(f"_PROXY={shown}") == 2
    assert "secret" not in hidden
    assert "NO_PROXY=::1,a" in hidden
