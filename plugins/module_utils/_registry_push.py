# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Puts a very small image into a registry, takes it away again, and tells which image a tag is, over the registry's
HTTP API (version 2).

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.client
import io
import json
import ssl
import tarfile
import typing as t

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
_OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEXES = ("application/vnd.docker.distribution.manifest.list.v2+json", "application/vnd.oci.image.index.v1+json")
_SECONDS = 10.0


class RegistryError(Exception):
    """The registry refused, or did not answer."""


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def login(user: str, password: str) -> str:
    """An account as HTTP's Basic authentication and files of accounts have it."""
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def small_image(text: str, architecture: str) -> tuple[bytes, bytes, bytes]:
    """Layer, configuration and manifest of an image with one file, which holds the text; it has no program."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo("probe.txt")
        entry.size = len(text.encode())
        archive.addfile(entry, io.BytesIO(text.encode()))
    layer = gzip.compress(tar.getvalue(), mtime=0)
    config = _json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [digest(tar.getvalue())]},
        }
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": _CONFIG, "size": len(config), "digest": digest(config)},
        "layers": [{"mediaType": _LAYER, "size": len(layer), "digest": digest(layer)}],
    }
    return layer, config, _json(manifest)


def manifest_for(index: t.Mapping[str, t.Any], architecture: str = "amd64") -> dict[str, t.Any]:
    """The entry of an index that a Linux machine takes; where none says what it is for, the first."""
    entries = index["manifests"]
    for entry in entries:
        platform = entry.get("platform") or {}
        if platform.get("os") == "linux" and platform.get("architecture") == architecture:
            return dict(entry)
    if any(entry.get("platform") for entry in entries):
        raise KeyError(f"no image for linux/{architecture}")
    return dict(entries[0])


def _json(value: t.Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


class Registry:
    """Requests to one registry. C(authority) is PEM text; empty for those that the machine trusts."""

    def __init__(self, address: str, tls: bool, authority: str = "", user: str = "", password: str = "") -> None:
        self.address = address
        self._tls = tls
        self._authority = authority
        self._headers = {}
        if user:
            self._headers["Authorization"] = f"Basic {login(user, password)}"

    def push(self, repository: str, tag: str, image: tuple[bytes, bytes, bytes]) -> str:
        """The digest of the manifest under which the image is there now."""
        layer, config, manifest = image
        for blob in (layer, config):
            self._upload(repository, blob)
        path = f"/v2/{repository}/manifests/{tag}"
        self._request("PUT", path, manifest, {"Content-Type": _MANIFEST}, (201,))
        return digest(manifest)

    def delete(self, repository: str, manifest: str) -> None:
        """Take a manifest away; a registry that does not allow it keeps some hundred bytes."""
        self._request("DELETE", f"/v2/{repository}/manifests/{manifest}", good=(202, 404, 405))

    def repositories(self) -> list[str]:
        _answer, text = self._request("GET", "/v2/_catalog?n=1000", good=(200,))
        return list(json.loads(text).get("repositories") or [])

    def config_digest(self, repository: str, tag: str, architecture: str = "amd64") -> str:
        """The digest of the configuration of the image that a tag is, which tells images apart; empty if none."""
        accept = {"Accept": ", ".join((_MANIFEST, _OCI_MANIFEST, *_INDEXES))}
        path = f"/v2/{repository}/manifests/"
        answer, text = self._request("GET", path + tag, headers=accept, good=(200, 404))
        try:
            if answer.status == 200 and "manifests" in json.loads(text):
                wanted = manifest_for(json.loads(text), architecture)["digest"]
                answer, text = self._request("GET", path + wanted, headers=accept, good=(200, 404))
            return str(json.loads(text)["config"]["digest"]) if answer.status == 200 else ""
        except (KeyError, IndexError, TypeError, ValueError):
            # An image of another platform, or none at all: not the one that is asked for.
            return ""

    def _upload(self, repository: str, blob: bytes) -> None:
        answer, _text = self._request("POST", f"/v2/{repository}/blobs/uploads/", good=(202,))
        place = answer.getheader("Location") or ""
        if "://" in place:
            place = "/" + place.split("://", 1)[1].partition("/")[2]
        mark = "&" if "?" in place else "?"
        headers = {"Content-Type": "application/octet-stream"}
        self._request("PUT", f"{place}{mark}digest={digest(blob)}", blob, headers, (201,))

    def _request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: t.Mapping[str, str] | None = None,
        good: tuple[int, ...] = (),
    ) -> tuple[http.client.HTTPResponse, bytes]:
        try:
            connection = self._connect()
            connection.request(method, path, body=body, headers={**self._headers, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
        except (OSError, http.client.HTTPException) as exc:
            raise RegistryError(str(exc) or type(exc).__name__) from exc
        if answer.status not in good:
            raise RegistryError(f"{method} {path.partition('?')[0]}: {answer.status} {answer.reason}")
        return answer, text

    def _connect(self) -> http.client.HTTPConnection:
        if not self._tls:
            return http.client.HTTPConnection(self.address, timeout=_SECONDS)
        context = ssl.create_default_context(cadata=self._authority or None)
        return http.client.HTTPSConnection(self.address, timeout=_SECONDS, context=context)
