# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodelab.errors import LabError
from nodelab.spec import KINDS, NodeSpec, check_lab_name, missing, parse, sort_key


def test_kinds_counts_and_systems() -> None:
    assert parse("control, gpu:2,cpu:1@trixie") == [
        NodeSpec("control", 1, "bookworm"),
        NodeSpec("gpu", 1, "bookworm"),
        NodeSpec("gpu", 2, "bookworm"),
        NodeSpec("cpu", 1, "trixie"),
    ]


def test_a_kind_that_comes_twice_goes_on_counting() -> None:
    assert [(node.name, node.suite) for node in parse("cpu:2,control,cpu@trixie")] == [
        ("cpu1", "bookworm"),
        ("cpu2", "bookworm"),
        ("control1", "bookworm"),
        ("cpu3", "trixie"),
    ]


def test_features_stand_behind_the_count() -> None:
    nodes = parse("control,gpu,gpu:2+exclusive@trixie")
    assert [(node.name, node.suite, sorted(node.features)) for node in nodes] == [
        ("control1", "bookworm", []),
        ("gpu1", "bookworm", []),
        ("gpu2", "trixie", ["exclusive"]),
        ("gpu3", "trixie", ["exclusive"]),
    ]


def test_the_first_control_node_has_address_ten() -> None:
    assert [node.host for node in parse("control,gpu:2,cpu")] == [10, 21, 22, 61]


def test_no_two_nodes_can_share_an_address() -> None:
    used = [kind.first + index for kind in KINDS.values() for index in range(kind.most)]
    assert len(used) == len(set(used))
    assert min(used) > 1
    assert max(used) < 255


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "--nodes is empty"),
        (" , ", "--nodes is empty"),
        ("worker:2", "there is no kind 'worker'; the kinds are control, gpu, cpu, storage"),
        ("gpu:two", "'gpu:two' is not KIND[:COUNT][+FEATURE][@SUITE]"),
        ("gpu+shiny", "a gpu node cannot be 'shiny'; it can be driver, exclusive"),
        ("cpu+exclusive", "a cpu node cannot be 'exclusive'; it can be plain only"),
        ("gpu:0", "asks for no node"),
        ("gpu@sid", "there is no system 'sid'"),
        ("storage", "storage nodes are not there yet"),
        ("control:2", "at most 1 control node"),
        ("cpu:20,cpu:20", "at most 39 cpu node"),
    ],
)
def test_mistakes_say_what_to_write(text: str, says: str) -> None:
    with pytest.raises(LabError) as caught:
        parse(text)
    assert says in str(caught.value)


@given(st.lists(st.sampled_from(["gpu", "cpu", "gpu:2", "cpu:3@trixie"]), min_size=1, max_size=5))
def test_names_are_unique_and_in_order(parts: list[str]) -> None:
    names = [node.name for node in parse(",".join(parts))]
    assert len(names) == len(set(names))
    for kind in ("gpu", "cpu"):
        numbers = [int(name.removeprefix(kind)) for name in names if name.startswith(kind)]
        assert numbers == list(range(1, len(numbers) + 1))


def test_only_what_is_absent_is_added() -> None:
    wanted = parse("control,cpu:2@trixie")
    assert [node.name for node in missing(wanted, {"control1": "bookworm", "cpu1": "trixie"})] == ["cpu2"]


def test_a_node_cannot_change_its_system() -> None:
    with pytest.raises(LabError, match="cpu1 is there already with bookworm, not trixie"):
        missing(parse("cpu@trixie"), {"cpu1": "bookworm"})


def test_nodes_are_listed_control_first_and_by_number() -> None:
    assert sorted(["cpu1", "gpu10", "gpu2", "control1"], key=sort_key) == ["control1", "gpu2", "gpu10", "cpu1"]


@pytest.mark.parametrize("name", ["lab", "a", "faults-2"])
def test_names_of_labs(name: str) -> None:
    assert check_lab_name(name) == name


@pytest.mark.parametrize("name", ["", "Lab", "2nd", "a_b", "../x", "a" * 21])
def test_what_cannot_name_a_lab(name: str) -> None:
    with pytest.raises(LabError, match="cannot name a lab"):
        check_lab_name(name)
