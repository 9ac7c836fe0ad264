# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""What containerd reads about registries: a folder for each, with hosts.toml and the certificates that it names.

Rules of containerd (core/remotes/docker/config/hosts.go): endpoints are tried in their order, then the server; an address
without a scheme counts as https; /v2 is put behind a path unless override_path says that it is complete; skip_verify on
an http endpoint makes it try https first.
"""

from __future__ import annotations

import base64
import json
import re
import typing as t
from dataclasses import dataclass
from urllib.parse import urlsplit

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import server_of
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import TomlError, load

HOSTS = "hosts.toml"
MARK = "# Written by gshare.cluster. What is changed here goes with the next run: change its settings instead."
ASIDE = "hosts.toml.before-gshare"
"""Where somebody else's file is kept; containerd reads hosts.toml alone."""
# containerd waits 30 s by itself, and releases before 2.1 always do.
_DIAL = "5s"


class HostsRefused(Exception):
    """What is wished for cannot be written; all mistakes in one text."""


@dataclass(frozen=True)
class File:
    """One file of a registry's folder. A secret one is for root alone and is not shown."""

    text: str
    secret: bool = False

    @property
    def shown(self) -> str:
        """The text with what is secret left out."""
        if not self.secret:
            return self.text
        if self.text.startswith(MARK):
            return re.sub(r'(Authorization = ")[^"]*', r"\1********", self.text)
        return "********\n"


@dataclass(frozen=True)
class Plan:
    """Paths are below the directory."""

    write: dict[str, File]
    remove: list[str]
    aside: list[str]


def wanted_files(registries: t.Iterable[t.Mapping[str, t.Any]], version: str) -> dict[str, File]:
    """All files of the registries that are wished for."""
    mistakes: list[str] = []
    found: dict[str, File] = {}
    for registry in registries:
        found.update(_folder(registry, version, mistakes))
    if mistakes:
        raise HostsRefused(" ".join(dict.fromkeys(mistakes)))
    return found


def plan(wanted: t.Mapping[str, File], tree: t.Mapping[str, str]) -> Plan:
    """What has to be done to a directory, whose files C(tree) holds by their paths below it."""
    ours = {path for path, text in tree.items() if path.endswith(f"/{HOSTS}") and text.startswith(MARK)}
    kept = {path for path, file in wanted.items() if _says_the_same(tree.get(path), file, path in ours)}
    write = {path: file for path, file in wanted.items() if path not in kept}
    aside = [path for path in write if path in tree and path.endswith(f"/{HOSTS}") and path not in ours]
    old = {name for path in ours for name in (path, *_certificates(path, tree[path]))}
    return Plan(write, sorted(old & set(tree) - set(wanted)), aside)


def _says_the_same(text: str | None, file: File, ours: bool) -> bool:
    if text == file.text or text is None:
        return text is not None
    if ours or not file.text.startswith(MARK):
        return False
    try:
        return load(text) == load(file.text)  # somebody else wrote it, to the same effect
    except TomlError:
        return False


def _certificates(path: str, text: str) -> t.Iterator[str]:
    """The files beside a hosts.toml of ours that it names."""
    folder = path.rpartition("/")[0]
    for host in load(text).get("host", {}).values():
        names = [host["ca"]] if "ca" in host else []
        for pair in host.get("client", []):
            names += pair
        yield from (f"{folder}/{name}" for name in names)


def _folder(registry: t.Mapping[str, t.Any], version: str, mistakes: list[str]) -> dict[str, File]:
    name, files = registry["name"], {}
    if not re.fullmatch(r"[A-Za-z0-9._:\[\]-]+", name):
        mistakes.append(f"The registry {name!r} is no HOST or HOST:PORT, as it stands in the names of images.")
        return {}
    server = registry.get("server") or server_of(name)
    lines, secret, seen = [f"server = {_quote(server)}"], False, set()
    for endpoint in registry["endpoints"]:
        url = endpoint["url"].rstrip("/")
        mistakes += [f"The endpoint {endpoint['url']!r} of {name} {text}." for text in _wrong(url, version)]
        if url in seen:
            continue
        seen.add(url)
        table, beside = _endpoint(endpoint, url)
        if url != server:
            # Another one serves where this one is away, so that is found out soon.
            table.append(f'dial_timeout = "{_DIAL}"')
        lines += ["", f"[host.{_quote(url)}]", *(f"  {line}" for line in table)]
        files.update({f"{name}/{path}": file for path, file in beside.items()})
        if endpoint.get("username"):
            account = base64.b64encode(f"{endpoint['username']}:{endpoint.get('password') or ''}".encode()).decode()
            lines += [f"  [host.{_quote(url)}.header]", f'    Authorization = "Basic {account}"']
            secret = True
    files[f"{name}/{HOSTS}"] = File("\n".join([MARK, *lines]) + "\n", secret)
    return files


def _endpoint(endpoint: t.Mapping[str, t.Any], url: str) -> tuple[list[str], dict[str, File]]:
    """The lines of one endpoint's table, and the files beside them."""
    lines = [f"capabilities = {json.dumps(list(endpoint.get('capabilities') or ('pull', 'resolve')))}"]
    stem, beside = re.sub(r"[^A-Za-z0-9.-]+", "_", url.partition("://")[2]), {}
    if urlsplit(url).path:
        lines.append("override_path = true")
    if endpoint.get("ca"):
        beside[f"{stem}.ca.crt"] = File(_text(endpoint["ca"]))
        lines.append(f"ca = {_quote(f'{stem}.ca.crt')}")
    if endpoint.get("client_certificate"):
        pair = (f"{stem}.client.cert", f"{stem}.client.key")
        beside[pair[0]] = File(_text(endpoint["client_certificate"]))
        beside[pair[1]] = File(_text(endpoint.get("client_key") or ""), secret=True)
        lines.append(f"client = [[{_quote(pair[0])}, {_quote(pair[1])}]]")
    return lines, beside


def _wrong(url: str, version: str) -> t.Iterator[str]:
    if not re.match(r"https?://[^/]+", url):
        yield "has no scheme: write http:// or https:// before it"
        return
    parts = urlsplit(url)
    if parts.query or parts.fragment or parts.username:
        yield "has more than scheme, host, port and path: leave the rest out, an account is a setting of its own"
    if parts.path and "v2" not in parts.path.split("/"):
        yield (
            "has a path that containerd would take as it is: write it with /v2, behind it as in .../PATH/v2, or before "
            "the project as in .../v2/PROJECT"
        )
    if "[" in parts.netloc and int(version.partition(".")[0] or 0) < 2:
        yield (
            f"is an IPv6 address, which containerd {version} cannot read in hosts.toml: give it a name, or install "
            "containerd 2"
        )


def _quote(text: str) -> str:
    """A basic string of TOML, which JSON's is as well."""
    return json.dumps(text)


def _text(pem: str) -> str:
    return pem.rstrip("\n") + "\n"
