# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Something else is at work on the machines."""

from __future__ import annotations

import time

import pytest

HOLD = """
import fcntl, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
time.sleep(25)
"""
UNIT = "/etc/systemd/system/swap.img.swap"


@pytest.fixture
def held_lock(lab):
    """The package manager's lock on gpu1 is held for a while, by a program of its own name."""
    lab("ssh", "gpu1", f"sudo cp /usr/bin/python3 /tmp/holder && sudo systemd-run --unit=hold /tmp/holder -c '{HOLD}'")
    time.sleep(1)
    yield
    lab("ssh", "gpu1", "sudo systemctl stop hold; sudo rm -f /tmp/holder")


def test_preflight_names_the_holder_of_the_apt_lock(playbooks, held_lock) -> None:
    found = playbooks.run("preflight")
    assert "holder" in found.output


def test_run_waits_for_the_apt_lock(playbooks, held_lock) -> None:
    assert playbooks.run("up").status == 0


def test_swap_unit_of_somebody_else_is_put_off(playbooks, lab) -> None:
    unit = r"[Swap]\nWhat=/swap.img\n[Install]\nWantedBy=swap.target\n"
    lab("ssh", "gpu1", f"printf '{unit}' | sudo tee {UNIT} && sudo systemctl daemon-reload")
    lab("ssh", "gpu1", "sudo systemctl enable swap.img.swap")
    assert playbooks.run("up").status == 0
    assert "enabled" not in lab("ssh", "gpu1", "systemctl is-enabled swap.img.swap | cat")
    assert playbooks.run("up", "--check").changed == {}
