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


def ansible(program: str, *arguments: str | pathlib.Path, status: int = 0) -> str:
    command = [str(pathlib.Path(sys.executable).parent / program), *map(str, arguments)]
    # "Broken inventory" must not be hidden by a warning on stderr, so both go together into the message.
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}
    )
    assert done.returncode == status, done.stdout + done.stderr
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


@pytest.mark.parametrize(
    ("control_planes", "text"),
    [
        ("{192.0.2.1: {}, 192.0.2.2: {}}", "192.0.2.1 and 192.0.2.2: All of them are named as control plane"),
        ("{}", "No machine is named as the control plane."),
    ],
)
def test_the_first_play_tells_all_mistakes_of_the_inventory(
    tmp_path: pathlib.Path, control_planes: str, text: str
) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(f"""
kube_control_plane: {{hosts: {control_planes}}}
cpu_node: {{hosts: {{192.0.2.3: {{}}}}}}
kube_worker: {{children: {{cpu_node: {{}}}}}}
kube_cluster: {{children: {{kube_control_plane: {{}}, kube_worker: {{}}}}}}
all: {{vars: {{gshare_accept: [sud], gshare_checks: [{{name: web}}, {{name: db, query: "items[?"}}]}}}}
""")
    shown = ansible("ansible-playbook", ROOT / "playbooks/up.yml", "-i", inventory, status=2)
    # Without the table's lines and breaks.
    words = " ".join(re.sub(r"[^ -~]|\||-{3,}", " ", shown).split())
    assert re.findall(r"PLAY \[(.*?)\]", shown) == ["Check the inventory"]
    assert text in words
    assert "no finding is called 'sud'" in words
    assert "gshare_checks, entry 1 (web): missing: kind, query, expect, remedy." in words
    assert "gshare_checks, entry 2 (db): query is not JMESPath:" in words


@pytest.mark.parametrize("limit", [[], ["--limit", "kube_worker[0]"], ["--limit", "kube_control_plane"]], ids=str)
@pytest.mark.parametrize("confirm", [[], ["-e", "confirm=192.0.2.99"]], ids=str)
def test_reset_wants_its_confirmation(limit: list[str], confirm: list[str]) -> None:
    command = (ROOT / "playbooks/reset.yml", "-i", INVENTORY / "hosts.yml", *limit, *confirm)
    shown = ansible("ansible-playbook", *command, status=2)
    assert re.findall(r"PLAY \[(.*?)\]", shown) == ["Ask for a confirmation"]
    assert "add -e confirm=10.0.0.10. Nothing was touched." in " ".join(shown.split())


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ([], "Nothing is asked for: add -e images=NAME,NAME"),
        (["-e", "images=UP", "-e", "prepull=DOWN"], "'UP' is no name of an image"),
    ],
)
def test_push_images_tells_what_is_wrong_before_anything_is_done(asked: list[str], text: str) -> None:
    shown = ansible(
        "ansible-playbook", ROOT / "playbooks/push_images.yml", "-i", INVENTORY / "hosts.yml", *asked, status=2
    )
    assert re.findall(r"PLAY \[(.*?)\]", shown) == ["Push images to the registry on the LAN"]
    assert text in " ".join(shown.split())
