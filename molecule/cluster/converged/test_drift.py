# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Something on the machines was changed by hand: check mode shows exactly that, and a run puts it right.

The run takes the same cluster as an ordinary YAML inventory, so this also shows that both forms give the same run.
"""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml


@pytest.fixture(scope="module")
def drift(lab, playbooks):
    """Change one thing on each machine, and return what check mode says of it."""
    lab("ssh", "gpu1", "sudo sed -i 's/ip_forward *= *1/ip_forward = 0/' /etc/sysctl.d/*.conf")
    lab("ssh", "control1", "kubectl label node cpu1 gshare.io/node-type-")
    lab("ssh", "cpu1", "sudo sed -i 's/SystemdCgroup = true/SystemdCgroup = false/' /etc/containerd/config.toml")
    return playbooks.run("up", "--check", "--diff")


def test_is_shown_and_nothing_else(drift, addresses) -> None:
    assert drift.status == 0
    roles = {(host, task.split(" : ")[0].rpartition(".")[2]) for host, task in drift.changes}
    assert roles == {
        (addresses["gpu1"], "node"),
        (addresses["control1"], "node_labels"),
        (addresses["cpu1"], "containerd"),
    }


@pytest.mark.parametrize("text", ["ip_forward", "gshare.io/node-type", "SystemdCgroup = true"])
def test_has_a_readable_diff(drift, text) -> None:
    assert any(text in line for line in drift.output.splitlines() if line.lstrip().startswith("+"))


@pytest.fixture
def yaml_inventory(tmp_path, playbooks):
    """The same cluster as an ordinary YAML inventory: what each group and host has in cluster-info, written out."""
    command = [playbooks.program("ansible-inventory"), "-i", str(playbooks.inventory), "--list", "--export"]
    listed = json.loads(
        subprocess.run(command, cwd=playbooks.root, env=playbooks.environment, check=True, capture_output=True).stdout
    )
    hosts = listed.pop("_meta")["hostvars"]
    groups = {
        name: {
            "hosts": {host: hosts.get(host, {}) for host in group.get("hosts", [])},
            "children": dict.fromkeys(group.get("children", []), {}),
            "vars": group.get("vars", {}),
        }
        for name, group in listed.items()
    }
    path = tmp_path / "hosts.yml"
    path.write_text(yaml.safe_dump(groups), encoding="utf-8")
    return path


def test_is_put_right_by_a_run(drift, playbooks, yaml_inventory) -> None:
    # That nothing is left to do after it is what test_second_run asks.
    repair = playbooks.run("up", inventory=yaml_inventory)
    assert repair.status == 0
    assert repair.changes == drift.changes
