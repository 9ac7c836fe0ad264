# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How packages are installed: nobody is asked anything, and nothing that serves is restarted by it."""

from __future__ import annotations

import re
import typing as t

import pytest
import yaml
from ansible.modules import apt
from ansible.template import trust_as_template

from ansible_collections.gshare.cluster.tests.unit.roles.settings import ROLES, templar


def tasks(entries: list[dict[str, t.Any]]) -> t.Iterator[dict[str, t.Any]]:
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks(entry.get(part) or [])


def found() -> dict[str, dict[str, t.Any]]:
    """All tasks of all roles by their place."""
    paths = sorted(ROLES.glob("*/tasks/*.yml"))
    return {
        f"{path.relative_to(ROLES)}: {task['name']}": task
        for path in paths
        for task in tasks(yaml.safe_load(path.read_text(encoding="utf-8")) or [])
    }


# No module finishes what dpkg was cut off in.
FINISH = ["dpkg", "--configure", "-a", "--force-confdef", "--force-confold"]
APT = {place: task for place, task in found().items() if "ansible.builtin.apt" in task}


def test_only_the_module_calls_apt() -> None:
    """The tests below are about its tasks."""
    assert APT
    command = re.compile(r"\b(apt|apt-get|aptitude|dpkg)\b")
    names = [f"ansible.builtin.{name}" for name in ("command", "shell", "raw", "script")]
    tasks = {place: task.get(name, "") for place, task in found().items() for name in names if name in task}
    assert [place for place, task in tasks.items() if command.search(str(task)) and task["argv"] != FINISH] == []
    calls = re.compile(r"""["'](apt-get|aptitude)["'],""")
    plugins = ROLES.parent / "plugins"
    assert [path.name for path in sorted(plugins.rglob("*.py")) if calls.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("place", APT)
def test_case_80_another_apt_is_waited_for(place: str) -> None:
    assert "_apt_lock_timeout" in APT[place]["ansible.builtin.apt"]["lock_timeout"]


@pytest.mark.parametrize("place", APT)
def test_case_85_an_edited_file_stays_and_dpkg_does_not_ask(place: str) -> None:
    options = APT[place]["ansible.builtin.apt"].get("dpkg_options", apt.DPKG_OPTIONS)
    assert {"force-confdef", "force-confold"} <= set(options.split(","))


@pytest.mark.parametrize("place", [place for place, task in APT.items() if "name" in task["ansible.builtin.apt"]])
def test_case_86_needrestart_waits_for_somebody_else(place: str) -> None:
    assert APT[place].get("environment", {}).get("NEEDRESTART_SUSPEND") == "1"


def test_case_86_needrestart_never_restarts_what_pods_run_on() -> None:
    template = (ROLES / "node/templates/needrestart.conf.j2").read_text(encoding="utf-8")
    text = str(templar("node").template(trust_as_template(template)))
    for service in ("containerd", "kubelet"):
        assert rf"$nrconf{{override_rc}}->{{qr(^{service}\.service$)}} = 0;" in text.splitlines()
