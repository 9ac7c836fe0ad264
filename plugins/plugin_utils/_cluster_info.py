# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster-info file as a whole: text in, a cluster or all of its mistakes out.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t
from dataclasses import dataclass

from ansible_collections.gshare.cluster.plugins.plugin_utils import _cluster_info_keys as keys
from ansible_collections.gshare.cluster.plugins.plugin_utils import _cluster_info_nodes as nodes
from ansible_collections.gshare.cluster.plugins.plugin_utils import _ssh_options
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_nodes import MODES, Entry, Node
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import (
    Assignment,
    Document,
    Problem,
    read,
)

# Every group and what is in it; the rest holds machines.
GROUPS = {
    "kube_cluster": ("kube_control_plane", "kube_worker"),
    "kube_worker": ("gpu_node", "cpu_node", "storage_node"),
    "gpu_node": ("gpu_exclusive", "gpu_fractional"),
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a file without mistakes says."""

    nodes: tuple[Node, ...]
    variables: dict[str, t.Any]
    connection: dict[str, t.Any]
    document: Document
    assignments: dict[str, Assignment]
    warnings: tuple[Problem, ...]

    def group_variables(self) -> dict[str, dict[str, t.Any]]:
        """Give the variables of each group that has some."""
        modes = {f"gpu_{mode}": {"gshare_gpu_mode": mode} for mode in MODES}
        return {"all": self.variables, "kube_cluster": self.connection, **modes}


class ClusterInfoError(Exception):
    """All mistakes of a file, in the order of its lines."""

    def __init__(self, problems: t.Iterable[Problem]) -> None:
        self.problems = tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem.line or 0))
        super().__init__(self.report())

    def report(self, source: str = "cluster-info") -> str:
        """List the mistakes, one sentence a line."""
        sentences = [problem.sentence(source) for problem in self.problems]
        if len(sentences) > 1:
            sentences.insert(0, f"{len(sentences)} mistakes in {source}:")
        return "\n".join(sentences)


def decode(data: bytes) -> str:
    """Turn the bytes of a file into text, which has to be UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ClusterInfoError([Problem(1, "", "", "the file is in UTF-16", "save it as UTF-8")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\n|\r", data[: error.start])) + 1
        what = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        raise ClusterInfoError([Problem(line, "", "", what, "save the file as UTF-8")]) from None


def parse(text: str, *, folder: str = "") -> Cluster:
    """Read a file. C(folder) is where it lies: a relative path to a key begins there."""
    return _Reader(read(text), folder).cluster()


def _more(found: t.Sequence[object]) -> str:
    return f" and of {len(found) - 1} more" if len(found) > 1 else ""


class _Reader:
    def __init__(self, document: Document, folder: str) -> None:
        self.document = document
        self.folder = folder
        self.problems = list(document.problems)
        self.given: dict[str, Assignment] = {}
        self.nodes: dict[str, Node] = {}
        self.variables: dict[str, t.Any] = {}
        self.networks: dict[str, keys.Network] = {}
        self.meant_master = False
        self.warnings: list[Problem] = []

    def cluster(self) -> Cluster:
        for assignment in self.document.assignments:
            self.take_key(assignment)
        for key in keys.NODE_KEYS:
            self.take_nodes(key)
        for key, (variable, check) in keys.SETTINGS.items():
            self.take_setting(key, variable, check)
        connection = self.connection()
        self.check_ranges()
        if self.problems:
            raise ClusterInfoError(self.problems)
        found = tuple(self.nodes.values())
        return Cluster(found, self.variables, connection, self.document, self.given, tuple(self.warnings))

    def wrong(self, at: Assignment | Entry, entry: str, what: str, remedy: str) -> None:
        self.problems.append(Problem(at.line, at.key, entry, what, remedy))

    def take_key(self, assignment: Assignment) -> None:
        key = assignment.key
        if key in keys.NOT_HERE:
            self.wrong(assignment, assignment.value, "the key has no meaning here", keys.NOT_HERE[key])
        elif key not in keys.KNOWN:
            near = keys.nearest(key, keys.KNOWN)
            self.meant_master |= near == "MASTER_NODE"
            remedy = f"did you mean {near}?" if near else "remove it, or set a variable in group_vars"
            self.wrong(assignment, assignment.value, "there is no such key", remedy)
        elif before := self.given.get(key):
            what = f"the key is set in line {before.line} and again in line {assignment.line}"
            self.wrong(assignment, assignment.value, what, "keep one of the two")
        else:
            self.given[key] = assignment

    def value(self, key: str) -> Assignment | None:
        """Give a key's assignment if there is something to read; an empty value counts as not given."""
        assignment = self.given.get(key)
        return assignment if assignment and assignment.value.strip() else None

    def take_nodes(self, key: str) -> None:
        assignment = self.value(key)
        if not assignment:
            if key == "MASTER_NODE":
                self.miss_master()
            return
        if key in ("MASTER_NODE", "STORAGE_NODE"):
            self.take_single(assignment)
            return
        for entry in nodes.entries(assignment, self.document.line):
            self.take_node(entry)

    def miss_master(self) -> None:
        """Say that there is no control plane, unless a line with a mistake of its own was meant to name it."""
        there = self.given.get("MASTER_NODE")
        if self.meant_master or (there and there.broken):
            return
        line = there.line if there else None
        remedy = "write MASTER_NODE=USER@ADDRESS"
        self.problems.append(Problem(line, "MASTER_NODE", "", "the control plane is missing", remedy))

    def take_single(self, assignment: Assignment) -> None:
        entry = nodes.whole(assignment, self.document.line)
        if assignment.key == "MASTER_NODE" and "," in entry.text:
            remedy = "keep one of them: a cluster has one control plane, more are not supported yet"
            self.wrong(entry, entry.text, f"'{entry.text}' is more than one machine", remedy)
        elif re.search(r",\s*(?:/|\S*@)", entry.text):
            remedy = "keep one machine with one device; several devices go into STORAGE_VDEVS"
            self.wrong(entry, entry.text, f"'{entry.text}' is more than one", remedy)
        else:
            self.take_node(entry)

    def take_node(self, entry: Entry) -> None:
        try:
            node = nodes.node(entry)
        except keys.Wrong as wrong:
            self.wrong_entry(entry, wrong)
            return
        if node.wrong:
            self.wrong_entry(entry, node.wrong)
        before = self.nodes.setdefault(node.address, node)
        if before is node:
            return
        same = before.entry.key == entry.key
        other = f"'{before.entry.text}'" if same else f"{before.entry.key} '{before.entry.text}'"
        what = f"'{entry.text}' is the same machine as {other} in line {before.entry.line}"
        self.wrong(entry, entry.text, what, "remove one of the two" if same else "give each machine one role")

    def wrong_entry(self, entry: Entry, wrong: keys.Wrong) -> None:
        said = not entry.text or f"'{entry.text}'" in wrong.what
        self.wrong(entry, entry.text, wrong.what if said else f"{wrong.what} in '{entry.text}'", wrong.remedy)

    def take_setting(self, key: str, variable: str, check: t.Callable[[str], t.Any]) -> None:
        assignment = self.value(key)
        if not assignment:
            return
        value = assignment.value.strip()
        try:
            nodes.placeholder(value)
            self.variables[variable] = check(value)
        except keys.Wrong as wrong:
            self.wrong(assignment, value, wrong.what, wrong.remedy)
        else:
            if key in ("POD_CIDR", "SERVICE_CIDR"):
                self.networks[key] = keys.network(value)

    def connection(self) -> dict[str, t.Any]:
        assignment = self.given.get("SSH_OPTS")
        text = assignment.value if assignment else _ssh_options.DEFAULT
        variables, wrongs = _ssh_options.parse(text, self.folder)
        if not assignment:
            return variables
        for wrong in wrongs:
            self.wrong(assignment, text, wrong.what, wrong.remedy)
        user = variables.get("ansible_user")
        others = [node.entry for node in self.nodes.values() if user and node.user not in (user, None)]
        if others:
            what = f"the user '{user}' is not that of '{others[0].text}' in line {others[0].line}{_more(others)}"
            self.wrong(assignment, text, what, "name the user in one of the two places")
        return variables

    def check_ranges(self) -> None:
        for key, default in (("POD_CIDR", keys.DEFAULT_POD_CIDR), ("SERVICE_CIDR", keys.DEFAULT_SERVICE_CIDR)):
            if key not in self.given:
                self.networks[key] = ipaddress.ip_network(default)
        for key in self.networks:
            self.check_nodes_outside(key)
        self.check_size_of_pods()
        pods, services = self.networks.get("POD_CIDR"), self.networks.get("SERVICE_CIDR")
        if pods and services and pods.version == services.version and pods.overlaps(services):
            key = "SERVICE_CIDR" if "SERVICE_CIDR" in self.given else "POD_CIDR"
            other = "POD_CIDR" if key == "SERVICE_CIDR" else "SERVICE_CIDR"
            assignment = self.given[key]
            what = f"'{self.networks[key]}' overlaps {other} {self.networks[other]}{self.default(other)}"
            self.wrong(assignment, assignment.value, what, "choose ranges that have no address in common")

    def check_size_of_pods(self) -> None:
        """Each machine takes a part of the pod range: kubeadm's is a /24, or a /64 with IPv6."""
        network = self.networks.get("POD_CIDR")
        if not network:
            return
        part = 24 if network.version == 4 else 64
        room = 1 << (part - network.prefixlen) if network.prefixlen <= part else 0
        line = self.given["POD_CIDR"].line if "POD_CIDR" in self.given else None
        what = f"'{network}'{self.default('POD_CIDR')} has room for {room} machines, as each takes a /{part} of it"
        problem = Problem(line, "POD_CIDR", str(network), what, "set POD_CIDR to a larger range")
        if not room:
            self.problems.append(problem)
        elif room < len(self.nodes):
            # Not an error: kubeadm can be told to give each machine a smaller part.
            self.warnings.append(problem)

    def default(self, key: str) -> str:
        return "" if key in self.given else " (the default)"

    def check_nodes_outside(self, key: str) -> None:
        network = self.networks[key]
        inside = [node for node in self.nodes.values() if node.ip and node.ip in network]
        if not inside:
            return
        first = inside[0]
        remedy = f"set {key} to a range in which no machine is"
        if key in self.given:
            what = f"'{network}' holds the address of '{first.entry.text}' in line {first.entry.line}{_more(inside)}"
            self.wrong(self.given[key], str(network), what, remedy)
        else:
            what = f"the address of '{first.entry.text}'{_more(inside)} is in {network}, the default of {key}"
            self.wrong(first.entry, first.entry.text, what, remedy)
