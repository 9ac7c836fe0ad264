# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm charts and their repositories, as the lab's upstream serves them.

A stand-in chart gets a schema made from the list of the real chart's value keys (charts/keys), so that it takes exactly
those and refuses others. Helm by itself ignores an unknown key without a word.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import typing as t
from pathlib import Path

from nodelab.deb import MTIME
from nodelab.errors import LabError
from nodelab.paths import LAB_DIR

CHARTS = LAB_DIR / "charts"
KEYS = CHARTS / "keys"
OPEN = (
    "affinity lifecycle livenessProbe managedNodeSelector matchLabels nfd nodeSelector nvidiaNodeSelector"
    " readinessProbe resources seccompProfile securityContext updateStrategy"
)
"""Parts of a key below which a chart takes anything: it passes them on to Kubernetes or to another chart."""

_ANY = {"type": ["string", "number", "boolean", "null"]}
_LEAVES: dict[str, dict[str, t.Any]] = {
    "map": {"type": ["object", "null"]},
    "list": {"type": ["array", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "int": {"type": ["number", "null"]},
    "str": {"type": ["string", "number", "null"]},
    "NoneType": {},
}


def parse_keys(text: str) -> dict[str, str]:
    """Return the type of each key in a list of lines "KEY  TYPE"."""
    found = {}
    for line in text.splitlines():
        if line.strip():
            key, _space, kind = line.partition("  ")
            found[key.strip()] = kind.strip()
    return found


def schema(keys: t.Mapping[str, str]) -> dict[str, t.Any]:
    """Return a JSON schema that takes these keys and no others, except below the parts that are open."""
    root = _closed()
    for key, kind in keys.items():
        parts = key.split(".")
        node = root
        for number, part in enumerate(parts):
            properties = node["properties"]
            if number == len(parts) - 1:
                properties[part] = dict(_LEAVES.get(kind, _ANY))
            elif part in OPEN.split():
                properties[part] = dict(_LEAVES["map"])
                break
            else:
                node = properties.setdefault(part, _closed())
    return {"$schema": "http://json-schema.org/draft-07/schema#", **root}


def package(folder: Path, *, extra: t.Mapping[str, bytes] | None = None) -> tuple[str, bytes]:
    """Return file name and content of the chart in ``folder``: what `helm package` makes, but always the same bytes."""
    about = metadata(folder)
    files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    files.update(extra or {})
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(files, key=lambda name: (name != "Chart.yaml", name)):
            info = tarfile.TarInfo(f"{about['name']}/{name}")
            info.size, info.mode, info.mtime = len(files[name]), 0o644, MTIME
            tar.addfile(info, io.BytesIO(files[name]))
    return f"{about['name']}-{about['version']}.tgz", gzip.compress(raw.getvalue(), mtime=MTIME)


def metadata(folder: Path) -> dict[str, str]:
    """Return the scalar lines at the top level of the chart's Chart.yaml, which is all that the index needs."""
    text = (folder / "Chart.yaml").read_text(encoding="utf-8")
    found = dict(re.findall(r"(?m)^(\w+):[ \t]+(\S.*?)[ \t]*$", text))
    values = {key: value.strip("\"'") for key, value in found.items()}
    if not {"apiVersion", "name", "version"} <= set(values):
        raise LabError(f"{folder}/Chart.yaml has no apiVersion, name or version.")
    return values


def index(charts: t.Sequence[tuple[t.Mapping[str, str], str, bytes]]) -> str:
    """Return index.yaml for charts given as (metadata, file name, content). JSON is YAML too."""
    entries: dict[str, list[dict[str, t.Any]]] = {}
    for about, file, content in charts:
        entries.setdefault(about["name"], []).append(
            {
                **about,
                "created": "2026-01-01T00:00:00Z",
                "digest": hashlib.sha256(content).hexdigest(),
                "urls": [file],
            }
        )
    return json.dumps(
        {"apiVersion": "v1", "entries": entries, "generated": "2026-01-01T00:00:00Z"}, indent=1, sort_keys=True
    )


def write_repository(root: Path, folders: t.Sequence[tuple[Path, str]]) -> None:
    """Write a chart repository; ``folders`` are charts with the name of their list of keys, empty for a real chart."""
    root.mkdir(parents=True, exist_ok=True)
    offered = []
    for folder, keys in folders:
        extra = {}
        if keys:
            text = (KEYS / f"{keys}.keys").read_text(encoding="utf-8")
            extra["values.schema.json"] = json.dumps(schema(parse_keys(text)), indent=1).encode()
        name, content = package(folder, extra=extra)
        (root / name).write_bytes(content)
        offered.append((metadata(folder), name, content))
    (root / "index.yaml").write_text(index(offered), encoding="utf-8")


def _closed() -> dict[str, t.Any]:
    return {"type": ["object", "null"], "properties": {}, "additionalProperties": False}
