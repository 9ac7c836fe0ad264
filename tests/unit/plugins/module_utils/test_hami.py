# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import datetime

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._hami import Card, handshake_age, registered

A100 = "NVIDIA A100-SXM4-40GB"
FIRST = f'{{"id":"GPU-1111","count":10,"devmem":40960,"devcore":100,"type":"{A100}","mode":"hami-core","health":true}}'


def test_json_without_an_index_is_card_zero():
    cards = registered(f"[{FIRST}]")
    assert cards == [Card("GPU-1111", 0, 10, 40960, 100, A100, "hami-core", True)]


def test_json_without_health_is_an_unhealthy_card():
    text = FIRST.replace(',"health":true', "").replace('"id":"GPU-1111"', '"id":"GPU-2222","index":1')
    second = registered(f"[{FIRST},{text}]")[1]
    assert (second.id, second.index, second.health) == ("GPU-2222", 1, False)


def test_older_form():
    cards = registered(f"GPU-1111,10,40960,100,{A100},0,true:GPU-2222,10,40960,100,{A100},0,false:")
    assert cards[0] == Card("GPU-1111", 0, 10, 40960, 100, A100, "", True)
    assert (cards[1].id, cards[1].health) == ("GPU-2222", False)
    assert registered(f"GPU-3333,5,24576,100,{A100},0,true,3,hami-core:")[0].index == 3
    assert registered(f"GPU-3333,5,24576,100,{A100},0,true,3,hami-core:")[0].mode == "hami-core"


@pytest.mark.parametrize("text", ["", "  ", "[]", ":"])
def test_no_card(text):
    assert registered(text) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("GPU-1,10", "7 or 9 fields, not 2"),
        ("[1]", "no list of cards"),
        ("[{", "Expecting property name"),
        ("GPU-1,ten,1,1,x,0,true:", "invalid literal"),
    ],
)
def test_what_cannot_be_read_is_an_error(text, what):
    with pytest.raises(ValueError, match=what):
        registered(text)


NOW = datetime.datetime(2026, 11, 30, 12, 10, 0, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("Requesting_2026-11-30 12:00:00", 600.0),
        ("Requesting_2026.11.30 12:09:30", 30.0),
        ("Requesting_2026-11-30 12:10:05", 0.0),
        ("Reported_2026-11-30 12:00:00", None),
        ("Deleted_2026-11-30 12:00:00", None),
        ("Requesting_2026-13-30 12:00:00", None),
        ("", None),
    ],
)
def test_handshake_age(text, age):
    assert handshake_age(text, NOW) == age
