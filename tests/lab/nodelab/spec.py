# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nodes a lab is asked for: `control,gpu:2,cpu:1@trixie`."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from nodelab import versions
from nodelab.errors import LabError

SUITES = tuple(versions.SUITES)
DEFAULT_NODES = "control,gpu:1,cpu:1"


@dataclass(frozen=True)
class Kind:
    """A kind of node: the last number of its first node's address, and how many there can be."""

    first: int
    most: int


KINDS = {
    "control": Kind(first=10, most=1),
    "gpu": Kind(first=21, most=39),
    "cpu": Kind(first=61, most=39),
    "storage": Kind(first=101, most=9),
}
FEATURES = {"driver": "gpu", "exclusive": "gpu"}
"""What a node can be beside its kind, and the kind that can be it."""
_PART = re.compile(r"(?P<kind>[a-z]+)(?::(?P<count>[0-9]+))?(?P<features>(?:\+[a-z]+)*)(?:@(?P<suite>[a-z]+))?")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
_NODE = re.compile(r"(?P<kind>[a-z]+)(?P<index>[1-9][0-9]*)")


@dataclass(frozen=True)
class NodeSpec:
    """One node that a lab is to have."""

    kind: str
    index: int
    suite: str
    features: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The node's name, which is its host name too: gpu1."""
        return f"{self.kind}{self.index}"

    @property
    def host(self) -> int:
        """The last number of its address; it depends on nothing but the name."""
        return KINDS[self.kind].first + self.index - 1


def parse(text: str) -> list[NodeSpec]:
    """Return the nodes that a --nodes value asks for, numbered within each kind in the order given."""
    nodes: list[NodeSpec] = []
    used: dict[str, int] = {}
    for part in (piece.strip() for piece in text.split(",")):
        if not part:
            continue
        kind, count, suite, features = _parse_part(part)
        if used.get(kind, 0) + count > KINDS[kind].most:
            raise LabError(f"A lab can have at most {KINDS[kind].most} {kind} node(s); --nodes {text} asks for more.")
        for _unused in range(count):
            used[kind] = used.get(kind, 0) + 1
            nodes.append(NodeSpec(kind, used[kind], suite, features))
    if not nodes:
        raise LabError(f"--nodes is empty; write for example --nodes {DEFAULT_NODES}.")
    return nodes


def _parse_part(part: str) -> tuple[str, int, str, frozenset[str]]:
    found = _PART.fullmatch(part)
    if found is None:
        raise LabError(f"--nodes: '{part}' is not KIND[:COUNT][+FEATURE][@SUITE], for example gpu:2 or cpu@trixie.")
    kind, suite = found["kind"], found["suite"] or SUITES[0]
    count = 1 if found["count"] is None else int(found["count"])
    if kind not in KINDS:
        raise LabError(f"--nodes: there is no kind '{kind}'; the kinds are {', '.join(KINDS)}.")
    if kind == "storage":
        raise LabError("--nodes: storage nodes are not there yet; use control, gpu and cpu.")
    if suite not in SUITES:
        raise LabError(f"--nodes: there is no system '{suite}'; there are {' and '.join(SUITES)}.")
    if count == 0:
        raise LabError(f"--nodes: '{part}' asks for no node; leave it out.")
    features = frozenset(filter(None, found["features"].split("+")))
    for feature in sorted(features):
        if FEATURES.get(feature) != kind:
            fitting = [name for name, whose in FEATURES.items() if whose == kind]
            raise LabError(
                f"--nodes: a {kind} node cannot be '{feature}'; it can be {', '.join(fitting) or 'plain only'}."
            )
    return kind, count, suite, features


def check_lab_name(name: str) -> str:
    """Return the name of a lab if it can be one: it becomes part of file, table and group names."""
    if not _NAME.fullmatch(name):
        raise LabError(f"'{name}' cannot name a lab: use a letter, then up to 19 of a-z, 0-9 and '-'.")
    return name


def sort_key(name: str) -> tuple[int, int, str]:
    """Order node names as people expect: control first, gpu2 before gpu10."""
    found = _NODE.fullmatch(name)
    if found is None or found["kind"] not in KINDS:
        return (len(KINDS), 0, name)
    return (list(KINDS).index(found["kind"]), int(found["index"]), name)


def missing(wanted: t.Iterable[NodeSpec], present: t.Mapping[str, str]) -> list[NodeSpec]:
    """Return those wanted nodes that are not present; ``present`` maps node names to their suites."""
    absent = []
    for node in wanted:
        have = present.get(node.name)
        if have is None:
            absent.append(node)
        elif have != node.suite:
            raise LabError(
                f"{node.name} is there already with {have}, not {node.suite}; take the lab down first to change that."
            )
    return absent
