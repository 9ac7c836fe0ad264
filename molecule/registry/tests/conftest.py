# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab of its own, with cpu1 as the machine that serves the registry. The tests go on from each other."""

from __future__ import annotations

import json
import shutil
import typing as t

import pytest

from ...conftest import Machines, Playbooks, own_lab

NODES = ("control1", "gpu1", "cpu1")


class RegistryMachines(Machines):
    """What containerd has on them, and the objects of the registry."""

    def registry(self, arguments: str) -> t.Any:
        """kubectl in its namespace."""
        return self.kubectl("-n", "gshare-registry", *arguments.split())

    def crictl(self, node: str, arguments: str) -> str:
        """What crictl prints, without what it warns of."""
        return self.run(
            node, f"crictl --runtime-endpoint unix:///run/containerd/containerd.sock {arguments} 2>/dev/null"
        )

    def containers(self, node: str) -> dict[str, str]:
        """Since when each container runs that did so before, by its id."""
        listed = self.crictl(node, "ps -o json")
        return {entry["id"]: entry["createdAt"] for entry in json.loads(listed)["containers"]}

    def schema(self, node: str) -> int:
        text = self.run(node, "containerd config dump")
        return int(next(line for line in text.splitlines() if line.startswith("version")).partition("=")[2])


@pytest.fixture(scope="session")
def lab():
    # Debian 13 has containerd 1.7 and the old form of its configuration.
    with own_lab("molecule-registry", "control,gpu:1,cpu:1@trixie") as own:
        yield own


@pytest.fixture(scope="session")
def machines(lab) -> RegistryMachines:
    return RegistryMachines(lab)


@pytest.fixture(scope="session")
def registry(addresses) -> str:
    return f"{addresses['cpu1']}:5000"


@pytest.fixture(scope="session")
def playbooks(lab, addresses, tmp_path_factory) -> Playbooks:
    """The lab's inventory, with a registry and a mirror."""
    folder = tmp_path_factory.mktemp("inventory")
    shutil.copytree(lab.inventory.parent, folder, dirs_exist_ok=True)
    pair = folder / "cluster-info"
    served = addresses["cpu1"]
    more = f"LOCAL_REGISTRY={served}:5000\nLOCAL_REGISTRY_MIRROR={served}:5001\n"
    pair.write_text(pair.read_text(encoding="utf-8") + more, encoding="utf-8")
    return Playbooks(pair)
