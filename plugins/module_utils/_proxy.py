# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""Proxies: of /etc/environment, of systemd's unit files, of a running process. Text in, plain data out: no I/O.

A drop-in carries one variable more than the proxies, with the names of those that it sets. In the environment of a
running process it tells that its proxy comes from the drop-in, also when the file is gone already.
"""

from __future__ import annotations

import re
import shlex
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._preflight import assignments

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
MARK = "GSHARE_PROXY"

_HEAD = "# Managed by gshare.cluster: the proxy of /etc/environment, which services do not read.\n[Service]\n"


def of_environment(text: str) -> dict[str, str]:
    """The proxies of /etc/environment, by their names in capitals, which count where a name is there in both cases."""
    # pam_env takes a # for a comment wherever it stands; what is not UTF-8 fits no drop-in.
    lines = [line.partition("#")[0] for line in text.encode("utf-8", "replace").decode().split("\n")]
    found = {name: value for name, value in assignments("\n".join(lines)).items() if value and name.upper() in NAMES}
    return {name: found.get(name) or small[0] for name in NAMES if (small := _any_case(found, name))}


def _any_case(found: t.Mapping[str, str], name: str) -> list[str]:
    return [value for key, value in found.items() if key.upper() == name]


def of_process(environ: str) -> dict[str, str]:
    """The proxies of a running process, out of /proc/PID/environ, and the mark."""
    pairs = [entry.partition("=")[::2] for entry in environ.split("\0")]
    return {name: value for name, value in pairs if name.upper() in NAMES or name == MARK}


def drop_in(values: t.Mapping[str, str]) -> str:
    """The text of a drop-in that gives a service these variables."""
    marked = {**values, MARK: " ".join(values)}
    return _HEAD + "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in marked.items())


def _quoted(word: str) -> str:
    """As systemd reads it: a percent sign begins a specifier, a backslash an escape."""
    for sign in ("\\", '"'):
        word = word.replace(sign, "\\" + sign)
    return '"' + word.replace("%", "%%") + '"'


def assigned(text: str) -> dict[str, str]:
    """The variables that a drop-in of ours gives."""
    words = [word for key, value in _directives(text) if key == "Environment" for word in _words(value)]
    return {name: value.replace("%%", "%") for name, value in (word.partition("=")[::2] for word in words)}


def claims(text: str, read: t.Callable[[str], str]) -> bool:
    """Whether a unit file or drop-in of someone else says which proxy the service has, if only that it has none."""
    for key, value in _directives(text):
        if key == "EnvironmentFile" and of_environment(read(value.lstrip("-"))):
            return True
        if key in ("Environment", "UnsetEnvironment"):
            names = {word.partition("=")[0].upper() for word in _words(value)}
            # An empty assignment takes back what other files set.
            if names.intersection(NAMES) or (key == "Environment" and not names):
                return True
    return False


def _directives(text: str) -> list[tuple[str, str]]:
    text = re.sub(r"^[ \t]*[#;].*\n?", "", text, flags=re.M)
    pairs = [line.partition("=") for line in text.replace("\\\n", " ").splitlines()]
    return [(key.strip(), value.strip()) for key, sign, value in pairs if sign]


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


def differs(running: t.Mapping[str, str] | None, wanted: t.Mapping[str, str]) -> bool:
    """Whether a process lacks what the drop-in gives, or still has what it gave; C(None): there is nothing to compare.

    Without a drop-in, a proxy that comes from somewhere else is not our business.
    """
    if running is None:
        return False
    return any(running.get(name) != value for name, value in wanted.items()) if wanted else MARK in running


def hide(text: str) -> str:
    """A proxy's address, or a drop-in, without the passwords in it."""
    # The last @ ends the password, which may hold others.
    return re.sub(r'((?:^|_PROXY=)(?:[\w+.-]+://)?[^:@/\s"]*:)(?!//).*@', r"\1********@", text, flags=re.M)
