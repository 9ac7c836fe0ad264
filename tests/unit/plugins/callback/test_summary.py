# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types
import typing as t

import pytest
import yaml

from ansible_collections.gshare.cluster.plugins.callback import summary as callback

ROOT = pathlib.Path(__file__).resolve().parents[4]

# In place of the module: what it would say of two nodes.
VERIFY = """
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        rows = [("cp", "one", ["control plane"]), ("gpu-1", "two", ["gpu exclusive"])]
        more = {"address": "192.0.2.1", "ready": True, "version": "v1.36.3"}
        nodes = [{"name": name, "host": host, "roles": roles, **more} for name, host, roles in rows]
        return {"changed": False, "nodes": nodes, "checks": [{"name": "unlisted", "status": "warning"}]}
"""
WORK = """
- name: Do something
  ansible.builtin.debug:
  changed_when: true
- name: Leave something out
  ansible.builtin.debug:
    msg: never
  when: false
- name: Fail where told to
  ansible.builtin.fail:
    msg: The disk of {{ inventory_hostname }} is full.
  when: inventory_hostname in (broken | default([]))
- name: End here where told to
  ansible.builtin.meta: end_host
  when: leave is defined
- name: More of it
  ansible.builtin.include_tasks: more.yml
"""
UP = """
- name: Prepare
  hosts: all
  gather_facts: false
  roles: [gshare.cluster.node]
- name: Verify
  hosts: one
  gather_facts: false
  tasks:
    - name: Prove it
      gshare.cluster.verify:
"""
OTHER = """
- name: Something else
  hosts: all
  gather_facts: false
  tasks:
    - name: Work
      ansible.builtin.debug:
"""
HOSTS = """\
one ansible_user=ubuntu ansible_host=192.0.2.1 ansible_ssh_private_key_file='/k/my key' ansible_port=22
two
[all:vars]
ansible_connection=local
"""


@pytest.fixture
def play(tmp_path: pathlib.Path) -> t.Callable[..., tuple[int, str, pathlib.Path]]:
    """Run a playbook with a small collection of our name: our plugins, a role, a stand-in for verify."""
    home = tmp_path / "ansible_collections/gshare/cluster"
    shutil.copytree(ROOT / "plugins", home / "plugins")
    for path, content in {
        "plugins/action/verify.py": VERIFY,
        "plugins/modules/verify.py": "",
        "roles/node/tasks/main.yml": WORK,
        "roles/node/tasks/more.yml": "- name: Included\n  ansible.builtin.debug:\n  changed_when: true\n",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(content, encoding="utf-8")
    (tmp_path / "hosts").write_text(HOSTS, encoding="utf-8")

    def run(content: str, *arguments: str) -> tuple[int, str, pathlib.Path]:
        (tmp_path / "play.yml").write_text(content, encoding="utf-8")
        timings = tmp_path / "timings.json"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
            "ANSIBLE_CALLBACKS_ENABLED": "gshare.cluster.summary",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "GSHARE_TIMINGS_FILE": str(timings),
            "COLUMNS": "120",
            "LC_ALL": "C.UTF-8",
        }
        command = [sys.executable, "-m", "ansible", "playbook", "-i", "hosts", "play.yml", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        return done.returncode, done.stdout + done.stderr, timings

    return run


def summary(text: str) -> str:
    """What the callback printed, with times made alike."""
    found = text.split("PLAY RECAP", 1)[1].split("\n\n", 1)[1].strip("\n")
    found = re.sub(r"\d+(\.\d+)? s\b", "N s", found)
    found = re.sub(r"(one|two) N s", "HOST N s", found)
    found = re.sub(r"--+", "--", found)
    return "\n".join(re.sub(r"  +", "  ", line).rstrip() for line in found.split("\n"))


def test_end_of_up(play):
    code, text, timings = play(UP)
    assert code == 0, text
    golden = ROOT / "tests/unit/plugins/callback/fixtures/summary/up.txt"
    assert summary(text) + "\n" == golden.read_text(encoding="utf-8")

    numbers = json.loads(timings.read_text(encoding="utf-8"))
    assert [phase["phase"] for phase in numbers["phases"]] == ["Prepare", "Verify"]
    recap = {
        host: (int(ok), int(skipped))
        for host, ok, skipped in re.findall(r"^(\w+)\s+: ok=(\d+) .*skipped=(\d+)", text, re.MULTILINE)
    }
    assert {host: (work["executed"], work["skipped"]) for host, work in numbers["hosts"].items()} == recap
    assert numbers["hosts"]["two"]["seconds"] > 0
    assert sum(phase["seconds"] for phase in numbers["phases"]) <= numbers["seconds"] + 0.02


def test_check_mode(play):
    code, text, _timings = play(UP, "--check")
    assert code == 0, text
    assert "Check mode: nothing was changed." in summary(text)
    assert "Kubeconfig" not in text


def test_failure(play):
    code, text, timings = play(UP, "-e", '{"broken": ["two"]}')
    assert code == 2
    assert summary(text) == (
        "Stopped in phase 'Prepare' after N s because of two.\n"
        "First: two, gshare.cluster.node : Fail where told to: The disk of two is full.\n"
        "Next: put that right and run the same command again. What is done stays done."
    )
    assert timings.exists()


def test_silent_elsewhere(play):
    code, text, timings = play(OTHER)
    assert code == 0, text
    assert summary(text) == ""
    assert not timings.exists()


def test_timings_that_cannot_be_written_are_a_warning(tmp_path):
    warnings: list[str] = []
    display = types.SimpleNamespace(warning=warnings.append, columns=80, verbosity=0)
    plugin = callback.CallbackModule(display=display, options={})
    (tmp_path / "file").touch()
    plugin._write(tmp_path / "file/timings.json")
    assert len(warnings) == 1
    assert "cannot be written" in warnings[0]


def test_names():
    documented = yaml.safe_load(callback.DOCUMENTATION)
    assert f"gshare.cluster.{documented['name']}" == callback.CallbackModule.CALLBACK_NAME
    assert set(documented["options"]) == {"timings_file", "hosts_shown"}
