# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The containerd of each node judges the golden files that the unit tests compare with.

Debian 13 has its own 1.7, the nodes of Debian 12 have 2.3 from Docker's repository.
"""

from __future__ import annotations

import json

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    check_types,
    edit,
    effective,
    unmet,
    wishes,
)

testinfra_hosts = ["ansible://gpu_node?sudo=true", "ansible://cpu_node?sudo=true"]
FILE = "/etc/containerd/config.toml"


@pytest.fixture(scope="module")
def fixtures(playbooks):
    return playbooks.root / "tests/unit/plugins/plugin_utils/fixtures/containerd"


@pytest.fixture(scope="module")
def golden(host, fixtures) -> dict[str, str]:
    """The golden files made for the containerd that this node has, by name."""
    version = host.check_output("containerd --version").split()[2].lstrip("v").partition("~")[0]
    found = {path.stem: path.read_bytes().decode() for path in sorted((fixtures / "golden").glob(f"{version}-*.toml"))}
    assert found, f"no golden file for containerd {version}"
    return found


@pytest.fixture(scope="module")
def dumps(host, golden) -> dict[str, str]:
    """What the program makes of each."""
    found = {}
    for name, text in golden.items():
        host.run_expect([0], "printf '%%s' %s > /run/golden.toml", text)
        found[name] = host.check_output("containerd --config /run/golden.toml config dump")
    host.run_expect([0], "rm /run/golden.toml")
    return found


def test_all_that_was_wished_for_is_in_force(golden, dumps, fixtures) -> None:
    wished = json.loads((fixtures / "wishes.json").read_text(encoding="utf-8"))
    for name, text in golden.items():
        wish = wished.get(name, wished["otherwise"])
        view = effective(dumps[name])
        assert unmet(view, wishes(wish)) == [], name
        check_types(FILE, view, wishes(wish))
        assert edit(Config(FILE, text, dumps[name]), wish) == text, name


def test_default_is_what_the_program_prints(host, golden, fixtures) -> None:
    version = next(iter(golden)).partition("-")[0]
    printed = host.check_output("containerd config default")
    assert printed.strip() == (fixtures / "input" / f"{version}-default.toml").read_text(encoding="utf-8").strip()
