# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Which registries the cluster serves itself, out of the settings that clients use too."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import (
    DOCKER,
    RegistriesRefused,
    Registry,
)

LABEL = "gshare.io/registry"


def split_port(address: str) -> tuple[str, int | None]:
    """HOST:PORT as host, without brackets, and port."""
    found = re.fullmatch(r"(\[[^]]+\]|[^:]+)(?::(\d+))?", address)
    if not found:
        return address, None
    return found[1].strip("[]"), int(found[2]) if found[2] else None


def services(
    registry: str, mirror: str, pull_through: t.Mapping[str, t.Any], machines: t.Mapping[str, str], node: str = ""
) -> list[dict[str, t.Any]]:
    """One entry a registry that a machine of the cluster serves: name, port, upstream, its server, the machine.

    C(machines) has the address of each host of the inventory; C(node) names the one that serves, where the registry's
    own name does not tell. A registry that no machine of the cluster has is somebody else's.
    """
    mistakes: list[str] = []
    if node and node not in machines:
        mistakes.append(f"gshare_registry_node is {node!r}, which is no machine of kube_cluster: name one of them")
    found = []
    for setting, name, value, upstream in _wanted(registry, mirror, pull_through, mistakes):
        host, port = split_port(value)
        address = machines.get(node, "") if node else host
        if address not in machines.values():
            continue
        if port is None:
            mistakes.append(f"{setting} is {value!r} without a port: write the port that the registry is to listen on")
            continue
        server = Registry(upstream).server if upstream else ""
        found.append({"name": name, "port": port, "upstream": upstream, "server": server, "address": address})
    for first, second in _clashes(found):
        mistakes.append(f"{first['name']} and {second['name']} would both listen on port {first['port']}: change one")
    if mistakes:
        raise RegistriesRefused([f"{mistake}." for mistake in mistakes])
    return found


def _wanted(
    registry: str, mirror: str, pull_through: t.Mapping[str, t.Any], mistakes: list[str]
) -> t.Iterator[tuple[str, str, str, str]]:
    if registry:
        yield "gshare_local_registry", "registry", registry, ""
    if mirror:
        yield "gshare_local_registry_mirror", _name(DOCKER), mirror, DOCKER
    host = split_port(mirror or registry)[0]
    for upstream, port in pull_through.items():
        setting = f"gshare_registry_pull_through[{upstream!r}]"
        if not host:
            mistakes.append(
                f"{setting} needs gshare_local_registry or gshare_local_registry_mirror, whose machine serves it"
            )
        elif isinstance(port, bool) or not re.fullmatch(r"\d{1,5}", str(port)) or not 0 < int(port) < 65536:
            mistakes.append(f"{setting} is {port!r}: write the port that its mirror is to listen on")
        elif upstream == DOCKER:
            mistakes.append(f"{setting}: set gshare_local_registry_mirror for Docker Hub instead")
        else:
            yield setting, _name(upstream), f"{bracketed(host)}:{port}", upstream


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def mistakes(*settings: t.Any) -> list[str]:
    """Everything that is wrong with the settings of what is served, a sentence each."""
    try:
        services(*settings)
    except RegistriesRefused as exc:
        return exc.mistakes
    return []


def marks(found: t.Iterable[t.Mapping[str, t.Any]], machines: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
    """What each machine is to be labelled with, so that pods find the one that serves."""
    serving = {entry["address"] for entry in found}
    return [
        {"address": address, "labels": {LABEL: label_value(address)} if address in serving else {}}
        for address in machines.values()
    ]


def label_value(address: str) -> str:
    """An address as the value of a label, which has no colons."""
    return address.replace(":", "-").strip("-")


def _name(upstream: str) -> str:
    return "mirror-" + re.sub(r"[^a-z0-9]+", "-", upstream.lower()).strip("-")


def _clashes(found: list[dict[str, t.Any]]) -> t.Iterator[tuple[dict[str, t.Any], dict[str, t.Any]]]:
    for number, first in enumerate(found):
        for second in found[number + 1 :]:
            if (first["port"], first["address"]) == (second["port"], second["address"]):
                yield first, second
