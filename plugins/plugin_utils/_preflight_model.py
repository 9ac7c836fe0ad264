# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What preflight's checks share: a finding, a machine, the settings, and the list of all findings.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._networks import Network

ERROR, WARNING = "error", "warning"
ROLES = ("kube_control_plane", "gpu_node", "cpu_node", "storage_node")


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a name of a finding means, for the documentation and for the table."""

    severity: str
    what: str
    remedy: str
    # Some things cannot be wished away: nothing can be done on a machine that does not answer.
    acceptable: bool = True


@dataclasses.dataclass(frozen=True)
class Finding:
    name: str
    hosts: tuple[str, ...]
    text: str
    remedy: str
    severity: str
    accepted: bool = False

    @property
    def fatal(self) -> bool:
        return self.severity == ERROR and not self.accepted


@dataclasses.dataclass
class Machine:
    """One inventory host with what was gathered from it; C(facts) is empty if nothing was."""

    name: str
    address: str
    roles: tuple[str, ...] = ()
    facts: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    problem: dict[str, str] = dataclasses.field(default_factory=dict)
    clock: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def control_plane(self) -> bool:
        return "kube_control_plane" in self.roles

    @property
    def clustered(self) -> bool:
        """Whether kubeadm has been at work here."""
        return bool(self.facts.get("kubelet_server") or self.facts.get("control_plane"))

    def package(self, name: str) -> dict[str, t.Any]:
        return self.facts.get("packages", {}).get(name, {})


@dataclasses.dataclass
class Settings:
    kubernetes_version: str = "1.36"
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/12"
    api_port: int | str = 6443
    accept: list[str] = dataclasses.field(default_factory=list)
    min_cpus: int = 2
    min_memory_mb: int = 1700
    min_free_mb: dict[str, int] = dataclasses.field(default_factory=lambda: {"/var/lib": 10240})
    clock_limit: int = 30
    # Without that of the API server.
    ports_control_plane: list[str] = dataclasses.field(default_factory=list)
    ports_worker: list[str] = dataclasses.field(default_factory=list)
    systems: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    architectures: list[str] = dataclasses.field(default_factory=lambda: ["x86_64", "aarch64"])
    # The users' own checks of verify, as they wrote them.
    checks: t.Any = dataclasses.field(default_factory=list)
    # gpu_sharing, gpu_split, ingress and disrupt, as the cluster's settings have them.
    choices: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    # What role registry makes its entries of: address, mirror, mirrors, tls, ca_file.
    registries: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    # The entry that will be written for the Kubernetes packages: uri, file, signed_by.
    apt_source: dict[str, str] = dataclasses.field(default_factory=dict)
    # The same for Docker's, without the distribution in the address; and when it is written: the systems whose own
    # containerd is older than the minimum.
    docker_source: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    # Entries of the same form for NVIDIA's container toolkit and, without the system in the address, its driver.
    nvidia_sources: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    # auto, skip, or the name of a package.
    nvidia_driver: str = "auto"
    # The nodes of the cluster that machines are to join, as kubeadm_info returns them.
    nodes: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)

    @property
    def pods(self) -> list[Network]:
        return networks(self.pod_cidr)

    @property
    def services(self) -> list[Network]:
        return networks(self.service_cidr)


def networks(text: str) -> list[Network]:
    """The ranges of a setting, one or two separated by a comma; what is no range is left to its own check."""
    found: list[Network] = []
    for part in str(text).split(","):
        try:
            found.append(ipaddress.ip_network(part.strip()))
        except ValueError:
            continue
    return found


def finding(name: str, hosts: str | t.Iterable[str], text: str, remedy: str = "") -> Finding:
    kind = KINDS[name]
    names = (hosts,) if isinstance(hosts, str) else tuple(hosts)
    return Finding(name, names, text, remedy or kind.remedy, kind.severity)


def listed(names: t.Iterable[str], limit: int = 4) -> str:
    """Names as people list them, long lists cut."""
    names = list(names)
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return names[0] if names else ""


KINDS: dict[str, Kind] = {
    # The inventory alone.
    "control_plane_count": Kind(
        ERROR,
        "There is not exactly one control plane.",
        "Name one machine: MASTER_NODE, or one host in kube_control_plane.",
        False,
    ),
    "no_worker": Kind(
        ERROR,
        "There is no worker that pods could run on.",
        "Name one (WORKER_NODES, CPU_WORKERS), or switch one on.",
    ),
    "role_count": Kind(
        ERROR,
        "A machine has no role, or more than one.",
        "List each machine once: as control plane, GPU, CPU or storage node.",
        False,
    ),
    "address_unresolved": Kind(
        ERROR,
        "The address of a machine is a name that the controller cannot resolve.",
        "Set gshare_node_ip, or mend the name.",
        False,
    ),
    "duplicate_address": Kind(
        ERROR, "Two machines of the inventory have one address.", "Remove one, or correct its address.", False
    ),
    "range_invalid": Kind(
        ERROR, "A pod or service range is no network.", "Write it as 10.244.0.0/16 (POD_CIDR, SERVICE_CIDR).", False
    ),
    "ranges_overlap": Kind(
        ERROR,
        "Pod range, service range and the machines' addresses overlap.",
        "Choose ranges apart from each other and from the machines (POD_CIDR, SERVICE_CIDR).",
        False,
    ),
    "port_invalid": Kind(
        ERROR,
        "The port of the API server is no port, or one that the cluster needs otherwise.",
        "Choose another one, or none for 6443 (gshare_api_port).",
        False,
    ),
    "version_invalid": Kind(
        ERROR,
        "The Kubernetes version is neither like 1.36 nor like 1.36.5.",
        "Correct K8S_MINOR or gshare_kubernetes_version.",
        False,
    ),
    "accept_unknown": Kind(
        ERROR,
        "gshare_accept holds a name that no finding has, or one that cannot be accepted.",
        "Correct or remove it.",
        False,
    ),
    "check_invalid": Kind(
        ERROR,
        "gshare_checks holds a check that `verify` cannot make.",
        "Correct or remove it; docs/verify.md has examples.",
        False,
    ),
    "setting_invalid": Kind(
        ERROR,
        "A setting of the cluster has a value that does not exist.",
        "Correct it; docs/settings.md has them all.",
        acceptable=False,
    ),
    "registry_invalid": Kind(
        ERROR,
        "A setting of registries and mirrors is wrong.",
        "Correct it; docs/registries.md has examples.",
        acceptable=False,
    ),
    # Reaching the machine.
    "unreachable": Kind(
        ERROR,
        "The machine does not answer over SSH.",
        "Try the same with ssh; or leave the machine out with --limit.",
        False,
    ),
    "worker_away": Kind(
        WARNING,
        "A worker does not answer over SSH. `up` goes on without it, and ends with an error.",
        "Switch it on and run again; remove_node takes it out of the cluster for good.",
    ),
    "python_missing": Kind(ERROR, "There is no Python 3.", "Install python3 (3.9 or newer) on it.", False),
    "sudo": Kind(
        ERROR,
        "The login user cannot become root without a password.",
        "Allow it: `USER ALL=(ALL) NOPASSWD: ALL` in a file of /etc/sudoers.d; or run with -K.",
        False,
    ),
    "gather_failed": Kind(
        ERROR, "The machine answered, but gathering failed.", "Run again with -vvv to see more.", False
    ),
    # The machine itself.
    "os_unsupported": Kind(
        ERROR, "The operating system is not one of the tested ones.", "Use Ubuntu 22.04, 24.04, 26.04, Debian 12 or 13."
    ),
    "architecture_unsupported": Kind(ERROR, "The processor is neither x86_64 nor aarch64.", "Use another machine."),
    "cpu_low": Kind(ERROR, "A control plane has fewer than 2 processors.", "Give it at least 2."),
    "memory_low": Kind(
        ERROR, "A control plane has less than 1700 MB of memory.", "Give it more, 4 GB are comfortable."
    ),
    "disk_low": Kind(ERROR, "Too little free space for images and data.", "Free space, or give the file system more."),
    "disk_nearly_full": Kind(
        WARNING,
        "Less than 15 % of the file system is free: the kubelet will remove images and evict pods.",
        "Free space before pods run.",
    ),
    "cgroup_v1": Kind(
        ERROR,
        "The machine runs with cgroup v1, with which the kubelet does not start by default.",
        "Boot with systemd.unified_cgroup_hierarchy=1; or set failCgroupV1: false for the kubelet and accept this.",
    ),
    "host_name_invalid": Kind(
        ERROR,
        "The host name cannot be a node name.",
        "Set one of a-z, 0-9, dash and dot with hostnamectl set-hostname.",
    ),
    "swap_on": Kind(
        WARNING, "Swap is on, or would be after a reboot.", "None needed: `up` switches it off and keeps it off."
    ),
    "swap_in_use": Kind(
        ERROR, "Swap holds more than the free memory could take back.", "Stop what fills the memory, or add memory."
    ),
    "swap_outside": Kind(
        ERROR,
        "Swap is on and belongs to the machine outside of this container.",
        "Switch it off there; or set failSwapOn: false for the kubelet and accept this.",
    ),
    "port_in_use": Kind(
        ERROR, "Another program listens on a port that the cluster needs.", "Stop it, or move it to another port."
    ),
    "apt_lock": Kind(
        WARNING, "A program holds a lock of apt or dpkg.", "None needed: `up` waits for it. If it hangs, stop it."
    ),
    "apt_conflict": Kind(
        ERROR,
        "Two entries for one package repository name different keys, apt then refuses every update.",
        "Remove one of the two files.",
    ),
    "apt_retired": Kind(
        ERROR, "An entry for a Kubernetes repository that is gone; apt update fails with it.", "Remove the line."
    ),
    "apt_other_version": Kind(
        WARNING,
        "An entry for the Kubernetes packages of another minor version; what has no fixed version may come from it.",
        "Remove the line.",
    ),
    "apt_key": Kind(
        ERROR, "The key file of an entry is absent or empty.", "Restore the key file, or remove the entry."
    ),
    "other_cluster": Kind(ERROR, "The machine belongs to another cluster.", "Take it out of that cluster first."),
    "other_runtime": Kind(
        WARNING,
        "Another container engine is installed.",
        "Best remove it; containerd may be restarted and its configuration edited.",
    ),
    "kubernetes_version": Kind(
        ERROR,
        "A running node has another Kubernetes version than the one asked for; `up` never changes that.",
        "Ask for the version that runs, or upgrade with kubeadm.",
    ),
    "kubernetes_newer": Kind(
        ERROR,
        "Newer Kubernetes packages are installed than asked for; nothing is ever downgraded.",
        "Purge kubelet, kubeadm and kubectl on it, or ask for that version.",
    ),
    # Cards and driver of a GPU worker.
    "gpu_card_missing": Kind(
        ERROR,
        "A GPU worker has no NVIDIA card.",
        "See that the card is seated, or that the virtual machine was given it; or list the machine in CPU_WORKERS.",
    ),
    "gpu_cards_mixed": Kind(
        ERROR,
        "A GPU worker has cards from before Turing beside Blackwell's or Grace's, and no driver serves both.",
        "Take out the older or the newer ones.",
    ),
    "gpu_driver_missing": Kind(
        ERROR,
        "NVIDIA_DRIVER is skip, and a GPU worker has no driver.",
        "Install a driver yourself, or set NVIDIA_DRIVER to auto.",
        False,
    ),
    "gpu_secure_boot": Kind(
        ERROR,
        "Secure Boot is on, and would refuse the driver's modules after the reboot.",
        "Switch Secure Boot off; or install a driver whose modules are signed with a key that is enrolled (mokutil), "
        "and set NVIDIA_DRIVER to skip.",
    ),
    # Network.
    "address_missing": Kind(
        ERROR,
        "The address of the machine is on none of its interfaces.",
        "Set gshare_node_ip to the address that the other machines reach it by.",
    ),
    "no_default_route": Kind(
        ERROR,
        "There is neither a default route nor one for the service range, so the machine itself reaches no Service.",
        "Add a default route; without a gateway, a route for the service range to the cluster's interface will do.",
    ),
    "range_in_use": Kind(
        ERROR,
        "The pod or service range is in use on the machine's network.",
        "Choose another range (POD_CIDR, SERVICE_CIDR).",
    ),
    "range_shadows_route": Kind(
        WARNING,
        "The pod or service range is a part of a larger network that the machine has a route to.",
        "Make sure that nobody uses these addresses there, or choose another range (POD_CIDR, SERVICE_CIDR).",
    ),
    "firewall": Kind(WARNING, "A firewall is on and may block the cluster.", "Open the ports between the machines."),
    "no_proxy": Kind(
        ERROR, "A proxy is set, and no_proxy lacks addresses of the cluster.", "Complete no_proxy in /etc/environment."
    ),
    "hosts_file_rewritten": Kind(
        WARNING,
        "cloud-init writes /etc/hosts anew at each boot, names of the cluster in it would be lost.",
        "Put the names into DNS or into cloud-init's template, or set manage_etc_hosts: false.",
    ),
    # All machines together.
    "duplicate_host_name": Kind(
        ERROR, "Machines share a host name, so one node would replace the other.", "Rename all but one."
    ),
    "node_name_taken": Kind(
        ERROR,
        "A machine that is to join has the host name of a node of the cluster.",
        "Rename the machine; or if that node is gone for good, take it out with remove_node -e node=NAME.",
        False,
    ),
    "duplicate_machine_id": Kind(
        ERROR,
        "Machines share their machine-id (cloned disk).",
        "On all but one: remove /etc/machine-id, run systemd-machine-id-setup, reboot.",
    ),
    "duplicate_product_uuid": Kind(
        WARNING,
        "Machines share their product UUID (cloned virtual machine, or a careless board).",
        "Give the virtual machines their own.",
    ),
    "clock_skew": Kind(
        ERROR,
        "Clocks differ, so certificates and tokens are not valid yet or no more.",
        "Let the machine synchronise its clock.",
    ),
}
