# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Something else is at work on the machines."""

from __future__ import annotations

import pytest

HOLD = """
import fcntl, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
time.sleep(40)
"""
UNIT = "/etc/systemd/system/swap.img.swap"


@pytest.fixture(scope="module")
def run(lab, playbooks):
    """A run while cpu1 lacks a package, a program of its own name holds apt's lock, and a foreign unit swaps."""
    lab("ssh", "cpu1", "sudo dpkg --remove --force-depends socat")
    unit = r"[Swap]\nWhat=/swap.img\n[Install]\nWantedBy=swap.target\n"
    lab("ssh", "cpu1", f"printf '{unit}' | sudo tee {UNIT} && sudo systemctl daemon-reload")
    lab("ssh", "cpu1", "sudo systemctl enable swap.img.swap")
    lab("ssh", "cpu1", f"sudo cp /usr/bin/python3 /tmp/holder && sudo systemd-run --unit=hold /tmp/holder -c '{HOLD}'")
    yield playbooks.run("up")
    lab("ssh", "cpu1", "sudo systemctl stop hold; sudo rm -f /tmp/holder")


def test_preflight_names_the_holder_of_the_lock(run) -> None:
    table, _sep, _rest = run.output.partition("Compare versions")
    assert "holder (pid " in table


def test_run_waits_for_the_lock_and_installs(run, lab) -> None:
    assert run.status == 0
    assert "install ok installed" in lab("ssh", "cpu1", "dpkg -s socat")


def test_swap_unit_of_somebody_else_is_put_off(run, lab) -> None:
    assert "enabled" not in lab("ssh", "cpu1", "systemctl is-enabled swap.img.swap | cat")


def test_nothing_else_is_changed(run, addresses) -> None:
    assert {host for host, _task in run.changes} == {addresses["cpu1"]}
    assert {task.rpartition(" : ")[2] for _host, task in run.changes} == {
        "Turn swap off, now and after every reboot",
        "Install the packages",
    }
