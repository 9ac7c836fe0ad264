# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run on a finished cluster changes nothing, in check mode and with another form of inventory too."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml


@pytest.fixture(scope="module")
def check(playbooks):
    return playbooks.run("up", "--check", "--diff")


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


def test_check_mode_reports_nothing(check) -> None:
    assert check.status == 0
    assert check.changes == set()
    assert check.changed == {}


def test_yaml_inventory_gives_the_same_run(check, playbooks, yaml_inventory) -> None:
    other = playbooks.run("up", "--check", "--diff", inventory=yaml_inventory)
    assert other.status == 0
    assert other.recap == check.recap
