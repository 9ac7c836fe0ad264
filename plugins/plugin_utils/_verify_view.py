# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What verify expects of the cluster, from the inventory; and how its verdicts are shown.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._table import render

Json = dict[str, t.Any]

# Group -> what people call its machines.
ROLES = {
    "kube_control_plane": "control plane",
    "gpu_exclusive": "gpu exclusive",
    "gpu_fractional": "gpu fractional",
    "cpu_node": "cpu",
    "storage_node": "storage",
}
_SHOWN = 6


def expected_hosts(groups: t.Mapping[str, t.Sequence[str]], wanted: t.Sequence[Json]) -> list[Json]:
    """Every machine of the cluster and what it is for, beside what the filter node_labels wants of it."""
    hosts = []
    for host, entry in zip(groups.get("kube_cluster", []), wanted, strict=True):
        mine = [group for group in ROLES if host in groups.get(group, [])]
        hosts.append({"host": host, "roles": [ROLES[group] for group in mine], **entry})
    return hosts


def table(checks: list[Json], width: int | None = None) -> str:
    """The screen that verify shows."""
    return render(["Check", "Result", "Detail"], [[c["name"], c["status"], _detail(c)] for c in checks], width=width)


def _detail(check: Json) -> str:
    found = check.get("problems") or []
    lines = found[:_SHOWN] if found else [check["detail"]]
    if len(found) > _SHOWN:
        lines = [*lines, f"and {len(found) - _SHOWN} more of this kind"]
    if check.get("remedy"):
        lines = [*lines, f"Remedy: {check['remedy']}"]
    return "\n".join(lines)


def failed(checks: list[Json]) -> list[str]:
    return [check["name"] for check in checks if check["status"] == "failed"]


def sentence(checks: list[Json]) -> str:
    """The error of the task: one sentence. Empty if nothing failed."""
    names = failed(checks)
    if not names:
        return ""
    made = [check for check in checks if check["status"] != "skipped"]
    return (
        f"{len(names)} of {len(made)} checks of the cluster failed: {', '.join(names)}; "
        "the table above says of each what is wrong and what to do."
    )
