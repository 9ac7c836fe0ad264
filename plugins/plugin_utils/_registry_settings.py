# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""The settings of the whole cluster about registries, as the module containerd_hosts takes them."""

from __future__ import annotations

import os
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.gshare.cluster.plugins.plugin_utils import _registry_wishes
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_services import bracketed, split_port
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import (
    CAPABILITIES,
    DOCKER,
    RegistriesRefused,
)

# Keys of an endpoint, and what of it is in a file on the controller.
_PLAIN = ("url", "username", "password")
_FILES = {
    "ca_file": "ca",
    "client_certificate_file": "client_certificate",
    "client_key_file": "client_key",
}
_EXAMPLE = "{quay.io: ['https://mirror.example.net']}"


class Settings:
    """Reads the variables; mistakes come together at the end."""

    def __init__(
        self,
        address: t.Any = "",
        mirror: t.Any = "",
        mirrors: t.Any = None,
        tls: t.Any = False,
        ca_file: t.Any = "",
        pull_through: t.Any = None,
        username: t.Any = "",
        password: t.Any = "",
    ) -> None:
        self.mistakes: list[str] = []
        self.registries: dict[str, dict[str, t.Any]] = {}
        tls = self._is_on("gshare_registry_tls", tls)
        scheme = "https" if tls else "http"
        ca = {"ca_file": ca_file} if tls and ca_file else {}
        if self._is_address("gshare_local_registry", address):
            registry = self._registry(address)
            registry["plain_http"] = not tls
            account = {"username": username, "password": password} if username or password else {}
            registry["endpoints"] += self._endpoints(
                "gshare_registry_ca_file",
                [{"url": f"{scheme}://{address}", **ca, **account}],
                capabilities=list(CAPABILITIES),
            )
        if self._is_address("gshare_local_registry_mirror", mirror):
            found = self._endpoints("gshare_registry_ca_file", [{"url": f"{scheme}://{mirror}", **ca}])
            self._registry(DOCKER)["endpoints"] += found
        host = bracketed(split_port(str(mirror or address))[0])
        for name, port in (pull_through if isinstance(pull_through, dict) else {}).items():
            found = self._endpoints("gshare_registry_ca_file", [{"url": f"{scheme}://{host}:{port}", **ca}])
            self._registry(str(name))["endpoints"] += found
        if not isinstance(mirrors or {}, dict):
            self.mistakes.append(f"gshare_registry_mirrors is no dictionary; write it as {_EXAMPLE}.")
            return
        for name, endpoints in (mirrors or {}).items():
            found = self._endpoints(f"gshare_registry_mirrors, {name}", endpoints)
            self._registry(str(name))["endpoints"] += found

    def _registry(self, name: str) -> dict[str, t.Any]:
        return self.registries.setdefault(name, {"name": name, "plain_http": False, "endpoints": []})

    def _is_on(self, variable: str, value: t.Any) -> bool:
        try:
            return bool(boolean(value))
        except TypeError:
            self.mistakes.append(f"{variable} is {value!r}; write true or false.")
            return False

    def _is_address(self, variable: str, value: t.Any) -> bool:
        if not value:
            return False
        if isinstance(value, str) and "/" not in value:
            return True
        bare = str(value).split("://", maxsplit=1)[-1].partition("/")[0]
        self.mistakes.append(
            f"{variable} is {value!r}; write {bare or 'HOST:PORT'}, gshare_registry_tls chooses between http and https."
        )
        return False

    def _endpoints(self, where: str, values: t.Any, **more: t.Any) -> list[dict[str, t.Any]]:
        if not isinstance(values, list) or not values:
            self.mistakes.append(f"{where}: write a list of endpoints, as in {_EXAMPLE}.")
            return []
        found = []
        for number, value in enumerate(values, start=1):
            endpoint = self._endpoint(f"{where}, endpoint {number}", value)
            if endpoint:
                found.append({**endpoint, **more})
        return found

    def _endpoint(self, where: str, value: t.Any) -> dict[str, t.Any] | None:
        if isinstance(value, str):
            return {"url": value}
        if not isinstance(value, dict) or not value.get("url"):
            self.mistakes.append(f"{where}: write an address such as https://HOST:PORT, or a dictionary with url.")
            return None
        endpoint = {}
        for key, item in value.items():
            # A value may be a password, so it is in no message.
            if key not in _PLAIN and key not in _FILES:
                self.mistakes.append(f"{where}: there is no key {key}; there are {', '.join([*_PLAIN, *_FILES])}.")
            elif not isinstance(item, str):
                self.mistakes.append(f"{where}: {key} is no text; put it in quotes.")
            elif key in _PLAIN:
                endpoint[key] = item
            else:
                endpoint[_FILES[key]] = self._read(f"{where}, {key}", item)
        return endpoint

    def _read(self, where: str, path: str) -> str:
        """A file on the controller; empty, and a mistake, if it cannot be."""
        full = os.path.expanduser(path)
        if not os.path.isabs(full):
            self.mistakes.append(f"{where}: {path} is not absolute; write {{{{ inventory_dir }}}}/{path} or the like.")
            return ""
        try:
            with open(full, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as exc:
            reason = exc.strerror if isinstance(exc, OSError) else "not a text"
            self.mistakes.append(f"{where}: {path} cannot be read on the controller ({reason}); correct the path.")
            return ""
        if "-----BEGIN " not in text:
            self.mistakes.append(f"{where}: {path} is no PEM file; it has to hold a line with -----BEGIN.")
            return ""
        return text


def mistakes(*values: t.Any, **variables: t.Any) -> list[str]:
    """Everything that is wrong with the variables, a sentence each."""
    return _mistakes(Settings(*values, **variables))


def registries(*values: t.Any, **variables: t.Any) -> list[dict[str, t.Any]]:
    settings = Settings(*values, **variables)
    found = _mistakes(settings)
    if found:
        raise RegistriesRefused(found)
    return list(settings.registries.values())


def _mistakes(settings: Settings) -> list[str]:
    try:
        _registry_wishes.wanted(settings.registries.values())
    except RegistriesRefused as exc:
        return [*settings.mistakes, *exc.mistakes]
    return settings.mistakes
