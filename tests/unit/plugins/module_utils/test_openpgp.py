# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _openpgp as openpgp

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "openpgp"
FINGERPRINT = "765ADC19C10FF1830DAD5C764C20DB508C9CAF10"


@pytest.mark.parametrize("name", ["key.asc", "key.gpg"])
def test_fingerprint_armoured_or_not(name: str) -> None:
    data = (FIXTURES / name).read_bytes()
    assert openpgp.fingerprints(data) == [FINGERPRINT]
    assert openpgp.fingerprints(data.replace(b"\n", b"\r\n") if name.endswith("asc") else data) == [FINGERPRINT]


def test_several_keys_in_one_file() -> None:
    data = (FIXTURES / "key.asc").read_bytes()
    assert openpgp.fingerprints(data + b"\n" + data) == [FINGERPRINT] * 2


@pytest.mark.parametrize("data", [b"", b"<html>", b"\xff\xff\xff\xff\xff\xff", b"\x99\x01", b"\x98\x05abc"])
def test_what_is_no_key(data: bytes) -> None:
    assert openpgp.fingerprints(data) == []


def test_a_broken_block_is_no_key() -> None:
    data = (FIXTURES / "key.asc").read_bytes()
    assert openpgp.fingerprints(data[: len(data) // 2]) == []


def test_fingerprints_as_people_write_them() -> None:
    assert openpgp.normal("eb69 3b30:35") == "EB693B3035"
