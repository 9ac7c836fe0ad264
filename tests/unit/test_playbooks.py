# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks as ansible-playbook reads them, without a machine."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INVENTORY = ROOT / "inventory.example"
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
# What `up` may cost: a task costs time on every host, even a skipped one.
TASKS_OF_UP = 140


def ansible(program: str, *arguments: str | pathlib.Path) -> str:
    command = [str(pathlib.Path(sys.executable).parent / program), *map(str, arguments)]
    # "Broken inventory" must not be hidden by a warning on stderr, so both go together into the message.
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def listed() -> dict[str, str]:
    """What --list-tasks prints for `up`, with the inventory as cluster-info and as plain YAML."""
    return {
        kind: ansible("ansible-playbook", ROOT / "playbooks/up.yml", "-i", INVENTORY / kind, "--list-tasks")
        for kind in ("cluster-info", "hosts.yml")
    }


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda path: path.stem)
def test_syntax(playbook: pathlib.Path) -> None:
    ansible("ansible-playbook", playbook, "-i", INVENTORY / "hosts.yml", "--syntax-check")


def test_both_inventories_give_the_same_run(listed: dict[str, str]) -> None:
    assert listed["cluster-info"] == listed["hosts.yml"]


def test_up_has_few_tasks(listed: dict[str, str]) -> None:
    tasks = re.findall(r"^ {6}(?! )(.+?)\tTAGS: ", listed["cluster-info"], flags=re.MULTILINE)
    assert 0 < len(tasks) <= TASKS_OF_UP
