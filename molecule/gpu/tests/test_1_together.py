# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Four bare GPU workers become a cluster in one run, and reboot at the same time on the way."""

from __future__ import annotations

import re

import pytest

from .conftest import WORKERS


@pytest.fixture(scope="module")
def before(machines) -> dict[str, str]:
    return {node: machines.boot_id(node) for node in WORKERS}


@pytest.fixture(scope="module")
def first(playbooks, before):
    # Verbose, for the results of the tasks.
    return playbooks.run("up", "-v", "--forks", "5")


def test_the_run_succeeds(first) -> None:
    assert first.status == 0


def test_each_machine_tells_its_way(first, addresses) -> None:
    for node in WORKERS:
        lines = re.findall(rf"^{re.escape(addresses[node])}: (.*)$", first.output, flags=re.MULTILINE)
        # One that is back within a few seconds may not have been seen while it was down.
        assert [line for line in lines if line != "down"] == ["asked to reboot", "back", "driver works"]


def test_each_has_rebooted_once_and_its_driver_works(first, machines, before) -> None:
    for node in WORKERS:
        assert machines.boot_id(node) != before[node]
        assert machines.works(node)


def test_they_were_waited_for_together(first) -> None:
    """All were asked before the first was back, and all together took no longer than the slowest and half of that."""
    asked = [float(value) for value in re.findall(r"^    asked_at: ([1-9][0-9.]+)$", first.output, flags=re.MULTILINE)]
    took = [int(value) for value in re.findall(r"^    seconds: ([1-9][0-9]*)$", first.output, flags=re.MULTILINE)]
    assert (len(asked), len(took)) == (4, 4)
    assert max(asked) < min(asked) + min(took)
    assert max(asked) + max(took) - min(asked) <= 1.5 * max(took)


@pytest.fixture(scope="module")
def second(playbooks, machines, first):
    state = {node: (machines.boot_id(node), machines.containerd(node)) for node in ("control1", *WORKERS)}
    return playbooks.run("up"), state


def test_second_run_changes_nothing(second) -> None:
    run, _state = second
    assert run.status == 0
    assert run.changes == set()
    assert run.changed == {}


def test_second_run_reboots_and_restarts_nothing(second, machines) -> None:
    _run, state = second
    assert {node: (machines.boot_id(node), machines.containerd(node)) for node in state} == state
