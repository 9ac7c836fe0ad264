# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How skopeo and docker bring an image into a registry, and what they say when they cannot.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._go_log import reason
from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import login

_PLATFORM = ("--override-os", "linux", "--override-arch", "amd64")

# A program, arguments: status, output, errors.
Run = t.Callable[[t.Sequence[str]], "tuple[int, bytes, bytes]"]


class PushError(Exception):
    """What a program said, without the rest of its line."""


class Destination(t.NamedTuple):
    """The registry as programs are told of it; C(folder) has auth.json or config.json, and ca.crt, where needed."""

    name: str
    tls: bool
    folder: str
    account: bool
    authority: bool


def account_file(registry: str, username: str, password: str, own: str = "") -> str:
    """The user's file of accounts (JSON, or nothing) with that of the registry."""
    config = json.loads(own or "{}")
    config.setdefault("auths", {})[registry] = {"auth": login(username, password)}
    if "credsStore" in config or registry in config.get("credHelpers", {}):
        # docker would ask its helper and not look into the file.
        config.setdefault("credHelpers", {})[registry] = ""
    return json.dumps(config)


class Skopeo:
    def __init__(self, program: str, run: Run) -> None:
        self._start = [program, *_PLATFORM]
        self._run = run

    def config(self, source: str) -> str:
        """The digest of the configuration of an image in a registry."""
        return "sha256:" + hashlib.sha256(self._ask("inspect", "--config", "--raw", f"docker://{source}")).hexdigest()

    def push(self, source: str, transport: str, to: Destination) -> None:
        options = [f"--dest-tls-verify={'true' if to.tls else 'false'}"]
        options += ["--dest-authfile", f"{to.folder}/auth.json"] if to.account else []
        options += ["--dest-cert-dir", to.folder] if to.authority else []
        origin = f"{transport}:{source}" if transport else f"docker://{source}"
        self._ask("copy", *options, origin, f"docker://{to.name}")

    def _ask(self, *arguments: str) -> bytes:
        status, output, errors = self._run([*self._start, *arguments])
        if status:
            raise PushError(reason(errors.decode("utf-8", "replace")))
        return output


class Docker:
    def __init__(self, program: str, run: Run) -> None:
        self._program = program
        self._run = run

    def config(self, source: str) -> str:
        return docker_config(self._ask("manifest", "inspect", "--verbose", source))

    def push(self, source: str, transport: str, to: Destination) -> None:
        if transport == "oci-archive":
            raise PushError("docker does not read OCI archives; install skopeo, or write the archive by docker save")
        if transport:
            source = loaded(self._ask("load", "--input", source).decode("utf-8", "replace"))
        else:
            self._ask("pull", "--platform", "linux/amd64", source)
        self._ask("tag", source, to.name)
        self._ask(*(["--config", to.folder] if to.account else []), "push", to.name)

    def _ask(self, *arguments: str) -> bytes:
        status, output, errors = self._run([self._program, *arguments])
        if status:
            raise PushError(docker_reason(errors.decode("utf-8", "replace")))
        return output


def docker_config(text: bytes) -> str:
    """The digest of the configuration, out of what C(docker manifest inspect --verbose) prints."""
    found = json.loads(text)
    entries = found if isinstance(found, list) else [found]
    for entry in entries:
        platform = entry.get("Descriptor", {}).get("platform") or {}
        if len(entries) == 1 or (platform.get("os"), platform.get("architecture")) == ("linux", "amd64"):
            manifest = entry.get("SchemaV2Manifest") or entry.get("OCIManifest") or {}
            if "config" in manifest:
                return str(manifest["config"]["digest"])
    raise PushError("it has no image for linux/amd64")


def docker_reason(text: str) -> str:
    """The reason, with what to do where the daemon's own settings are in the way."""
    said = reason(text)
    if "server gave HTTP response to HTTPS client" in said:
        return (
            'docker speaks HTTPS to it; name it in "insecure-registries" of /etc/docker/daemon.json and restart '
            "docker, or install skopeo"
        )
    if "x509" in said:
        return f"{said}; put its authority into /etc/docker/certs.d/REGISTRY/ca.crt, or install skopeo"
    return said


def loaded(text: str) -> str:
    """The image that C(docker load) names, by its name or by its identity."""
    found = re.findall(r"(?m)^Loaded image(?: ID)?: (\S+)", text)
    if not found:
        raise PushError(f"docker load names no image: {reason(text)}")
    return str(found[-1])
