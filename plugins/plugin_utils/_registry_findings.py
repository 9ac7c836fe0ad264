# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Traps in the folders of registries that somebody else has set up, each with its place and a remedy."""

from __future__ import annotations

import typing as t
from urllib.parse import urlsplit

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import HOSTS, MARK
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import DOCKER_HUB, server_of
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import TomlError, find, load

Row = dict[str, t.Any]


def findings(directory: str, tree: t.Mapping[str, str], wanted: t.Iterable[str]) -> list[Row]:
    """C(tree) has the files of the directory by their paths below it; C(wanted) are the names of our registries."""
    folders: dict[str, list[str]] = {}
    for path in tree:
        name, _slash, file = path.partition("/")
        folders.setdefault(name, []).append(file)
    rows = [*_shadows(directory, set(folders), wanted)]
    for name, files in sorted(folders.items()):
        path = f"{name}/{HOSTS}"
        if HOSTS not in files:
            rows += [
                _row(
                    "wrong_name",
                    f"{directory}/{name}/{file}",
                    None,
                    f"containerd reads no file of this name: call it {HOSTS}",
                )
                for file in files
                if file.endswith(".toml")
            ]
        elif not tree[path].startswith(MARK):
            rows += _of_a_file(f"{directory}/{path}", name, tree[path])
    return rows


def sentence(row: Row) -> str:
    place = f"{row['file']}, line {row['line']}" if row["line"] else row["file"]
    return f"{place}: {row['message']}."


def _shadows(directory: str, folders: set[str], wanted: t.Iterable[str]) -> t.Iterator[Row]:
    """The form of a name without a colon is looked for first, whatever is in it."""
    for name in wanted:
        host, colon, port = name.rpartition(":")
        other = f"{host}_{port}_"
        if colon and other in folders:
            text = f"containerd takes this folder for {name} and never looks into {directory}/{name}: remove one of the two"
            yield _row("shadowing", f"{directory}/{other}", None, text)


def _of_a_file(path: str, name: str, text: str) -> t.Iterator[Row]:
    try:
        data = load(text)
    except TomlError as exc:
        yield _row("unreadable", path, exc.line, f"containerd cannot read it and goes past it without a word: {exc}")
        return
    server = data.get("server")
    if isinstance(server, str):
        where = find(text, ("server",))
        if "://" not in server:
            yield _row("no_scheme", path, where, _no_scheme("server", server))
        elif name == DOCKER_HUB and urlsplit(server).hostname == DOCKER_HUB:
            yield _row("web_page", path, where, f"{server} is a web page and no registry: write {server_of(name)}")
    hosts = data.get("host")
    for url, table in (hosts if isinstance(hosts, dict) else {}).items():
        where = find(text, ("host", url))
        options = table if isinstance(table, dict) else {}
        if "://" not in url:
            yield _row("no_scheme", path, where, _no_scheme("host", url))
        elif urlsplit(url).path.strip("/") and not options.get("override_path"):
            if not urlsplit(url).path.rstrip("/").endswith("/v2"):
                yield _row(
                    "path",
                    path,
                    where,
                    f"containerd asks for {url.rstrip('/')}/v2/: say override_path = true if the path is complete",
                )
        if url.startswith("http://") and "skip_verify" in options:
            place = find(text, ("host", url, "skip_verify"))
            yield _row(
                "skip_verify", path, place, f"with skip_verify containerd tries https on {url} first: leave it out"
            )


def _no_scheme(key: str, value: str) -> str:
    return f"{key} {value!r} has no scheme, so that containerd takes https: write http:// or https:// before it"


def _row(name: str, file: str, line: int | None, message: str) -> Row:
    return {"name": name, "file": file, "line": line, "message": message}
