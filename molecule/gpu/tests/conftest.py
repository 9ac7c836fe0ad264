# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab of its own: four GPU workers, two of each mode, all bare at first. The tests go on from each other."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import time
import typing as t

import pytest

WORKERS = ("gpu1", "gpu2", "gpu3", "gpu4")
PURGE = (
    "apt-get -qy purge --allow-change-held-packages 'nvidia-driver*' 'nvidia-kernel*' 'libnvidia-ml*' 'libcuda1*' "
    "'nvidia-persistenced*' 'firmware-nvidia*' && rm -f /etc/apt/preferences.d/gshare-nvidia"
)


class Machines:
    """What the tests do on the machines of the lab, beside running playbooks."""

    def __init__(self, lab: t.Any, addresses: t.Mapping[str, str]) -> None:
        self.lab = lab
        self.addresses = addresses

    def run(self, node: str, command: str) -> str:
        """A command as root; what it prints."""
        return self.lab("ssh", node, f"sudo sh -c {quote(command)}")

    def kubectl(self, *arguments: str) -> t.Any:
        """The answer of kubectl, parsed where it is JSON."""
        text = self.run("control1", "KUBECONFIG=/etc/kubernetes/admin.conf kubectl " + " ".join(map(quote, arguments)))
        return json.loads(text) if text.startswith("{") else text

    def boot_id(self, node: str) -> str:
        return self.run(node, "cat /proc/sys/kernel/random/boot_id").strip()

    def containerd(self, node: str) -> str:
        """What tells one start of containerd from another."""
        return self.run(node, "systemctl show --value --property InvocationID containerd").strip()

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

    def wait_for_boot(self, node: str, before: str, limit: float = 120) -> None:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            time.sleep(2)
            try:
                if self.boot_id(node) != before:
                    return
            except AssertionError:  # it is on its way
                continue
        raise AssertionError(f"{node} did not boot within {limit} s")


def quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="session")
def lab(lab):
    own = type(lab)("molecule-gpu")
    own("down")
    own("up", "--nodes", "control,gpu:2,gpu:2+exclusive")
    yield own
    own("down")


@pytest.fixture(scope="session")
def addresses(lab) -> dict[str, str]:
    return dict(re.findall(r"^([a-z]+\d+) +(\d\S+) ", lab("status"), flags=re.MULTILINE))


@pytest.fixture(scope="session")
def machines(lab, addresses) -> Machines:
    return Machines(lab, addresses)


@pytest.fixture(scope="session")
def playbooks(playbooks, lab):
    path = re.search(r"^inventory: (.*)$", lab("status"), flags=re.MULTILINE).group(1)
    return type(playbooks)(pathlib.Path(path))


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
