# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils import _no_proxy


@pytest.mark.parametrize(
    ("entry", "wanted", "covered"),
    [
        ("*", "192.0.2.10", True),
        ("192.0.2.10", "192.0.2.10", True),
        ("192.0.2.0/24", "192.0.2.10", True),
        ("192.0.2.11", "192.0.2.10", False),
        ("10.0.0.0/8", "10.244.0.0/16", True),
        ("10.244.0.0/24", "10.244.0.0/16", False),
        ("2001:db8::/32", "2001:db8::1", True),
        ("2001:db8::/32", "192.0.2.10", False),
        (".example.net", "api.example.net", True),
        ("example.net", "api.example.net", True),
        (".example.net", "example.net", False),
        ("xample.net", "example.net", False),
        ("svc", ".svc", True),
        (".svc", ".svc", True),
        (".local", ".cluster.local", True),
        ("192.0.2", "192.0.2.10", False),
    ],
)
def test_what_an_entry_covers(entry: str, wanted: str, covered: bool) -> None:
    assert _no_proxy.missing(entry, [wanted]) == ([] if covered else [wanted])


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("registry.example.net:5000", "registry.example.net"),
        ("192.0.2.5:5000", "192.0.2.5"),
        ("[2001:db8::5]:5001", "2001:db8::5"),
        ("[2001:db8::5]", "2001:db8::5"),
        ("2001:db8::5", "2001:db8::5"),
        ("fd00::/108", "fd00::/108"),
        (".svc", ".svc"),
        ("", ""),
    ],
)
def test_host(entry: str, host: str) -> None:
    assert _no_proxy.host(entry) == host


def test_case_77() -> None:
    wanted = ["192.0.2.10", "10.244.0.0/16", "10.96.0.0/12", ".svc"]
    assert _no_proxy.missing("localhost,127.0.0.1,.example.net", wanted) == wanted
    assert (
        _no_proxy.complete("localhost, 127.0.0.1,", ["127.0.0.1", "10.96.0.0/12"]) == "localhost,127.0.0.1,10.96.0.0/12"
    )


@given(st.text("abc./:,0123456789*[] "), st.lists(st.sampled_from(["192.0.2.10", "10.96.0.0/12", ".svc", "a.b"])))
def test_a_completed_list_lacks_nothing(present: str, wanted: list[str]) -> None:
    whole = _no_proxy.complete(present, wanted)
    assert _no_proxy.missing(whole, wanted) == []
    assert _no_proxy.complete(whole, wanted) == whole
