# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of all scenarios share: running a playbook and reading what it printed, and the lab's commands."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
import typing as t

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

    @property
    def inventory(self) -> pathlib.Path:
        """The lab's cluster-info."""
        found = re.search(r"^inventory: (.*)$", self("status"), flags=re.MULTILINE)
        assert found
        return pathlib.Path(found.group(1))


@contextlib.contextmanager
def own_lab(name: str, nodes: str) -> t.Iterator[Lab]:
    """A lab for a scenario that shares no machines with the others."""
    own = Lab(name)
    own("down")
    own("up", "--nodes", nodes)
    yield own
    own("down")


class Machines:
    """What tests do on the machines of a lab, beside running playbooks."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def run(self, node: str, command: str) -> str:
        """A command as root; what it prints."""
        return self.lab("ssh", node, f"sudo sh -c {shlex.quote(command)}")

    def kubectl(self, *arguments: str) -> t.Any:
        """The answer of kubectl, parsed where it is JSON."""
        text = self.run("control1", "KUBECONFIG=/etc/kubernetes/admin.conf kubectl " + shlex.join(arguments))
        return json.loads(text) if text.startswith("{") else text

    def boot_id(self, node: str) -> str:
        return self.run(node, "cat /proc/sys/kernel/random/boot_id").strip()

    def containerd(self, node: str) -> str:
        """What tells one start of containerd from another."""
        return self.run(node, "systemctl show --value --property InvocationID containerd").strip()

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
