# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""Which package containerd comes from, decided from what apt knows. Text in, verdict out."""

from __future__ import annotations

import re
import typing as t

DISTRIBUTION = "containerd"
DOCKER = "containerd.io"

# Installed version and candidate of a package; None where there is none.
Policy = dict[str, tuple[t.Optional[str], t.Optional[str]]]


def parse_policy(text: str) -> Policy:
    """C(apt-cache policy NAME...) in the C locale."""
    found: Policy = {}
    for block in re.split(r"^(?=\S)", text, flags=re.M):
        name = re.match(r"(\S+):\n", block)
        if name:
            installed = re.search(r"^  Installed: (.*)$", block, re.M)
            candidate = re.search(r"^  Candidate: (.*)$", block, re.M)
            found[name[1]] = (_version(installed), _version(candidate))
    return found


def _version(found: re.Match[str] | None) -> str | None:
    return None if not found or found[1] == "(none)" else found[1]


def at_least(version: str | None, minimum: str) -> bool:
    """Compare what upstream calls the version: 1.7.24~ds1-6 is 1.7.24, an epoch does not count."""
    return version is not None and _numbers(version) >= _numbers(minimum)


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version)
    return tuple(int(number) for number in found[1].split(".")) if found else ()


def choose(policy: Policy, minimum: str, *, lists: bool, own_repository: bool) -> dict[str, t.Any]:
    """The package to have, what to ask apt for, and where it comes from.

    What is installed and new enough stays. Otherwise the distribution's package if that is new enough, else Docker's.
    Docker's repository is written only where apt does not offer its package yet, or where our own file is there; so it
    never stands beside one that the owner of the machine has written.
    """
    for name in (DOCKER, DISTRIBUTION):
        installed = policy.get(name, (None, None))[0]
        if at_least(installed, minimum):
            docker = name == DOCKER and own_repository
            reason = f"{name} {installed} is installed"
            return _choice(name, name, installed, "docker" if docker else "distribution", reason, installed=True)
    old, candidate = policy.get(DISTRIBUTION, (None, None))
    if at_least(candidate, minimum):
        wish = f"{DISTRIBUTION}={candidate}" if old else DISTRIBUTION
        reason = f"the distribution has {DISTRIBUTION} {candidate}"
        return _choice(DISTRIBUTION, wish, candidate, "distribution", reason)
    if not lists:
        return _choice(DISTRIBUTION, DISTRIBUTION, None, "refresh", "apt has no package lists yet")
    replaced, offered = policy.get(DOCKER, (None, None))
    known = at_least(offered, minimum)
    wish = f"{DOCKER}={offered}" if replaced and known else DOCKER
    source = "docker" if own_repository or not known else "distribution"
    reason = f"the distribution has {DISTRIBUTION} {candidate or 'not at all'}, older than {minimum}"
    if not candidate:
        reason = f"the distribution has no {DISTRIBUTION}"
    return _choice(DOCKER, wish, offered if known else None, source, reason)


def _choice(
    package: str, wish: str, version: str | None, source: str, reason: str, installed: bool = False
) -> dict[str, t.Any]:
    return {
        "package": package,
        "wish": wish,
        "version": version,
        "source": source,
        "reason": reason,
        "installed": installed,
    }


def parse_os_release(text: str) -> tuple[str, str]:
    """The distribution's id and code name."""
    values = dict(re.findall(r"""^(\w+)=["']?(.*?)["']?\s*$""", text, re.M))
    return values.get("ID", ""), values.get("VERSION_CODENAME", "")
