# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes whose owner has installed NVIDIA's driver before anybody runs a playbook: `gpu+driver`."""

from __future__ import annotations

import subprocess
import time
import typing as t
from pathlib import Path

from nodelab import interrupts, process, versions
from nodelab.errors import LabError
from nodelab.nodes import Node, wait_for_ssh

_REPOSITORY = "https://developer.download.nvidia.com/compute/cuda/repos/debian{number}/x86_64"
# As NVIDIA's guide for Debian tells people to do it.
_INSTALL = """
set -e
export DEBIAN_FRONTEND=noninteractive
cd /tmp
curl -fsSO {repository}/cuda-keyring_1.1-1_all.deb
dpkg -i cuda-keyring_1.1-1_all.deb
apt-get -q update
apt-get -qy install --no-install-recommends "linux-headers-$(uname -r)" nvidia-driver-cuda nvidia-kernel-open-dkms
"""


def has(node: Node) -> bool:
    """Say whether the node is one of them."""
    return "driver" in node.config["features"]


def install(nodes: t.Sequence[Node], key: Path, say: t.Callable[[str], None]) -> None:
    """Install the driver where it is missing, reboot these nodes together, and wait until nvidia-smi works on each."""
    lacking = [node for node in nodes if has(node) and not _works(node, key)]
    for node in lacking:
        say(f"{node.name} gets NVIDIA's driver")
        number = versions.SUITES[node.config["suite"]]
        script = _INSTALL.format(repository=_REPOSITORY.format(number=number))
        process.run([*node.ssh(key, "sudo", "sh"), "-s"], stdin=script.encode())
    before = {node.name: _boot_id(node, key) for node in lacking}
    for node in lacking:
        # The connection ends with the machine.
        subprocess.run(node.ssh(key, "sudo", "systemctl", "reboot"), check=False, capture_output=True)
    for node in lacking:
        _wait(node, key, before[node.name])


def _boot_id(node: Node, key: Path) -> str:
    return _ask(node, key, "cat", "/proc/sys/kernel/random/boot_id")


def _works(node: Node, key: Path) -> bool:
    return bool(_ask(node, key, "nvidia-smi", "-L"))


def _ask(node: Node, key: Path, *command: str) -> str:
    """Return what a command prints, nothing if it fails or the node cannot be reached."""
    done = subprocess.run(
        node.ssh(key, *command), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _wait(node: Node, key: Path, before: str, timeout: float = 120.0) -> None:
    end = time.monotonic() + timeout
    while True:
        interrupts.check()
        if _boot_id(node, key) not in ("", before):
            break
        if time.monotonic() > end:
            raise LabError(f"{node.name} did not reboot within {timeout:.0f} s; see {node.console}.")
        time.sleep(1)
    wait_for_ssh([node], key)
    if not _works(node, key):
        raise LabError(f"nvidia-smi does not work on {node.name} after its reboot; try `lab ssh {node.name}`.")
