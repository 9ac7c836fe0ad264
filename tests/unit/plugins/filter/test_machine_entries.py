# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gshare.cluster.plugins.filter.machine_entries import machine_entries
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import parse


@pytest.mark.parametrize(
    ("entry", "key", "listed"),
    [
        ("ubuntu@10.0.0.20:fractional", "WORKER_NODES", "ubuntu@10.0.0.20:fractional"),
        ("10.0.0.20:exclusive", "WORKER_NODES", "10.0.0.20:exclusive"),
        ("ubuntu@[2001:db8::20]:exclusive", "WORKER_NODES", "ubuntu@[2001:db8::20]:exclusive"),
        ("root@cpu-1.example.net:cpu", "CPU_WORKERS", "root@cpu-1.example.net"),
        ("ubuntu@10.0.0.20", "WORKER_NODES", "ubuntu@10.0.0.20"),
    ],
)
def test_as_the_inventory_plugin_reads_it(entry: str, key: str, listed: str) -> None:
    (found,) = machine_entries(entry)
    node = parse(f"MASTER_NODE=u@10.0.0.10\n{key}={listed}\n").nodes[-1]
    assert found == {"entry": entry, "name": node.address, "group": node.group, "vars": node.variables()}


def test_several_and_none() -> None:
    assert [one["name"] for one in machine_entries("u@10.0.0.20, u@10.0.0.30:cpu")] == ["10.0.0.20", "10.0.0.30"]
    assert machine_entries("") == []


def test_all_mistakes_at_once() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        machine_entries("u@10.0.0.20:half,u@<address>:cpu")
    assert "machine 'u@10.0.0.20:half': " in str(caught.value)
    assert "'u@<address>' is a placeholder; put the real value there." in str(caught.value)
