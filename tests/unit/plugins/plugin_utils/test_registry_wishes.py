# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every mistake in what is asked for, with its remedy."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import (
    RegistriesRefused,
    canonical,
    wanted,
)

PEM = "-----BEGIN X-----\n"


def mistake(endpoint: str | dict[str, t.Any], version: str | None = None) -> str:
    one = {"url": endpoint} if isinstance(endpoint, str) else {"url": "https://m.example.net", **endpoint}
    with pytest.raises(RegistriesRefused) as caught:
        wanted([{"name": "quay.io", "endpoints": [one]}], version)
    assert len(caught.value.mistakes) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("mirror.example.net", "has no scheme; write http://mirror.example.net or https://mirror.example.net."),
        ("ftp://mirror.example.net", "is not an address; write http://HOST:PORT"),
        ("https://mirror.example.net:99999", "is not an address"),
        ("https://mirror.example.net/v2/a?b", "is not an address"),
        ("https://u:secret@mirror.example.net", "put it into username and password"),
        ("https://harbor.example.net/hub", "write https://harbor.example.net/v2/hub, or what the registry's manual"),
        ({"url": "http://m.example.net", "ca": PEM}, "has a certificate, but speaks plain HTTP"),
        ({"ca": "/etc/ca.pem"}, "ca is not PEM text"),
        ({"client_certificate": PEM}, "client_certificate and client_key go together"),
        ({"client_key": PEM}, "client_certificate and client_key go together"),
        ({"username": "u"}, "username and password go together"),
        ({"password": "secret"}, "username and password go together"),
        ({"username": "u:v", "password": "secret"}, "cannot hold a colon"),
        ({"capabilities": ["pull", "fly"]}, "no capability is called fly; there are pull, resolve, push."),
    ],
    ids=str,
)
def test_mistakes_of_an_endpoint(endpoint: str | dict[str, t.Any], said: str) -> None:
    message = mistake(endpoint)
    assert said in message
    assert message.startswith("Registry quay.io: ")
    assert "secret" not in message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("https://quay.io", "write HOST or HOST:PORT, without http:// and path."),
        ("quay.io/team", "without http:// and path."),
        ("..", "without http:// and path."),
        ("registry-1.docker.io", "write docker.io."),
        ("index.docker.io", "write docker.io."),
        ("registry", "a folder of Docker Hub; write it with its domain or port."),
    ],
)
def test_mistakes_of_a_name(name: str, said: str) -> None:
    with pytest.raises(RegistriesRefused, match="Registry") as caught:
        wanted([{"name": name, "endpoints": [{"url": "https://m.example.net"}]}])
    assert caught.value.mistakes == [str(caught.value)]
    assert said in str(caught.value)


def test_all_mistakes_come_at_once() -> None:
    asked = [
        {"name": "quay.io", "endpoints": [{"url": "a"}, {"url": "https://b/c"}]},
        {"name": "quay.io"},
        {"name": "_default"},
    ]
    with pytest.raises(RegistriesRefused) as caught:
        wanted(asked)
    assert [text.partition(";")[0] for text in caught.value.mistakes] == [
        "Registry quay.io is named more than once",
        "Registry quay.io: endpoint 'a' has no scheme",
        "Registry quay.io: endpoint https://b/c has a path without /v2, which containerd asks for as it is",
        "Registry _default has no endpoints",
    ]


@pytest.mark.parametrize("version", ["1.6.20", "1.7.24~ds1"])
def test_containerd_1_cannot_read_ipv6(version: str) -> None:
    assert f"containerd {version} cannot read an IPv6 address there" in mistake("http://[2001:db8::1]:5000", version)
    with pytest.raises(RegistriesRefused, match="IPv6"):
        wanted([{"name": "[2001:db8::1]:5000"}], version)


@pytest.mark.parametrize("version", ["2.0.0", "2.3.7", "10.0.0", None])
def test_later_ones_can(version: str | None) -> None:
    (registry,) = wanted([{"name": "[2001:db8::1]:5000", "plain_http": True}], version)
    assert registry.endpoints[0].url == "http://[2001:db8::1]:5000"


def test_names_that_are_right() -> None:
    names = ["docker.io", "localhost", "localhost:5000", "192.0.2.1", "registry.example.net:5000", "[2001:db8::1]"]
    assert [registry.name for registry in wanted({"name": name} for name in names)] == names


def test_an_address_has_one_spelling() -> None:
    assert canonical("HTTPS://M.example.net:443/v2/") == "https://m.example.net"
    assert canonical("http://m:8080//x///v2/") == "http://m:8080/x/v2"
    assert canonical("not one") == "not one"
