# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adding one machine costs the same, however many machines the file lists."""

from __future__ import annotations

NODE = "cpu2"
MANY = 300
LIMIT = 1.3


def added(playbooks, address: str) -> tuple[int, float]:
    """Tasks that a run executed, and what it took, in seconds, outside of the machines' own work."""
    assert playbooks.run("remove_node", "-e", f"node={address}").status == 0
    assert playbooks.run("add_node", "-e", f"node={address}").status == 0
    numbers = playbooks.numbers()
    busy = sum(
        max(work["seconds"] for work in phase["hosts"].values()) for phase in numbers["phases"] if phase["hosts"]
    )
    return sum(work["executed"] for work in numbers["hosts"].values()), numbers["seconds"] - busy


def test_three_hundred_machines_more_in_the_file(inventory, machines, addresses) -> None:
    listed = ",".join(f"ubuntu@10.20.{index // 200}.{index % 200 + 1}" for index in range(MANY))
    file = inventory().inventory.read_text(encoding="utf-8")
    more = inventory()
    line = next(line for line in file.splitlines() if line.startswith("CPU_WORKERS="))
    value = line.partition("=")[2].strip('"')
    more.inventory.write_text(file.replace(line, f"CPU_WORKERS={value},{listed}"), encoding="utf-8")
    (tasks, alone), (tasks_of_many, among_many) = (added(one, addresses[NODE]) for one in (inventory(), more))
    print(f"{tasks} tasks; controller {alone:.2f} s, with {MANY} machines more in the file {among_many:.2f} s")
    assert tasks_of_many == tasks
    assert among_many <= LIMIT * alone
