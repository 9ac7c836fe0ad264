# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What has to be done for a release of a Helm chart, decided from what the cluster keeps of it.

Helm keeps each revision of a release in a Secret. Reading those tells chart, version, values and state without helm and
without the chart, so a release that is as wanted costs one request.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
import typing as t

Json = dict[str, t.Any]


@dataclasses.dataclass(frozen=True)
class Release:
    """One revision of a release."""

    secret: str
    revision: int
    status: str
    chart: str
    version: str
    values: Json
    manifest: str = ""

    @property
    def pending(self) -> bool:
        """helm was killed while it worked on it, or is still at work."""
        return self.status.startswith("pending-") or self.status == "uninstalling"


def decode(secret: Json) -> Release:
    """A revision from its Secret, which holds gzip in base64 in base64."""
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    data = json.loads(gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed)
    metadata = data.get("chart", {}).get("metadata") or {}
    return Release(
        secret=secret["metadata"]["name"],
        revision=int(data.get("version") or 0),
        status=(data.get("info") or {}).get("status", "unknown"),
        chart=metadata.get("name", ""),
        version=metadata.get("version", ""),
        values=data.get("config") or {},
        manifest=data.get("manifest") or "",
    )


def newest(releases: t.Iterable[Release]) -> Release | None:
    """The revision that counts: of those that helm has finished the last one."""
    finished = [one for one in releases if not one.pending and one.status not in ("superseded", "uninstalled")]
    return max(finished, key=lambda one: one.revision, default=None)


def differences(have: t.Any, want: t.Any, path: str = "") -> list[str]:
    """Values that differ, a line each."""
    if isinstance(have, dict) and isinstance(want, dict):
        keys = sorted({*have, *want}, key=str)
        return [
            line
            for key in keys
            for line in differences(have.get(key), want.get(key), f"{path}.{key}" if path else str(key))
        ]
    if json.dumps(have, sort_keys=True) == json.dumps(want, sort_keys=True):
        return []
    if not have and not want and not isinstance(have, (bool, int)) and not isinstance(want, (bool, int)):
        return []  # nothing, {} and [] say the same
    return [f"{path}: {json.dumps(have)} instead of {json.dumps(want)}"]


def holds(values: t.Any, wanted: t.Any) -> bool:
    """Whether values have all of the wanted ones."""
    if isinstance(wanted, dict):
        return isinstance(values, dict) and all(holds(values.get(key), value) for key, value in wanted.items())
    return bool(values == wanted)


def change(release: Release | None, wish: Json, gone: t.Sequence[str] = ()) -> tuple[str, list[str]]:
    """What to do (nothing, install, upgrade, repair) and why. C(gone) are objects of the release that are not there."""
    if release is None:
        return "install", [f"{wish['release']} is not installed"]
    why = []
    if (release.chart, release.version) != (wish["chart"], wish["version"]):
        why.append(f"chart {release.chart} {release.version} instead of {wish['chart']} {wish['version']}")
    why += differences(release.values, wish["values"])
    if why:
        return "upgrade", why
    if release.status != "deployed":
        return "upgrade", [f"the last upgrade ended as {release.status}"]
    if gone:
        return "repair", [f"{name} is gone" for name in gone]
    return "nothing", []


def workloads(manifest: str) -> list[tuple[str, str]]:
    """Kind and name of the workloads in a manifest."""
    found = []
    for document in re.split(r"^---.*$", manifest, flags=re.M):
        kind = re.search(r"^kind: *[\"']?(Deployment|DaemonSet)\b", document, re.M)
        metadata = re.search(r"^metadata:\n((?:[ #].*\n|\n)*)", document + "\n", re.M)
        name = re.search(r"^ +name: *[\"']?([\w.-]+)", metadata.group(1), re.M) if metadata else None
        if kind and name:
            found.append((kind.group(1), name.group(1)))
    return found


def missing(release: Release | None, objects: t.Iterable[Json]) -> list[str]:
    """Workloads of a release that somebody took away."""
    there = {(item["kind"], item["metadata"]["name"]) for item in objects}
    return [
        f"{kind} {name}" for kind, name in (workloads(release.manifest) if release else []) if (kind, name) not in there
    ]


def port_owners(services: t.Iterable[Json], ports: t.Collection[int], releases: t.Collection[str]) -> list[str]:
    """Sentences on node ports that other Services have. C(releases) are those of us, as namespace/name."""
    found = []
    for service in services:
        metadata = service["metadata"]
        notes = metadata.get("annotations") or {}
        owner = f"{notes.get('meta.helm.sh/release-namespace', '')}/{notes.get('meta.helm.sh/release-name', '')}"
        if owner in releases:
            continue
        spec = service.get("spec") or {}
        used = {entry.get("nodePort") for entry in spec.get("ports") or []} | {spec.get("healthCheckNodePort")}
        found += [
            f"NodePort {port} belongs to Service {metadata['namespace']}/{metadata['name']}"
            + (f" of the release {owner}" if owner != "/" else "")
            for port in sorted(set(ports) & used)
        ]
    return found
