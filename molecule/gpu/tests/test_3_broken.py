# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One worker whose module never loads, and one that never comes back from its reboot."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def broken(machines, playbooks, lab):
    """A run with gpu2 that is to be finished, gpu3 whose module does not load, gpu4 that stays off."""
    machines.bare("gpu2", "gpu3", "gpu4")
    machines.run("gpu3", "lab-gpu set module 'RmInitAdapter failed!'")
    # For this machine a reboot is the end.
    machines.run("gpu4", "ln -sf /lib/systemd/system/poweroff.target /etc/systemd/system/reboot.target")
    run = playbooks.run("up", "-e", "gshare_reboot_wait_tries=9", "-e", "nvidia_driver_start_timeout=15")
    yield run
    machines.run("gpu3", "lab-gpu unset module")
    lab("start", "gpu4")
    machines.run("gpu4", "rm -f /etc/systemd/system/reboot.target && systemctl daemon-reload")


def test_run_stops(broken) -> None:
    assert broken.status != 0
    assert "PLAY [Bring up the control plane]" not in broken.output


def test_other_machine_is_finished(broken, addresses, machines) -> None:
    assert f"{addresses['gpu2']}: driver works" in broken.output
    assert machines.works("gpu2")
    assert broken.recap[addresses["gpu2"]]["failed"] == 0


def test_messages_name_phase_and_remedy(broken, addresses) -> None:
    end = broken.output.partition("PLAY RECAP")[2]
    assert addresses["gpu3"] in end
    assert addresses["gpu4"] in end
    said = " ".join(broken.output.split())
    assert "RmInitAdapter failed!" in said  # the line of the kernel's log that explains it
    assert "The machine went down and did not come back" in said
    assert "REBOOT_WAIT_TRIES" in said


def test_run_after_the_repair_completes(broken, playbooks, machines, lab) -> None:
    machines.run("gpu3", "lab-gpu unset module")
    lab("start", "gpu4")
    machines.run("gpu4", "rm -f /etc/systemd/system/reboot.target && systemctl daemon-reload")
    # The module that did not load is loaded again when the machine starts.
    before = machines.boot_id("gpu3")
    machines.reboot("gpu3")
    machines.wait_for_boot("gpu3", before)
    assert playbooks.run("up").status == 0
    assert all(machines.works(node) for node in ("gpu2", "gpu3", "gpu4"))
