# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the archive for whoever is to help says of itself: plain data in, text out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact


def collected(gathered: dict[str, t.Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Files by name, and the machines that told nothing, with the reason."""
    files: dict[str, str] = {}
    silent = {}
    for host, result in gathered.items():
        found = (result or {}).get("files")
        if not found:
            silent[host] = redact(str((result or {}).get("msg") or "it was not asked"))
            continue
        files |= {f"{host.replace('/', '_')}/{name}": text for name, text in found.items()}
    return files, silent


def readme(gathered: t.Mapping[str, t.Any], silent: t.Mapping[str, str], when: str) -> str:
    """What is missing, by machine and file, with the reason."""
    lines = [
        f"Gathered {when} by gshare.cluster.support.",
        "What looked like a password, a key or a token says REDACTED. Look through it before you give it away.",
        "",
    ]
    for host, result in gathered.items():
        if host in silent:
            lines.append(f"{host}: nothing, {silent[host]}")
            continue
        lines.append(f"{host}: see its folder")
        lines += [f"  {name}: {reason}" for name, reason in sorted((result.get("problems") or {}).items())]
    return "\n".join([*lines, ""])


def sentence(path: str, size: int, count: int, machines: int, silent: t.Mapping[str, str]) -> str:
    """What is shown at the end; C(size) in bytes, C(count) of files."""
    told = machines - len(silent)
    lines = [
        f"{path}: {-(-size // 1024)} KiB, {count} files of {told} of {machines} machines and of this one: "
        "versions, configurations, the ends of journals, nodes and pods.",
        *(f"{host} told nothing: {reason}" for host, reason in silent.items()),
        "Passwords, keys and tokens were taken out; look through it all the same before you give it away.",
    ]
    return "\n" + "\n".join(lines) + "\n"
