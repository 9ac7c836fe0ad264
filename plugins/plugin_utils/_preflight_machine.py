# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preflight's checks of one machine at a time: system, memory, disk, swap, packages.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_package import DISTRIBUTION, DOCKER, at_least
from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_gpu
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import (
    Finding,
    Machine,
    Settings,
    finding,
    listed,
)

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_RETIRED_HOSTS = ("apt.kubernetes.io", "packages.cloud.google.com")
_ENGINES = {"docker": "Docker Engine", "crio": "CRI-O", "cri-dockerd": "cri-dockerd"}
_CLUSTERS = {
    "k3s": "Run k3s-uninstall.sh or k3s-agent-uninstall.sh on it.",
    "rke2": "Run rke2-uninstall.sh on it.",
    "k0s": "Run `k0s stop` and `k0s reset` on it.",
    "microk8s": "Run `snap remove --purge microk8s` on it.",
}


def check(machine: Machine, settings: Settings) -> list[Finding]:
    """Everything that the machine's own facts tell; nothing about one that could not be asked."""
    if not machine.facts:
        return []
    checks = (_system, _size, _host_name, _disk, _cgroup, _swap, _apt, _retired, _others, _versions)
    return [found for one in checks for found in one(machine, settings)]


def reach(machine: Machine) -> list[Finding]:
    """Why a machine could not be asked."""
    if not machine.problem or machine.problem["name"] == "address_unresolved":
        return []
    return [finding(machine.problem["name"], machine.name, machine.problem["text"])]


def workers(machines: list[Machine]) -> t.Iterator[Finding]:
    """Whether all workers are away: what the cluster itself needs then has no place."""
    names = [machine.name for machine in machines if not machine.control_plane]
    away = [machine.name for machine in machines if machine.problem.get("name") == "worker_away"]
    if away and away == names:
        yield finding("no_worker", away, "None of them answers.")


def _system(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    system = machine.facts["os"]
    if settings.systems and system["version"] not in settings.systems.get(system["id"], []):
        yield finding("os_unsupported", machine.name, f"It runs {system['name'] or 'an unknown system'}.")
    if machine.facts["architecture"] not in settings.architectures:
        yield finding("architecture_unsupported", machine.name, f"Its processor is {machine.facts['architecture']}.")


def _size(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    if not machine.control_plane:
        return
    if machine.facts["cpus"] < settings.min_cpus:
        yield finding(
            "cpu_low",
            machine.name,
            f"It has {machine.facts['cpus']} processor, a control plane needs {settings.min_cpus}.",
        )
    memory = machine.facts["memory_mb"]["total"]
    if memory < settings.min_memory_mb:
        yield finding(
            "memory_low", machine.name, f"It has {memory} MB of memory, a control plane needs {settings.min_memory_mb}."
        )


def _host_name(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    """A node is called as the machine, in lower case: that must be an RFC 1123 name."""
    name = machine.facts["hostname"]
    labels = name.lower().split(".")
    if name.lower().partition(".")[0] in ("", "localhost"):
        yield finding("host_name_invalid", machine.name, f"Its host name is {name!r}, which says nothing.")
    elif len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        yield finding("host_name_invalid", machine.name, f"Its host name {name!r} cannot be a node name.")


def _disk(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    for path, wanted in settings.min_free_mb.items():
        space = machine.facts["disks"].get(path)
        if not space:
            continue
        if space["free_mb"] < int(wanted) and not machine.clustered:
            yield finding("disk_low", machine.name, f"{path} has {space['free_mb']} MB free, {wanted} MB are needed.")
        elif space["total_mb"] and space["free_mb"] * 100 < space["total_mb"] * 15:
            yield finding(
                "disk_nearly_full",
                machine.name,
                f"{path} has {space['free_mb']} of {space['total_mb']} MB free, below 15 % the kubelet evicts pods.",
            )


def _cgroup(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    if machine.facts["cgroup"] != "v2":
        yield finding(
            "cgroup_v1",
            machine.name,
            "It runs with cgroup v1; the kubelet of Kubernetes 1.35 and newer refuses that by default.",
        )


def _swap(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    active = machine.facts["swaps"]
    at_boot = machine.facts["swap_at_boot"]
    used = sum(area["used"] for area in active) // 1024
    names = listed([area["name"] for area in active])
    if active and machine.facts["container"]:
        yield finding("swap_outside", machine.name, f"Swap is on ({names}), and a container cannot switch it off.")
    elif used > machine.facts["memory_mb"]["available"]:
        free = machine.facts["memory_mb"]["available"]
        yield finding(
            "swap_in_use", machine.name, f"Swap ({names}) holds {used} MB, but only {free} MB of memory are free."
        )
    elif active:
        yield finding("swap_on", machine.name, f"Swap is on: {names}.")
    elif at_boot:
        yield finding("swap_on", machine.name, f"Swap is off, but would be on after a reboot: {listed(at_boot)}.")


def _apt(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    for holder in machine.facts["apt_locks"]:
        minutes = f"{holder['seconds'] // 60} min" if holder["seconds"] >= 120 else f"{holder['seconds']} s"
        who = f"{holder['process']} (pid {holder['pid']}, running for {minutes})"
        yield finding("apt_lock", machine.name, f"{who} holds {holder['paths'][0]}.")
    yield from _conflicts(machine, settings)
    own = settings.apt_source.get("signed_by", "")
    for path, size in machine.facts["apt_keys"].items():
        if not size and path != own:
            files = sorted(
                {entry["file"] for entry in machine.facts["apt_sources"] if path in entry["signed_by"].split(",")}
            )
            yield finding("apt_key", machine.name, f"{listed(files)} names the key {path}, which is absent or empty.")


def _conflicts(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    """Entries for one repository with different keys: those that are there, and those that will be written."""
    own = [*_own_kubernetes(settings), *_own_docker(machine, settings), *_preflight_gpu.sources(machine, settings)]
    by_place: dict[tuple[str, str], dict[str, str]] = {}
    for entry in machine.facts["apt_sources"]:
        if entry["file"] not in [wanted["file"] for wanted in own]:  # those are written anew by `up`
            by_place.setdefault(_place(entry), {}).setdefault(entry["signed_by"], f"{entry['file']}:{entry['line']}")
    remedies = {}
    for wanted in own:
        place = _place(wanted)
        if place in by_place:
            by_place[place].setdefault(wanted["signed_by"], f"the entry that `up` writes ({wanted['file']})")
            remedies[place] = wanted["remedy"]
    for place, keys in by_place.items():
        if len(keys) > 1:
            sides = [f"{where} ({key or 'no key'})" for key, where in keys.items()]
            text = f"{place[0]} is named with different Signed-By: {' and '.join(sides)}."
            yield finding("apt_conflict", machine.name, text, remedies.get(place, ""))


def _own_kubernetes(settings: Settings) -> t.Iterator[dict[str, str]]:
    if settings.apt_source:
        yield {**settings.apt_source, "suite": "/", "remedy": "Remove the file that is not of `up`."}


def _own_docker(machine: Machine, settings: Settings) -> t.Iterator[dict[str, str]]:
    """The entry for Docker's packages, which `up` writes where apt has no containerd that will do.

    Somebody else's entry for them is used instead, once apt has fetched what it offers.
    """
    wanted, system = settings.docker_source, machine.facts["os"]
    if not wanted:
        return
    place = {
        "uri": f"{wanted['uri']}/{system['id']}",
        "suite": system["codename"],
        "file": wanted["file"],
        "signed_by": wanted["signed_by"],
    }
    entries = machine.facts["apt_sources"]
    if any(entry["file"] == wanted["file"] for entry in entries):
        yield {**place, "remedy": "Remove the file that is not of `up`."}
        return
    needed = system["version"] in wanted["systems"].get(system["id"], [])
    installed = [machine.package(name).get("version") for name in (DISTRIBUTION, DOCKER)]
    offered = any(entry["fetched"] and _place(entry) == _place(place) for entry in entries)
    if needed and not offered and not any(at_least(version, wanted["minimum"]) for version in installed):
        yield {**place, "remedy": "Run apt-get update there, so that `up` takes containerd.io from it; or remove it."}


def _place(entry: dict[str, t.Any]) -> tuple[str, str]:
    return entry["uri"].rstrip("/"), entry["suite"].rstrip("/") or "/"


def _retired(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    asked = str(settings.kubernetes_version)
    for entry in machine.facts["apt_sources"]:
        host, _sep, path = entry["uri"].partition("://")[2].partition("/")
        old_host = host in _RETIRED_HOSTS and entry["suite"].startswith("kubernetes-")
        old_layout = host == "pkgs.k8s.io" and not path.startswith(("core:", "addons:"))
        if old_host or old_layout:
            yield finding(
                "apt_retired",
                machine.name,
                f"{entry['file']}:{entry['line']} names {entry['uri']} {entry['suite']}, which is gone.",
            )
        minor = re.search(r"/core:/stable:/v([0-9]+\.[0-9]+)/", entry["uri"] + "/")
        if minor and not matches(minor[1], asked) and entry["file"] != settings.apt_source.get("file"):
            yield finding(
                "apt_other_version",
                machine.name,
                f"{entry['file']}:{entry['line']} names {entry['uri']}, and {asked} is asked for.",
            )


def _others(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    for name in machine.facts["others"]:
        if name in _CLUSTERS:
            yield finding("other_cluster", machine.name, f"{name} is installed on it.", _CLUSTERS[name])
        else:
            yield finding("other_runtime", machine.name, f"{_ENGINES[name]} is installed on it.")


def _versions(machine: Machine, settings: Settings) -> t.Iterator[Finding]:
    asked = str(settings.kubernetes_version)
    kubelet = machine.package("kubelet")
    installed = plain_version(kubelet.get("version", ""))
    if machine.clustered:
        running = {"kubelet": installed, "API server": machine.facts["apiserver_version"]}
        wrong = [f"{name} {version}" for name, version in running.items() if version and not matches(asked, version)]
        if wrong:
            yield finding(
                "kubernetes_version",
                machine.name,
                f"It runs {listed(wrong)}, but {asked} is asked for; `up` never changes the version of a running node.",
            )
    elif installed and not matches(asked, installed) and numbers(installed) > numbers(asked):
        held = " and held" if kubelet["hold"] else ""
        yield finding("kubernetes_newer", machine.name, f"kubelet {installed} is installed{held}, newer than {asked}.")


def plain_version(package: str) -> str:
    """1.36.3 of 1.36.3-1.1."""
    return package.partition(":")[2].partition("-")[0] if ":" in package else package.partition("-")[0]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def matches(asked: str, version: str) -> bool:
    """1.36 stands for any 1.36.x, 1.36.3 for itself."""
    return version == asked or version.startswith(asked + ".")
