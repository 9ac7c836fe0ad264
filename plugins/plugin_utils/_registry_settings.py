# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Which registries containerd is told about, out of the cluster's settings."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import (
    DOCKER_HUB,
    Wrong,
    bracketed,
    split_port,
)

Json = dict[str, t.Any]

_FILES = {"ca_file": "ca", "client_certificate_file": "client_certificate", "client_key_file": "client_key"}
_WORDS = {"url", "username", "password", *_FILES}


def hosts(settings: t.Mapping[str, t.Any]) -> list[Json]:
    """One entry a registry, with name, server and endpoints: the registry on the LAN, then the upstreams."""
    mistakes: list[str] = []
    scheme = "https" if settings.get("tls") else "http"
    common = {"ca": _read("gshare_registry_ca_file", settings.get("ca_file"), mistakes)} if settings.get("tls") else {}
    found: list[Json] = []
    registry, mirror = settings.get("registry") or "", settings.get("mirror") or ""
    if registry:
        url = f"{scheme}://{registry}"
        account = {key: settings.get(key) or "" for key in ("username", "password")}
        endpoint = {"url": url, "capabilities": ["pull", "resolve", "push"], **common, **account}
        found.append({"name": registry, "server": url, "endpoints": [endpoint]})
    upstreams: dict[str, list[Json]] = {}
    if mirror:
        upstreams[DOCKER_HUB] = [{"url": f"{scheme}://{mirror}", **common}]
    host = split_port(mirror or registry)[0]
    for upstream, port in (settings.get("pull_through") or {}).items():
        upstreams.setdefault(upstream, []).append({"url": f"{scheme}://{bracketed(host)}:{port}", **common})
    for upstream, endpoints in _mapping(settings.get("mirrors"), mistakes).items():
        for number, endpoint in enumerate(endpoints if isinstance(endpoints, list) else [endpoints]):
            where = f"gshare_registry_mirrors[{upstream!r}][{number}]"
            upstreams.setdefault(str(upstream), []).append(_endpoint(where, endpoint, mistakes))
    if mistakes:
        raise Wrong(" ".join(mistakes))
    return found + [{"name": name, "endpoints": endpoints} for name, endpoints in upstreams.items()]


def _mapping(value: t.Any, mistakes: list[str]) -> t.Mapping[str, t.Any]:
    if value and not isinstance(value, dict):
        mistakes.append(
            "gshare_registry_mirrors is no mapping: write upstream: [endpoint, ...], such as docker.io: [...]."
        )
        return {}
    return value or {}


def _endpoint(where: str, value: t.Any, mistakes: list[str]) -> Json:
    options = {"url": value} if isinstance(value, str) else value
    if not isinstance(options, dict) or not options.get("url"):
        mistakes.append(f"{where} has no url: write an address, or a mapping with url.")
        return {}
    for word in sorted(set(options) - _WORDS):
        mistakes.append(f"{where} has the key {word!r}, which is none of {', '.join(sorted(_WORDS))}: correct it.")
    if bool(options.get("client_certificate_file")) != bool(options.get("client_key_file")):
        mistakes.append(f"{where} has one of client_certificate_file and client_key_file: write both.")
    found = {key: options[key] for key in ("url", "username", "password") if key in options}
    for key, name in _FILES.items():
        found[name] = _read(f"{where}.{key}", options.get(key), mistakes)
    return found


def _read(where: str, name: str | None, mistakes: list[str]) -> str:
    """A file on the controller."""
    if not name:
        return ""
    try:
        with open(os.path.expanduser(name), encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "it is no text"
        mistakes.append(f"{where} is {name}, which cannot be read here ({why}): correct the path.")
        return ""
