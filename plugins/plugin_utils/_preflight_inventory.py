# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's checks of the inventory: what can be known before any machine is touched.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils import (
    _custom_checks,
    _disrupt,
    _registry_services,
    _registry_settings,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    KINDS,
    ROLES,
    Finding,
    Machine,
    Settings,
    finding,
    listed,
)

WHERE = "the inventory"

_CHOICES = {"gpu_sharing": ("hami", "nvidia", "none"), "ingress": ("ingress-nginx", "traefik", "none")}


def check(machines: list[Machine], settings: Settings, groups: t.Mapping[str, t.Sequence[str]]) -> list[Finding]:
    """All mistakes at once."""
    return [
        *_control_plane(groups),
        *_roles(machines, groups),
        *_addresses(machines),
        *_ranges(machines, settings),
        *_port(settings),
        *_version(settings),
        *_accept(settings),
        *_checks(settings),
        *_registries(settings, machines),
        *_choices(settings.choices),
        *_disrupted(settings.choices, machines),
    ]


def _control_plane(groups: t.Mapping[str, t.Sequence[str]]) -> t.Iterator[Finding]:
    names = groups.get("kube_control_plane", [])
    if not any(groups.get(group) for group in ("kube_cluster", "kube_control_plane", "kube_worker")):
        yield finding(
            "control_plane_count",
            WHERE,
            "It names no machine of a cluster.",
            "Give it with -i. A cluster-info is read if its name is cluster-info, NAME.cluster-info or "
            "cluster-info.NAME, and if ansible.cfg has gshare.cluster.cluster_info in enable_plugins.",
        )
    elif not names:
        yield finding("control_plane_count", WHERE, "No machine is named as the control plane.")
    elif len(names) > 1:
        yield finding("control_plane_count", names, "All of them are named as control plane; there can be one only.")
    elif not any(groups.get(role) for role in ROLES[1:]):
        yield finding("no_worker", WHERE, "It names no worker.")


def _roles(machines: list[Machine], groups: t.Mapping[str, t.Sequence[str]]) -> t.Iterator[Finding]:
    for machine in machines:
        if not machine.roles:
            yield finding(
                "role_count",
                machine.name,
                "It is in kube_cluster, but in none of the groups that give a machine its role.",
            )
        elif len(machine.roles) > 1:
            yield finding("role_count", machine.name, f"It is in {listed(machine.roles)}; a machine has one role.")
    known = {machine.name for machine in machines}
    for group in ("kube_control_plane", "kube_worker", "gpu_node", "cpu_node", "storage_node"):
        outside = [name for name in groups.get(group, []) if name not in known]
        if outside:
            yield finding(
                "role_count",
                outside,
                f"In {group}, but not in kube_cluster.",
                "Make kube_control_plane and kube_worker children of kube_cluster.",
            )
    both = sorted(set(groups.get("gpu_exclusive", [])) & set(groups.get("gpu_fractional", [])))
    if both:
        yield finding("role_count", both, "In gpu_exclusive and in gpu_fractional.", "Choose one of the two modes.")


def _addresses(machines: list[Machine]) -> t.Iterator[Finding]:
    by_address: dict[str, list[str]] = {}
    for machine in machines:
        if machine.problem.get("name") == "address_unresolved":
            yield finding("address_unresolved", machine.name, machine.problem["text"])
        else:
            by_address.setdefault(machine.address, []).append(machine.name)
    for address, names in by_address.items():
        if len(names) > 1:
            yield finding("duplicate_address", names, f"They have the same address {address}.")


def _ranges(machines: list[Machine], settings: Settings) -> t.Iterator[Finding]:
    for label, text in (("pod", settings.pod_cidr), ("service", settings.service_cidr)):
        for part in str(text).split(","):
            try:
                ipaddress.ip_network(part.strip())
            except ValueError as exc:
                yield finding("range_invalid", WHERE, f"The {label} range {part.strip()!r} is no network: {exc}.")
    for pods in settings.pods:
        for services in settings.services:
            if pods.version == services.version and pods.overlaps(services):
                yield finding(
                    "ranges_overlap", WHERE, f"The pod range {pods} and the service range {services} overlap."
                )
    ranges = [("pod", network) for network in settings.pods] + [("service", network) for network in settings.services]
    for machine in machines:
        for label, network in ranges:
            if _inside(machine.address, network):
                text = f"Its address {machine.address} lies in the {label} range {network}."
                yield finding("ranges_overlap", machine.name, text)


def _inside(address: str, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    try:
        return ipaddress.ip_address(address) in network
    except ValueError:
        return False


def _port(settings: Settings) -> t.Iterator[Finding]:
    port = str(settings.api_port)
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        yield finding("port_invalid", WHERE, f"The API server's port {port!r} is no number from 1 to 65535.")
    elif f"{port}/tcp" in settings.ports_control_plane:
        yield finding("port_invalid", WHERE, f"The API server's port {port} is taken by another part of the cluster.")


def _version(settings: Settings) -> t.Iterator[Finding]:
    version = str(settings.kubernetes_version)
    if not re.fullmatch(r"1\.\d+(\.\d+)?", version):
        yield finding("version_invalid", WHERE, f"{version!r} is no Kubernetes version.")


def _accept(settings: Settings) -> t.Iterator[Finding]:
    for name in settings.accept:
        kind = KINDS.get(name)
        if kind is None:
            near = difflib.get_close_matches(name, [key for key, value in KINDS.items() if value.acceptable], 1)
            hint = f"; did you mean {near[0]}" if near else ""
            yield finding("accept_unknown", WHERE, f"gshare_accept: no finding is called {name!r}{hint}.")
        elif not kind.acceptable:
            yield finding(
                "accept_unknown", WHERE, f"gshare_accept: {name} cannot be accepted, the run could not go on."
            )


def _checks(settings: Settings) -> t.Iterator[Finding]:
    for problem in _custom_checks.problems(settings.checks or []):
        yield finding("check_invalid", WHERE, problem)


def _choices(chosen: t.Mapping[str, t.Any]) -> t.Iterator[Finding]:
    """What a role would only refuse when half of the cluster is built."""
    for name, known in _CHOICES.items():
        value = chosen.get(name, known[0])
        if value not in known:
            yield finding(
                "setting_invalid", WHERE, f"gshare_{name} is {value!r}, and has to be one of {', '.join(known)}."
            )
    split = str(chosen.get("gpu_split", 0))
    if not re.fullmatch(r"[0-9]{1,3}", split):
        yield finding(
            "setting_invalid", WHERE, f"gshare_gpu_split is {split!r}, and has to be a number of pods a card."
        )


def _disrupted(chosen: t.Mapping[str, t.Any], machines: list[Machine]) -> t.Iterator[Finding]:
    known = [machine.name for machine in machines]
    for name in _disrupt.names(chosen.get("disrupt")):
        if name not in (*known, "all"):
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}" if near else ""
            yield finding(
                "setting_invalid", WHERE, f"gshare_disrupt names {name!r}, which is no machine of the inventory{hint}."
            )


def _registries(settings: Settings, machines: list[Machine]) -> t.Iterator[Finding]:
    known = dict(settings.registries)
    node = known.pop("node", "")
    addresses = {machine.name: machine.address for machine in machines}
    registry, mirror, through = (known.get(key) or "" for key in ("address", "mirror", "pull_through"))
    for problem in [
        *_registry_settings.mistakes(**known),
        *_registry_services.mistakes(registry, mirror, through or {}, addresses, node),
    ]:
        yield finding("registry_invalid", WHERE, problem)
