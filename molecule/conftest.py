# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of all scenarios share: running a playbook and reading what it printed, and the lab's commands."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAB = "molecule"
INVENTORY = ROOT / ".cache" / "molecule" / "cluster-info"


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of ansible-playbook that has ended."""

    status: int
    output: str = dataclasses.field(repr=False)

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        """The numbers of the play recap by host."""
        lines = re.findall(r"^(\S+)\s+: (ok=\d+ .*)$", self.output.partition("PLAY RECAP")[2], flags=re.MULTILINE)
        return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)} for host, rest in lines}

    @property
    def changed(self) -> dict[str, int]:
        """How many tasks changed something, by host; hosts where none did are left out."""
        return {host: numbers["changed"] for host, numbers in self.recap.items() if numbers["changed"]}

    @property
    def changes(self) -> set[tuple[str, str]]:
        """Which task changed something on which host."""
        found, task = set(), ""
        for line in self.output.splitlines():
            if head := re.match(r"TASK \[(.*)\] \*+$", line):
                task = head.group(1)
            elif change := re.match(r"changed: \[([^\] ]+)", line):
                found.add((change.group(1), task))
        return found


class Playbooks:
    """Runs the playbooks of the checkout on the lab."""

    root = ROOT

    def __init__(self, inventory: pathlib.Path = INVENTORY) -> None:
        self.inventory = inventory

    def program(self, name: str) -> str:
        return str(pathlib.Path(sys.executable).parent / name)

    def command(self, playbook: str, *arguments: str, inventory: pathlib.Path | None = None) -> list[str]:
        path = ROOT / "playbooks" / f"{playbook}.yml"
        return [self.program("ansible-playbook"), str(path), "-i", str(inventory or self.inventory), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1"}

    def run(self, playbook: str, *arguments: str, inventory: pathlib.Path | None = None) -> Run:
        """Run it to its end. What it printed is shown by pytest if the test fails."""
        done = subprocess.run(
            self.command(playbook, *arguments, inventory=inventory),
            cwd=ROOT,
            env=self.environment,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(done.stdout)
        return Run(done.returncode, done.stdout)

    def kill(self, playbook: str, task: str, *arguments: str, after: float) -> bool:
        """Run it and kill it some seconds after a task of that name has begun; False if it ended before."""
        process = subprocess.Popen(
            self.command(playbook, *arguments),
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout
        with process.stdout as lines:
            for line in lines:
                print(line, end="")
                if re.match(rf"TASK \[.*{task}", line):
                    time.sleep(after)
                    kill_tree(process.pid)
                    break
        return process.wait() == -signal.SIGKILL


def kill_tree(pid: int) -> None:
    """End a process and all that it has started, with no chance to clean up: workers are in sessions of their own."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    below = [int(word) for word in children.read_text(encoding="utf-8").split()] if children.exists() else []
    os.kill(pid, signal.SIGKILL)
    for child in below:
        kill_tree(child)


class Lab:
    """The commands of tests/lab/lab, for one lab."""

    def __init__(self, name: str = LAB) -> None:
        self.name = name

    def __call__(self, *arguments: str) -> str:
        command, *rest = arguments
        done = subprocess.run(
            [str(ROOT / "tests/lab/lab"), command, "--name", self.name, *rest],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"lab {' '.join(arguments)}: {done.stdout}"
        return done.stdout


@pytest.fixture(scope="session")
def playbooks() -> Playbooks:
    return Playbooks()


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()


@pytest.fixture(scope="session")
def addresses(lab: Lab) -> dict[str, str]:
    """The nodes' addresses by their names."""
    return dict(re.findall(r"^([a-z]+\d+) +(\d\S+) ", lab("status"), flags=re.MULTILINE))
