# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""The registries that containerd is to know, and every mistake in how they are named."""

from __future__ import annotations

import re
import typing as t
import urllib.parse
from dataclasses import dataclass, replace

DOCKER = "docker.io"
DOCKER_SERVER = "https://registry-1.docker.io"
CATCH_ALL = "_default"
CAPABILITIES = ("pull", "resolve", "push")
# Images are never named after these; containerd looks for docker.io.
_ALIASES = ("index.docker.io", "registry-1.docker.io", "registry.hub.docker.com", "hub.docker.com")
_PORTS = {"http": 80, "https": 443}
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_NAME = re.compile(rf"{_HOST}(?::[0-9]{{1,5}})?")
_URL = re.compile(rf"(?P<scheme>https?)://(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/[!-~]*)?", re.I)


class RegistriesRefused(Exception):
    """What is asked for cannot be done; the message has every mistake with its remedy."""

    def __init__(self, mistakes: t.Sequence[str]) -> None:
        super().__init__(" ".join(mistakes))
        self.mistakes = list(mistakes)


@dataclass(frozen=True)
class Endpoint:
    """One address that serves a registry's images."""

    url: str
    ca: str = ""
    client_certificate: str = ""
    client_key: str = ""
    username: str = ""
    password: str = ""
    capabilities: tuple[str, ...] = ("pull", "resolve")

    @property
    def has_path(self) -> bool:
        return bool(urllib.parse.urlsplit(self.url).path)


@dataclass(frozen=True)
class Registry:
    """A registry as images name it, and what to ask for its images, in this order."""

    name: str
    plain_http: bool = False
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def server(self) -> str:
        """What containerd asks at last; empty for each image's own registry."""
        if self.name == CATCH_ALL:
            return ""
        if self.name == DOCKER:
            return DOCKER_SERVER
        return canonical(f"{'http' if self.plain_http else 'https'}://{self.name}")


def canonical(url: str) -> str:
    """The same address always in the same letters: no port that the scheme has anyway, no /v2 that containerd adds."""
    found = _URL.fullmatch(url)
    if not found:
        return url
    scheme, host = found["scheme"].lower(), found["host"].lower()
    port = f":{int(found['port'])}" if found["port"] and int(found["port"]) != _PORTS[scheme] else ""
    path = re.sub("/+", "/", found["path"] or "").rstrip("/")
    return f"{scheme}://{host}{port}{'' if path == '/v2' else path}"


def wanted(registries: t.Iterable[t.Mapping[str, t.Any]], version: str | None = None) -> list[Registry]:
    """The module's option as registries, each endpoint once; all mistakes at once otherwise."""
    found = [_registry(entry) for entry in registries]
    problems = mistakes(found, version)
    if problems:
        raise RegistriesRefused(problems)
    return found


def _registry(entry: t.Mapping[str, t.Any]) -> Registry:
    name, plain = str(entry["name"]), bool(entry.get("plain_http"))
    registry = Registry(name, plain)
    endpoints: dict[str, Endpoint] = {}
    for one in entry.get("endpoints") or []:
        given = {key: value for key, value in one.items() if value}
        capabilities = tuple(given.pop("capabilities", Endpoint.capabilities))
        endpoint = Endpoint(**{**given, "url": canonical(given.get("url", ""))}, capabilities=capabilities)
        # Twice the same table is no TOML, and containerd would go upstream without a word.
        endpoints.setdefault(endpoint.url, endpoint)
    if not endpoints and registry.server:
        # containerd 1.x cannot read a file without a host table.
        endpoints[registry.server] = Endpoint(registry.server)
    return replace(registry, endpoints=tuple(endpoints.values()))


def mistakes(registries: t.Sequence[Registry], version: str | None = None) -> list[str]:
    """One sentence each."""
    found = []
    names = [registry.name for registry in registries]
    for name in dict.fromkeys(names):
        found += _of_name(name)
        if names.count(name) > 1:
            found.append(f"Registry {name} is named more than once; put all its endpoints into one entry.")
    for registry in registries:
        if registry.name == CATCH_ALL and not registry.endpoints:
            found.append(f"Registry {CATCH_ALL} has no endpoints; name at least one, or take it out.")
        for endpoint in registry.endpoints:
            found += [f"Registry {registry.name}: {problem}" for problem in _of_endpoint(endpoint, version)]
    return found


def _of_name(name: str) -> list[str]:
    if name == CATCH_ALL:
        return []
    if name in _ALIASES:
        return [f"Registry {name}: containerd looks for Docker Hub's images under {DOCKER}; write {DOCKER}."]
    if not _NAME.fullmatch(name):
        return [f"Registry '{name}' is not named as images name it; write HOST or HOST:PORT, without http:// and path."]
    if not re.search(r"[.:]", name) and name != "localhost":
        return [f"Registry {name}: to containerd that is a folder of Docker Hub; write it with its domain or port."]
    return []


def _of_endpoint(endpoint: Endpoint, version: str | None) -> list[str]:
    url = endpoint.url
    if "@" in url:
        return ["an endpoint has a user in its address; put it into username and password."]
    parts = _URL.fullmatch(url)
    if not parts and "://" not in url:
        return [f"endpoint '{url}' has no scheme; write http://{url} or https://{url}."]
    if not parts or re.search("[?#]", parts["path"] or "") or not 0 < int(parts["port"] or 1) < 65536:
        return [f"endpoint '{url}' is not an address; write http://HOST:PORT or https://HOST:PORT."]
    found = []
    if endpoint.has_path and "v2" not in parts["path"].split("/"):
        found.append(
            f"endpoint {url} has a path without /v2, which containerd asks for as it is; "
            f"write {url.removesuffix(parts['path'])}/v2{parts['path']}, or what the registry's manual names."
        )
    if "[" in url and first_series(version):
        found.append(
            f"endpoint {url}: containerd {version} cannot read an IPv6 address there (2.0 and later can); "
            "give it a name in DNS or /etc/hosts."
        )
    return found + _of_secrets(endpoint)


def _of_secrets(endpoint: Endpoint) -> list[str]:
    found = []
    url = endpoint.url
    if url.startswith("http://") and (endpoint.ca or endpoint.client_certificate or endpoint.client_key):
        found.append(f"endpoint {url} has a certificate, but speaks plain HTTP; write https:// or leave it out.")
    for key in ("ca", "client_certificate", "client_key"):
        if getattr(endpoint, key) and "-----BEGIN " not in getattr(endpoint, key):
            found.append(f"endpoint {url}: {key} is not PEM text; it begins with -----BEGIN.")
    if bool(endpoint.client_certificate) != bool(endpoint.client_key):
        found.append(f"endpoint {url}: client_certificate and client_key go together; give both.")
    if bool(endpoint.username) != bool(endpoint.password):
        found.append(f"endpoint {url}: username and password go together; give both.")
    if ":" in endpoint.username:
        found.append(f"endpoint {url}: a username cannot hold a colon.")
    unknown = [name for name in endpoint.capabilities if name not in CAPABILITIES]
    if unknown:
        found.append(f"endpoint {url}: no capability is called {unknown[0]}; there are {', '.join(CAPABILITIES)}.")
    return found


def first_series(version: str | None) -> bool:
    """containerd 1.x reads TOML with a library that stops at the first bracket of a table's name."""
    return bool(version) and str(version).split(".", maxsplit=1)[0] in ("0", "1")
