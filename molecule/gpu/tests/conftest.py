# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab of its own: four GPU workers, two of each mode, all bare at first. The tests go on from each other."""

from __future__ import annotations

import json
import subprocess
import typing as t

import pytest

from ...conftest import Machines, Playbooks, own_lab

WORKERS = ("gpu1", "gpu2", "gpu3", "gpu4")
PURGE = (
    "apt-get -qy purge --allow-change-held-packages 'nvidia-driver*' 'nvidia-kernel*' 'libnvidia-ml*' 'libcuda1*' "
    "'nvidia-persistenced*' 'firmware-nvidia*' && rm -f /etc/apt/preferences.d/gshare-nvidia"
)


class GpuMachines(Machines):
    """GPU workers, whose driver comes and goes."""

    def works(self, node: str) -> bool:
        return "A100" in self.run(node, "if nvidia-smi -L; then :; fi")

    def bare(self, *nodes: str) -> None:
        """Take the driver away again; the machines stay in the cluster."""
        for node in nodes:
            self.run(node, PURGE)
        before = {node: self.boot_id(node) for node in nodes}
        for node in nodes:
            self.reboot(node)
        for node in nodes:
            self.wait_for_boot(node, before[node])
            assert not self.works(node)

    def reboot(self, node: str) -> None:
        # The connection ends with the machine.
        self.run(node, "systemd-run --quiet --on-active=1 systemctl reboot")


@pytest.fixture(scope="session")
def lab():
    with own_lab("molecule-gpu", "control,gpu:2,gpu:2+exclusive") as own:
        yield own


@pytest.fixture(scope="session")
def machines(lab) -> GpuMachines:
    return GpuMachines(lab)


@pytest.fixture(scope="session")
def playbooks(lab) -> Playbooks:
    return Playbooks(lab.inventory)


@pytest.fixture(scope="session")
def ask(playbooks):
    """The result of one module on one host."""

    def run(host: str, module: str, *arguments: str) -> dict[str, t.Any]:
        command = [playbooks.program("ansible"), host, "-i", str(playbooks.inventory), "-b", "-m", module, *arguments]
        environment = playbooks.environment | {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
        done = subprocess.run(command, cwd=playbooks.root, env=environment, check=False, capture_output=True, text=True)
        text = done.stdout
        return json.loads(text[text.index("{") : text.rindex("}") + 1])

    return run
