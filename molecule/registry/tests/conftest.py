# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab of its own, with cpu1 as the machine that serves the registry. The tests go on from each other."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import shutil
import typing as t

import pytest

NODES = ("control1", "gpu1", "cpu1")


class Machines:
    """What the tests do on the machines, beside running playbooks."""

    def __init__(self, lab: t.Any) -> None:
        self.lab = lab

    def run(self, node: str, command: str) -> str:
        """A command as root; what it prints."""
        return self.lab("ssh", node, f"sudo sh -c {shlex.quote(command)}")

    def kubectl(self, arguments: str) -> t.Any:
        """The answer of kubectl, parsed where it is JSON."""
        text = self.run("control1", f"KUBECONFIG=/etc/kubernetes/admin.conf kubectl {arguments}")
        return json.loads(text) if text.startswith("{") else text

    def containerd(self, node: str) -> str:
        """What tells one start of containerd from another."""
        return self.run(node, "systemctl show --value --property InvocationID containerd").strip()

    def containers(self, node: str) -> dict[str, str]:
        """Since when each container runs that did so before, by its id."""
        # Without what it warns of.
        listed = self.run(
            node, "crictl --runtime-endpoint unix:///run/containerd/containerd.sock ps -o json 2>/dev/null"
        )
        return {entry["id"]: entry["createdAt"] for entry in json.loads(listed)["containers"]}

    def schema(self, node: str) -> int:
        text = self.run(node, "containerd config dump")
        return int(next(line for line in text.splitlines() if line.startswith("version")).partition("=")[2])


@pytest.fixture(scope="session")
def lab(lab):
    own = type(lab)("molecule-registry")
    own("down")
    # Debian 13 has containerd 1.7 and the old form of its configuration.
    own("up", "--nodes", "control,gpu:1,cpu:1@trixie")
    yield own
    own("down")


@pytest.fixture(scope="session")
def addresses(lab) -> dict[str, str]:
    return dict(re.findall(r"^([a-z]+\d+) +(\d\S+) ", lab("status"), flags=re.MULTILINE))


@pytest.fixture(scope="session")
def machines(lab) -> Machines:
    return Machines(lab)


@pytest.fixture(scope="session")
def registry(addresses) -> str:
    return f"{addresses['cpu1']}:5000"


@pytest.fixture(scope="session")
def playbooks(playbooks, lab, addresses, tmp_path_factory):
    """The lab's inventory, with a registry and a mirror."""
    folder = tmp_path_factory.mktemp("inventory")
    path = re.search(r"^inventory: (.*)$", lab("status"), flags=re.MULTILINE).group(1)
    shutil.copytree(pathlib.Path(path).parent, folder, dirs_exist_ok=True)
    pair = folder / "cluster-info"
    served = addresses["cpu1"]
    more = f"LOCAL_REGISTRY={served}:5000\nLOCAL_REGISTRY_MIRROR={served}:5001\n"
    pair.write_text(pair.read_text(encoding="utf-8") + more, encoding="utf-8")
    return type(playbooks)(pair)
