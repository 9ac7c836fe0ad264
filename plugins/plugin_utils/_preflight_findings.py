# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's verdict: all findings of all machines, as a table, as data and as one sentence.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils import (
    _preflight_cluster,
    _preflight_gpu,
    _preflight_inventory,
    _preflight_machine,
    _preflight_network,
    _table,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    ERROR,
    KINDS,
    Finding,
    Machine,
    Settings,
    listed,
)

_ORDER = list(KINDS)


def inventory(machines: list[Machine], settings: Settings, groups: t.Mapping[str, t.Sequence[str]]) -> list[Finding]:
    """What the inventory alone tells."""
    return _ordered(_preflight_inventory.check(machines, settings, groups), settings)


def judge(machines: list[Machine], settings: Settings) -> list[Finding]:
    """What the machines tell, those of no answer included."""
    found: list[Finding] = []
    for machine in machines:
        found += _preflight_machine.reach(machine)
        found += _preflight_machine.check(machine, settings)
        found += _preflight_gpu.check(machine, settings)
        found += _preflight_network.check(machine, machines, settings)
    found += _preflight_machine.workers(machines)
    found += _preflight_cluster.check(machines, settings)
    return _ordered(found, settings)


def _ordered(found: list[Finding], settings: Settings) -> list[Finding]:
    """Equal findings of several machines as one, errors first, accepted ones marked."""
    merged: dict[tuple[str, str, str], Finding] = {}
    for one in found:
        key = (one.name, one.text, one.remedy)
        if key in merged:
            one = dataclasses.replace(one, hosts=(*merged[key].hosts, *one.hosts))
        merged[key] = one
    marked = [
        dataclasses.replace(one, accepted=one.name in settings.accept and KINDS[one.name].acceptable)
        for one in merged.values()
    ]
    return sorted(marked, key=lambda one: (not one.fatal, one.accepted, one.severity != ERROR, _ORDER.index(one.name)))


def table(found: list[Finding], *, width: int | None = None) -> str:
    rows = []
    for one in found:
        machines, text = listed(one.hosts), one.text
        if len(one.hosts) > 1:
            # The names would make the column wide; they come first in the last one, which wraps.
            machines, text = f"{len(one.hosts)} machines", f"{listed(one.hosts, 12)}: {one.text}"
        verdict = "accepted" if one.accepted else one.severity
        rows.append([verdict, machines, one.name, text if one.accepted else f"{text}\n-> {one.remedy}"])
    return _table.render(["", "machine", "finding", "what, and how to put it right"], rows, width=width)


def data(found: list[Finding], machines: list[Machine]) -> dict[str, t.Any]:
    """For programs."""
    return {
        "ok": not any(one.fatal for one in found),
        "machines": [machine.name for machine in machines],
        "findings": [{**dataclasses.asdict(one), "hosts": list(one.hosts)} for one in found],
    }


def sentence(found: list[Finding], machines: int) -> str:
    """The verdict in one sentence."""
    fatal = [one for one in found if one.fatal]
    if not fatal:
        warnings = len([one for one in found if not one.accepted])
        accepted = len([one for one in found if one.accepted])
        parts = [_count(machines, "machine")]
        parts += [_count(warnings, "warning")] if warnings else []
        parts += [f"{accepted} accepted"] if accepted else []
        return f"preflight: {', '.join(parts) if len(parts) > 1 else parts[0] + ', nothing found'}."
    where = listed(sorted({host for one in fatal for host in one.hosts}))
    names = sorted({one.name for one in fatal if KINDS[one.name].acceptable})
    rest = f", or accept what you know better about with gshare_accept ({listed(names, 6)})" if names else ""
    return (
        f"preflight: {_count(len(fatal), 'error')} ({where}), nothing was changed; put right what the table says{rest}."
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
