# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Time a cluster-info file of many workers against the same inventory as static YAML.

Run from the checkout: .venv/bin/python tests/benchmarks/inventory.py [--workers 1000] [--rounds 7]

The two take turns in one process, so that both see the same machine. Exit status 1: more than twice as slow.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import typing as t
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 2.0


def addresses(count: int) -> list[str]:
    """Give addresses outside of the default ranges."""
    return [f"10.{20 + index // 62500}.{index // 250 % 250}.{index % 250 + 1}" for index in range(count)]


def write_cluster_info(folder: Path, workers: list[str]) -> Path:
    """Write the machines as cluster-info, modes in turn."""
    entries = ",".join(f"ubuntu@{address}:{mode(index)}" for index, address in enumerate(workers))
    path = folder / "cluster-info"
    path.write_text(f"MASTER_NODE=ubuntu@10.0.0.10\nWORKER_NODES={entries}\nPOD_CIDR=10.128.0.0/9\n")
    return path


def mode(index: int) -> str:
    """Give every second worker the other mode."""
    return ("exclusive", "fractional")[index % 2]


def write_yaml(folder: Path, workers: list[str]) -> Path:
    """Write the same as an ordinary inventory, in the shape of inventory.example/hosts.yml."""
    groups: dict[str, list[str]] = {"exclusive": [], "fractional": []}
    for index, address in enumerate(workers):
        groups[mode(index)].append(f"                    {address}:\n                      ansible_user: ubuntu\n")
    gpu = "".join(
        f"                gpu_{name}:\n                  vars:\n                    gshare_gpu_mode: {name}\n"
        f"                  hosts:\n{''.join(hosts)}"
        for name, hosts in groups.items()
    )
    path = folder / "hosts.yml"
    path.write_text(f"""---
all:
  vars:
    gshare_pod_cidr: 10.128.0.0/9
  children:
    kube_cluster:
      vars:
        ansible_ssh_common_args: -o StrictHostKeyChecking=accept-new
      children:
        kube_control_plane:
          hosts:
            10.0.0.10:
              ansible_user: ubuntu
        kube_worker:
          children:
            gpu_node:
              children:
{gpu}            cpu_node: {{}}
            storage_node: {{}}
""")
    return path


def load(path: Path) -> t.Any:
    """Load an inventory as ansible-playbook does."""
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader

    return InventoryManager(loader=DataLoader(), sources=[str(path)])


def content(inventory: t.Any) -> dict[str, t.Any]:
    """Give what the inventory says, without the place that it comes from."""
    hosts = {
        name: {key: value for key, value in host.get_vars().items() if not key.startswith("inventory_")}
        for name, host in inventory.hosts.items()
    }
    groups = {
        name: (sorted(host.name for host in group.get_hosts()), group.vars) for name, group in inventory.groups.items()
    }
    return {"hosts": hosts, "groups": groups}


def main() -> int:
    """Measure, print a line for each and the ratio."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--workers", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=7)
    chosen = options.parse_args()
    os.environ["ANSIBLE_CONFIG"] = str(ROOT / "ansible.cfg")
    os.environ["ANSIBLE_COLLECTIONS_PATH"] = f"{ROOT}/.cache:{ROOT}/.cache/deps"
    os.environ["ANSIBLE_INVENTORY_ENABLED"] = "gshare.cluster.cluster_info,yaml"
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workers = addresses(chosen.workers)
        files = {"cluster-info": write_cluster_info(folder, workers), "static YAML": write_yaml(folder, workers)}
        # The first time pays for imports, and shows that both say the same.
        first, second = (content(load(path)) for path in files.values())
        if first != second:
            print("the two inventories differ")
            return 1
        times: dict[str, list[float]] = {kind: [] for kind in files}
        for _round in range(chosen.rounds):
            for kind, path in files.items():
                begin = time.perf_counter()
                load(path)
                times[kind].append(time.perf_counter() - begin)
    medians = {kind: statistics.median(found) for kind, found in times.items()}
    for kind, median in medians.items():
        best = min(times[kind])
        print(f"{kind:13} {chosen.workers} workers: median {median * 1000:7.1f} ms, best {best * 1000:7.1f} ms")
    ratio = medians["cluster-info"] / medians["static YAML"]
    print(f"cluster-info takes {ratio:.2f} times as long as static YAML; at most {LIMIT:.0f} is allowed")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
