# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_package import (
    at_least,
    choose,
    parse_os_release,
    parse_policy,
)

POLICY = """\
containerd:
  Installed: (none)
  Candidate: 1.6.20~ds1-1+deb12u3
  Version table:
     1.6.20~ds1-1+deb12u3 500
        500 https://packages.example.net/debian bookworm/main amd64 Packages
containerd.io:
  Installed: 2.3.7-1~debian.12~bookworm
  Candidate: 2.3.7-1~debian.12~bookworm
  Version table:
 *** 2.3.7-1~debian.12~bookworm 500
        500 https://packages.example.net/docker bookworm/stable amd64 Packages
        100 /var/lib/dpkg/status
"""


def test_policy() -> None:
    assert parse_policy(POLICY) == {
        "containerd": (None, "1.6.20~ds1-1+deb12u3"),
        "containerd.io": ("2.3.7-1~debian.12~bookworm", "2.3.7-1~debian.12~bookworm"),
    }
    assert parse_policy("") == {}
    assert parse_policy("N: Unable to locate package containerd.io\n") == {}


@pytest.mark.parametrize(
    ("version", "enough"),
    [("1.7", True), ("1.7.24~ds1-6", True), ("2:1.6.9", False), ("1.10.1", True), ("1.6.20~ds1", False), (None, False)],
)
def test_versions(version: str | None, enough: bool) -> None:
    assert at_least(version, "1.7") is enough


# (distribution's installed, candidate), (Docker's installed, candidate), lists, own file -> what apt is asked, source
@pytest.mark.parametrize(
    ("ours", "docker", "lists", "own", "wish", "source", "installed"),
    [
        # A fresh machine.
        ((None, "1.7.24~ds1"), (None, None), True, False, "containerd", "distribution", False),
        ((None, "2.2.1-0ubuntu1"), (None, "2.3.7-1"), True, False, "containerd", "distribution", False),
        ((None, "1.6.20~ds1"), (None, None), True, False, "containerd.io", "docker", False),
        ((None, None), (None, None), True, False, "containerd.io", "docker", False),
        ((None, None), (None, None), False, False, "containerd", "refresh", False),
        # Docker's repository is there: written by us, or by the owner.
        ((None, "1.6.20~ds1"), (None, "2.3.7-1"), True, True, "containerd.io", "docker", False),
        ((None, "1.6.20~ds1"), (None, "2.3.7-1"), True, False, "containerd.io", "distribution", False),
        # What is installed and new enough stays, and our repository goes on being managed.
        (("1.7.24~ds1", "1.7.24~ds1"), (None, None), True, False, "containerd", "distribution", True),
        (("1.7.24~ds1", "1.7.24~ds1"), (None, None), False, False, "containerd", "distribution", True),
        ((None, "2.2.1"), ("2.2.6-1", "2.3.7-1"), True, False, "containerd.io", "distribution", True),
        ((None, "1.6.20"), ("2.3.7-1", "2.3.7-1"), True, True, "containerd.io", "docker", True),
        # Too old: replaced by a version that apt is told, because an installed package counts as present.
        (("1.6.20~ds1", "1.7.24~ds1"), (None, None), True, False, "containerd=1.7.24~ds1", "distribution", False),
        (("1.6.20~ds1", "1.6.20~ds1"), (None, None), True, False, "containerd.io", "docker", False),
        ((None, "1.6.20~ds1"), ("1.6.9-1", "2.3.7-1"), True, False, "containerd.io=2.3.7-1", "distribution", False),
    ],
)
def test_choice(
    ours: tuple[str | None, str | None],
    docker: tuple[str | None, str | None],
    lists: bool,
    own: bool,
    wish: str,
    source: str,
    installed: bool,
) -> None:
    choice = choose({"containerd": ours, "containerd.io": docker}, "1.7", lists=lists, own_repository=own)
    assert (choice["wish"], choice["source"], choice["installed"]) == (wish, source, installed)
    assert choice["package"] == wish.split("=")[0]
    assert choice["reason"]


def test_os_release() -> None:
    text = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n'
    assert parse_os_release(text) == ("debian", "bookworm")
    assert parse_os_release("") == ("", "")
