# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads which image is in an archive, as C(docker save) or skopeo writes one.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import manifest_for

# The name with the registry, as containerd writes it, before what may be a tag alone.
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")

Json = dict[str, t.Any]
Read = t.Callable[[str], bytes]


class ArchiveError(Exception):
    """It holds no image, or several."""


class Archive(t.NamedTuple):
    """The transport of skopeo, the image's name (empty if it has none) and the digest of its configuration."""

    transport: str
    name: str
    config: str


def read(path: str) -> Archive:
    try:
        with tarfile.open(path) as tar:
            names = {name[2:] if name.startswith("./") else name: name for name in tar.getnames()}

            def member(name: str) -> bytes:
                found = tar.extractfile(names[name])
                return found.read() if found else b""

            # docker save writes both; skopeo's reader of Docker's form knows its names.
            if "manifest.json" in names:
                return docker(member)
            if "index.json" in names:
                return oci(member)
    except (OSError, EOFError, tarfile.TarError) as exc:
        raise ArchiveError(getattr(exc, "strerror", None) or str(exc)) from exc
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as exc:
        raise ArchiveError(f"its list of images cannot be understood ({exc!r})") from exc
    raise ArchiveError("there is no image in it (neither manifest.json nor index.json)")


def docker(member: Read) -> Archive:
    entry = _only(json.loads(member("manifest.json")))
    config = "sha256:" + hashlib.sha256(member(entry["Config"])).hexdigest()
    return Archive("docker-archive", next(iter(entry.get("RepoTags") or []), ""), config)


def oci(member: Read) -> Archive:
    entry = _only(json.loads(member("index.json"))["manifests"])
    notes = entry.get("annotations") or {}
    name = next((notes[key] for key in _NAMES if set(notes.get(key, "")) & set(":/")), "")
    manifest: Json = json.loads(member(_blob(entry)))
    if "manifests" in manifest:
        manifest = json.loads(member(_blob(manifest_for(manifest))))
    return Archive("oci-archive", name, manifest["config"]["digest"])


def _blob(entry: Json) -> str:
    return "blobs/" + entry["digest"].replace(":", "/")


def _only(entries: list[Json]) -> Json:
    if len(entries) != 1:
        raise ArchiveError(f"it holds {len(entries)} images; write an archive for each")
    return entries[0]
