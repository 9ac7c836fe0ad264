# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.registries import FilterModule
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_settings import mistakes
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import CAPABILITIES

registries = FilterModule().filters()["registries"]
PEM = "-----BEGIN CERTIFICATE-----\n"


@pytest.fixture
def pem(tmp_path: Path) -> str:
    file = tmp_path / "ca.pem"
    file.write_text(PEM)
    return str(file)


def test_nothing_set_is_no_registry() -> None:
    assert registries({}) == []
    assert registries(None, "", "", False, "") == []


def test_the_registry_on_the_lan_and_its_mirror() -> None:
    assert registries({}, "192.0.2.40:5000", "192.0.2.40:5001") == [
        {
            "name": "192.0.2.40:5000",
            "plain_http": True,
            "endpoints": [{"url": "http://192.0.2.40:5000", "capabilities": list(CAPABILITIES)}],
        },
        {"name": "docker.io", "plain_http": False, "endpoints": [{"url": "http://192.0.2.40:5001"}]},
    ]


def test_one_variable_moves_both_to_tls(pem: str) -> None:
    plain = registries({}, "192.0.2.40:5000", "192.0.2.40:5001", False, pem)
    assert "ca" not in str(plain).replace("capabilities", "")
    lan, hub = registries({}, "192.0.2.40:5000", "192.0.2.40:5001", "true", pem)
    assert (lan["plain_http"], lan["endpoints"][0]["url"]) == (False, "https://192.0.2.40:5000")
    assert (lan["endpoints"][0]["ca"], hub["endpoints"][0]["ca"]) == (PEM, PEM)


def test_mirrors_in_their_order_after_that_of_the_lan(pem: str) -> None:
    mirrors = {
        "docker.io": ["https://a.example.net", {"url": "https://b.example.net/v2/hub", "ca_file": pem}],
        "quay.io": [{"url": "https://b.example.net/v2/quay", "username": "robot", "password": "sesame"}],
    }
    hub, quay = registries(mirrors, "", "192.0.2.40:5001")
    assert [endpoint["url"] for endpoint in hub["endpoints"]] == [
        "http://192.0.2.40:5001",
        "https://a.example.net",
        "https://b.example.net/v2/hub",
    ]
    assert hub["endpoints"][2]["ca"] == PEM
    assert quay["endpoints"] == [
        {"url": "https://b.example.net/v2/quay", "username": "robot", "password": "sesame"},
    ]


@pytest.mark.parametrize(
    ("mirrors", "said"),
    [
        ("quay.io", "gshare_registry_mirrors is no dictionary; write it as {quay.io: ['https://mirror.example.net']}."),
        ({"quay.io": "https://a"}, "gshare_registry_mirrors, quay.io: write a list of endpoints"),
        ({"quay.io": []}, "gshare_registry_mirrors, quay.io: write a list of endpoints"),
        ({"quay.io": [5]}, "gshare_registry_mirrors, quay.io, endpoint 1: write an address"),
        ({"quay.io": [{"ca_file": "/x"}]}, "or a dictionary with url."),
        (
            {"quay.io": [{"url": "https://a", "ca": "x"}]},
            "there is no key ca; there are url, username, ",
        ),
        (
            {"quay.io": [{"url": "https://a", "username": "u", "password": 1234567}]},
            "password is no text; put it",
        ),
        ({"quay.io": [{"url": "https://a", "ca_file": "ca.pem"}]}, "write {{ inventory_dir }}/ca.pem or the like."),
        (
            {"quay.io": [{"url": "https://a", "ca_file": "/no/ca.pem"}]},
            "cannot be read on the controller (No such",
        ),
        ({"quay.io": [{"url": "https://a", "ca_file": __file__.replace("test_", "no_")}]}, "cannot be read"),
        ({"quay.io": ["a.example.net"]}, "Registry quay.io: endpoint 'a.example.net' has no scheme"),
        ({"https://quay.io": ["https://a"]}, "Registry 'https://quay.io' is not named as images name it"),
    ],
    ids=str,
)
def test_mistakes(mirrors: t.Any, said: str) -> None:
    found = mistakes(mirrors=mirrors)
    assert said in " ".join(found)
    assert "1234567" not in str(found)
    with pytest.raises(AnsibleFilterError) as caught:
        registries(mirrors)
    assert said in str(caught.value)


@pytest.mark.parametrize("address", ["http://192.0.2.40:5000", "192.0.2.40:5000/", ["192.0.2.40:5000"]])
def test_addresses_are_no_more_than_that(address: t.Any) -> None:
    for variable, found in (
        ("gshare_local_registry", mistakes(address)),
        ("gshare_local_registry_mirror", mistakes("", address)),
    ):
        assert len(found) == 1
        assert found[0].startswith(f"{variable} is ")
        assert found[0].endswith("gshare_registry_tls chooses between http and https.")


def test_a_file_that_is_not_pem(tmp_path: Path) -> None:
    file = tmp_path / "ca.der"
    file.write_bytes(b"\x30\x82\xff")
    assert "cannot be read on the controller (not a text)" in mistakes("r:5000", tls=True, ca_file=str(file))[0]
    file.write_text("plain")
    assert "is no PEM file" in mistakes("r:5000", tls=True, ca_file=str(file))[0]


def test_neither_yes_nor_no() -> None:
    assert mistakes("r.example.net", tls="maybe") == ["gshare_registry_tls is 'maybe'; write true or false."]


def test_all_at_once() -> None:
    found = mistakes("http://a", "b/c", {"quay.io": ["x", {"url": 5}], "registry": ["https://y"]})
    assert len(found) == 5
