# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of a driver that has broken: each state on a machine of the finished cluster, then mended again."""

from __future__ import annotations

import pytest

NODE = "gpu1"


@pytest.fixture
def state(machines):
    """Set what the machine is like; it is well again afterwards."""
    changed = []

    def put(key: str, value: str) -> None:
        changed.append(key)
        machines.run(NODE, f"lab-gpu set {key} {value}")

    yield put
    for key in changed:
        machines.run(NODE, f"lab-gpu unset {key}")


@pytest.mark.parametrize(
    ("smi", "repair", "says"),
    [
        pytest.param("exit 6", "person", "ends with 6", id="no-device"),
        pytest.param("exit 9", "load", "ends with 9", id="driver-not-loaded"),
        pytest.param("exit 15", "person", "fallen off the bus", id="off-the-bus"),
        pytest.param("exit 18", "person", "Driver/library version mismatch", id="mismatch"),
        pytest.param("exit 255", "person", "ends with 255", id="internal-error"),
        pytest.param("hang", "person", "did not end within 10 s", id="hangs"),
    ],
)
def test_answers_of_nvidia_smi(state, ask, addresses, smi, repair, says) -> None:
    state("smi", smi)
    found = ask(addresses[NODE], "gshare.cluster.gpu_info", "-a", "smi_timeout=10")
    assert found["repair"] == repair
    assert says in " ".join(found["problems"])
    assert found["remedy"]


def test_run_stops_at_one_that_hangs(state, playbooks, addresses) -> None:
    state("smi", "hang")
    run = playbooks.run("up", "-e", "nvidia_driver_smi_timeout=10")
    assert run.status != 0
    assert f"{addresses[NODE]}" in run.output.partition("PLAY RECAP")[2]
    assert "nvidia-smi did not end within 10 s" in " ".join(run.output.split())


def test_secure_boot_refuses_a_module_without_signature(state, ask, machines, addresses) -> None:
    state("secure_boot", "enabled")
    before = machines.boot_id(NODE)
    machines.reboot(NODE)
    machines.wait_for_boot(NODE, before)
    found = ask(addresses[NODE], "gshare.cluster.gpu_info")
    assert (found["repair"], found["secure_boot"]) == ("person", "enabled")
    assert "is not signed, so the kernel refuses it" in found["problems"][0]
    assert "mokutil --import" in found["remedy"]


def test_machine_is_well_again(playbooks, machines) -> None:
    before = machines.boot_id(NODE)
    machines.reboot(NODE)
    machines.wait_for_boot(NODE, before)
    assert machines.works(NODE)
    assert playbooks.run("verify").status == 0
