# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the pages say about the code must be so."""

from __future__ import annotations

import configparser
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "docs/cluster-info.md"])
def test_users_of_the_installed_collection_are_told_how_to_enable_the_inventory(name: str) -> None:
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "ansible.cfg", encoding="utf-8")
    line = f"enable_plugins = {config['inventory']['enable_plugins']}"
    assert re.search(rf"^\[inventory\]\n{re.escape(line)}$", page(name), flags=re.MULTILINE)


def test_the_lab_has_no_secret_switches() -> None:
    used = {
        found
        for path in (ROOT / "tests/lab/nodelab").glob("*.py")
        for found in re.findall(r"_VARIABLE = \"(\w+)\"", path.read_text(encoding="utf-8"))
    }
    assert used == set(re.findall(r"^\| `(GSHARE_LAB_\w+)`", page("docs/lab.md"), flags=re.MULTILINE))
