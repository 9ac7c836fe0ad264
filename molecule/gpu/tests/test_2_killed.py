# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that is killed around the reboot is finished by the next, which finds out from the machines what is pending."""

from __future__ import annotations

import pytest

NODES = ("gpu3", "gpu4")


@pytest.fixture(scope="module", autouse=True)
def bare_again(machines) -> None:
    machines.bare(*NODES)


def test_killed_between_installation_and_reboot(playbooks, machines) -> None:
    before = {node: machines.boot_id(node) for node in NODES}
    assert playbooks.kill("up", "gshare.cluster.nvidia_driver : Look at cards and driver again", after=0)
    assert {node: machines.boot_id(node) for node in NODES} == before
    assert not any(machines.works(node) for node in NODES)


def test_pending_reboot_is_known_from_the_machine(ask, addresses) -> None:
    found = ask(addresses["gpu3"], "gshare.cluster.gpu_info")
    assert found["repair"] == "reboot"
    assert "not rebooted since" in found["problems"][0]


def test_killed_while_waiting(playbooks) -> None:
    assert playbooks.kill("up", "gshare.cluster.nvidia_driver : Wait until their driver works", after=1)


def test_next_run_completes(playbooks, machines) -> None:
    again = playbooks.run("up")
    assert again.status == 0
    assert all(machines.works(node) for node in NODES)
    # What the run before had not come to may change; nothing of it is a reboot.
    assert "asked to reboot" not in again.output
