# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import re

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_model as model

ROOT = next(folder for folder in pathlib.Path(__file__).absolute().parents if (folder / "galaxy.yml").exists())


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c", "d"], "a, b, c and d"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_lists_as_people_say_them(names, text):
    assert model.listed(names) == text


def test_ranges():
    assert [str(network) for network in model.networks("10.244.0.0/16, 2001:db8::/64,x")] == [
        "10.244.0.0/16",
        "2001:db8::/64",
    ]


def test_a_finding_takes_what_its_name_means():
    found = model.finding("cgroup_v1", ["a", "b"], "x")
    assert (found.severity, found.hosts, found.remedy) == ("error", ("a", "b"), model.KINDS["cgroup_v1"].remedy)
    assert model.finding("cgroup_v1", "a", "x", "y").remedy == "y"


def test_texts_are_sentences():
    for name, kind in model.KINDS.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert kind.what.endswith("."), name
        assert kind.remedy.endswith((".", ";")), name


def test_the_documentation_has_every_finding():
    text = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", text, re.M)
    wanted = [
        (name, kind.severity + ("" if kind.acceptable else ", always"), kind.what, kind.remedy)
        for name, kind in model.KINDS.items()
    ]
    assert rows == wanted
