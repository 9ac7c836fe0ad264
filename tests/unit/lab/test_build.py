# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of the lab's build: results as soon as they are there, one failure ends it all."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from nodelab import process
from nodelab.base import Mirror, find_mirror, sources
from nodelab.build import Build
from nodelab.errors import Interrupted, LabError
from nodelab.graph import Runner, Step
from nodelab.helm import reported_version
from nodelab.progress import Progress


def step(name: str, *needs: str, order: list[str] | None = None) -> Step:
    def run(done: object) -> Path:
        if order is not None:
            order.append(name)
        return Path(name)

    return Step(name, needs, run)


def test_a_step_waits_for_what_it_needs() -> None:
    order: list[str] = []
    steps = [
        step("last", "middle", "first", order=order),
        step("middle", "first", order=order),
        step("first", order=order),
    ]
    with Runner(steps) as build:
        assert build.start().wait("last") == Path("last")
    assert order == ["first", "middle", "last"]


def test_a_result_is_handed_out_while_others_are_made() -> None:
    go_on = threading.Event()

    def slow(_done: object) -> Path:
        assert go_on.wait(10)
        return Path("slow")

    with Runner([Step("slow", (), slow), step("quick")]) as build:
        assert build.start().wait("quick") == Path("quick")
        go_on.set()
        assert build.wait("slow") == Path("slow")


def test_a_failure_reaches_who_waits_and_starts_nothing_more() -> None:
    order: list[str] = []

    def fail(_done: object) -> Path:
        raise LabError("No disk.")

    steps = [Step("bad", (), fail), step("next", "bad", order=order)]
    with Runner(steps) as build, pytest.raises(LabError, match="No disk"):
        build.start().wait("next")
    assert order == []


def test_leaving_early_ends_it() -> None:
    began = threading.Event()

    def slow(_done: object) -> Path:
        began.set()
        process.run(["sleep", "60"])
        return Path("slow")

    with Runner([Step("slow", (), slow)]) as build:
        build.start()
        assert began.wait(5)
    with pytest.raises(Interrupted):
        build.wait("slow")


def test_an_unknown_node_system_is_named() -> None:
    with pytest.raises(LabError, match="no node system sarge; there are bookworm, trixie"):
        Build(["sarge"], Progress(io.StringIO()))


TARGETS = (
    "http://mirror/debian/ bookworm\nhttp://mirror/debian/ bookworm-updates\nhttp://mirror/safe/ bookworm-security\n"
)


def test_the_mirror_is_that_of_this_machine() -> None:
    assert find_mirror(TARGETS, "bookworm") == Mirror("http://mirror/debian", "http://mirror/safe")
    assert find_mirror(TARGETS, "bookworm", "http://other/debian/").main == "http://other/debian"


def test_no_mirror_is_an_error_with_a_way_out() -> None:
    with pytest.raises(LabError, match="set GSHARE_LAB_DEBIAN_MIRROR"):
        find_mirror(TARGETS, "noble")


def test_the_sources_of_a_node() -> None:
    text = sources("trixie", Mirror("http://mirror/debian", "http://mirror/safe"))
    assert "URIs: http://mirror/debian\nSuites: trixie trixie-updates\n" in text
    assert "URIs: http://mirror/safe\nSuites: trixie-security\n" in text


def test_the_version_of_helm() -> None:
    assert reported_version("v4.2.3+g43e8b7f\n") == "4.2.3"
    assert reported_version("nothing") == ""
