# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""What stands in containerd's directory of registries without the effect that its owner expects."""

from __future__ import annotations

import re
import typing as t
import urllib.parse

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import FILE, Tree
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import (
    CATCH_ALL,
    DOCKER,
    DOCKER_SERVER,
    first_series,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import Path, TomlError, find, load

_PAGES = ("docker.io", "www.docker.io", "index.docker.io", "hub.docker.com")
_TLS = ("skip_verify", "ca", "client")

Rows = t.Iterator[dict[str, t.Any]]


def findings(
    directory: str, tree: Tree, wanted: t.Collection[str], version: str | None = None
) -> list[dict[str, t.Any]]:
    """Each with file, line and a sentence that ends with the remedy; C(wanted) are those that get a file of ours."""
    found: list[dict[str, t.Any]] = []
    for folder in sorted({*tree.folders, *wanted}):
        found += _shadowed(directory, tree, folder)
        if folder in wanted:
            continue
        entry = tree.files.get(f"{folder}/{FILE}")
        if entry is None:
            found += _without_file(directory, tree, folder)
        elif not entry.ours:
            found += _foreign(f"{directory}/{folder}/{FILE}", folder, entry.text or "", first_series(version))
    return found


def _finding(name: str, file: str, line: int | None, message: str) -> dict[str, t.Any]:
    where = f"{file}, line {line}" if line else file
    return {"name": name, "file": file, "line": line, "message": f"{where}: {message}"}


def underscored(name: str) -> str:
    """The name under which containerd looks first: HOST_PORT_ for HOST:PORT."""
    host, colon, port = name.rpartition(":")
    return f"{host}_{port}_" if colon and host else name


def _shadowed(directory: str, tree: Tree, name: str) -> Rows:
    first = underscored(name)
    if first != name and first in tree.folders:
        text = f"containerd reads this instead of {directory}/{name}; remove the directory {directory}/{first}."
        yield _finding("shadowed", f"{directory}/{first}", None, text)


def _without_file(directory: str, tree: Tree, folder: str) -> Rows:
    names = tree.names(folder)
    if any(name.endswith((".crt", ".cert")) for name in names):
        return  # Docker's layout, which containerd reads too
    wrong = [name for name in names if name.lower() in ("host.toml", "host.tml", "hosts.tml", "hosts.toml", "hosts")]
    if wrong:
        text = f"containerd does not read a file of this name; rename it to {FILE}."
        yield _finding("wrong_name", f"{directory}/{folder}/{wrong[0]}", None, text)
    else:
        text = f"it has no {FILE}, so nothing is read from it, nor from {CATCH_ALL}; remove it, or write the file."
        yield _finding("no_hosts_file", f"{directory}/{folder}", None, text)


def _foreign(file: str, folder: str, text: str, old: bool) -> Rows:
    try:
        data = load(text)
    except TomlError as exc:
        yield _finding(
            "not_toml", file, exc.line, f"not valid TOML ({exc}), so containerd goes upstream; correct it by hand."
        )
        return
    server, hosts = data.get("server"), data.get("host")
    if isinstance(server, str) and server:
        yield from _address(file, text, ("server",), server, data)
        if folder == DOCKER and urllib.parse.urlsplit(server).hostname in _PAGES:
            line = find(text, ("server",))
            yield _finding("wrong_server", file, line, f"{server} is a web page, no registry; write {DOCKER_SERVER}.")
    if old and text.strip() and not isinstance(hosts, dict):
        yield _finding("no_host_table", file, 1, "containerd 1.x reads no file without a [host] table; add one.")
    for url, settings in hosts.items() if isinstance(hosts, dict) else []:
        if old and re.search(r"[][]", url):
            message = f"containerd 1.x cannot read {url} there, nor the rest of the file; use a name instead."
            yield _finding("ipv6_unreadable", file, find(text, ("host", url)), message)
        yield from _address(file, text, ("host", url), url, settings if isinstance(settings, dict) else {})


def _address(file: str, text: str, path: Path, url: str, settings: dict[str, t.Any]) -> Rows:
    line = find(text, path)
    if not re.match("https?://", url):
        message = f"'{url}' has no scheme, so containerd takes https; write http://{url} or https://{url}."
        yield _finding("no_scheme", file, line, message)
        return
    parts = urllib.parse.urlsplit(url)
    way = parts.path.rstrip("/")
    if way and not way.endswith("/v2") and not settings.get("override_path"):
        message = f"containerd asks {url} for {way}/v2/...; add override_path = true, so that it asks for {way}/..."
        yield _finding("no_override_path", file, line, message)
    tls = [key for key in _TLS if settings.get(key)]
    if tls and parts.scheme == "http" and not parts.netloc.endswith(":80"):
        place = find(text, (*path, tls[0]) if path[0] == "host" else (tls[0],))
        message = f"{tls[0]} at {url} makes containerd 1.7 and later try HTTPS first; remove the line."
        yield _finding("tls_on_http", file, place or line, message)
