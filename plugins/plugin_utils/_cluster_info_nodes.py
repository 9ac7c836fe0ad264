# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The machines of a cluster-info file: user@address, and what may follow.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import typing as t
from dataclasses import dataclass

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_keys import Wrong
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import Assignment
from ansible_collections.gshare.cluster.plugins.plugin_utils._ssh_options import user_name

MODES = ("exclusive", "fractional")
DEFAULT_MODE = "fractional"

IP = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Entry:
    """One machine as the file lists it, and where: C(start) and C(end) are offsets into the text."""

    key: str
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Node:
    """One machine: the group that it belongs to, how to log in, and what is special about it.

    Where only what is special about it is wrong, C(wrong) says so; it is compared with the others all the same.
    """

    group: str
    address: str
    ip: IP | None
    user: str | None
    device: str | None
    entry: Entry
    wrong: Wrong | None = None

    def variables(self) -> dict[str, str]:
        """Give the variables of this host alone."""
        found = {"ansible_user": self.user, "gshare_storage_device": self.device}
        return {name: value for name, value in found.items() if value}


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# Words count only where they are the whole address: there are hosts below your-server.de.
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\.\.\.|\u2026|(?:^|@)(?:your[-_]\w+|(?:ip|address|change[-_]?me|replace[-_]?me|placeholder|todo|fixme))(?=:|$)",
    re.I,
)
_DOTTED_PLACEHOLDER = re.compile(r"(?:.*@)?(?=[^:]*[xX*])(?:[0-9]+|[xX]+|\*)(?:\.(?:[0-9]+|[xX]+|\*)){3}(?::.*)?")
# Names that mean this machine, or a group.
_RESERVED = ("localhost", "all", "ungrouped")
_REACHABLE = "write an address that the other machines can reach"
_PORT_REMEDY = "a port goes into SSH_OPTS (-p {port}), or into ~/.ssh/config where machines differ"


def placeholder(text: str) -> None:
    """Refuse text that was meant to be replaced."""
    if _PLACEHOLDER.search(text) or _DOTTED_PLACEHOLDER.fullmatch(text):
        raise Wrong(f"'{text}' is a placeholder", "put the real value there")


def entries(assignment: Assignment, line: t.Callable[[int], int]) -> t.Iterator[Entry]:
    """Split a list at its commas; one at the end is no entry of its own."""
    at = 0
    parts = assignment.value.split(",")
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    for part in parts:
        text = part.strip()
        inside = at + len(part) - len(part.lstrip())
        start = assignment.offset(inside)
        end = assignment.offset(inside + len(text) - 1) + 1 if text else start
        yield Entry(assignment.key, text, line(start), start, end)
        at += len(part) + 1


def whole(assignment: Assignment, line: t.Callable[[int], int]) -> Entry:
    """Take the value as one entry; a comma at its end means nothing."""
    text = assignment.value.rstrip().removesuffix(",").strip()
    inside = len(assignment.value) - len(assignment.value.lstrip())
    start = assignment.offset(inside)
    return Entry(assignment.key, text, line(start), start, assignment.offset(inside + len(text) - 1) + 1)


def node(entry: Entry) -> Node:
    """Read one entry, in the way that its key demands."""
    text = entry.text
    if not text:
        raise Wrong("there is nothing between two commas", "remove one of them")
    placeholder(text)
    if re.search(r"\s", text):
        raise Wrong(f"there is a space in '{text}'", "put a comma between two entries, and no space into one")
    login, slash, device = text.partition(":/")
    user, address, ip, mode = _login(login)
    found = f"/{device}" if slash else None
    try:
        group = _KINDS[entry.key](mode, found)
    except Wrong as wrong:
        return Node("", address, ip, user, found, entry, wrong)
    return Node(group, address, ip, user, found, entry)


def _login(text: str) -> tuple[str | None, str, IP | None, str | None]:
    """Split user@address:mode; a mode that is not there is None."""
    user, at, rest = text.rpartition("@")
    if at and not user:
        raise Wrong(f"there is no user in front of the @ in '{text}'", "write USER@ADDRESS, or the address alone")
    if at:
        user_name(user)
    bracketed = re.fullmatch(r"\[([^\[\]]*)\](?::(.*))?", rest)
    if bracketed:
        address, mode = bracketed.group(1), bracketed.group(2)
        ip = _ipv6(address)
        return user or None, str(ip), ip, mode
    _refuse_bare_ipv6(rest)
    address, colon, last = rest.partition(":")
    name, found = _address(address)
    return user or None, name, found, last if colon else None


def _ipv6(text: str) -> IP:
    try:
        return _usable(ipaddress.IPv6Address(text))
    except ValueError:
        raise Wrong(f"'[{text}]' is not an IPv6 address", "write others without the brackets") from None


def _refuse_bare_ipv6(text: str) -> None:
    if text.count(":") < 2:
        return
    address, _colon, last = text.rpartition(":")
    bare, mode = (address, f":{last}") if re.search("[g-zG-Z]", last) else (text, "")
    try:
        ipaddress.IPv6Address(bare)
    except ValueError:
        return
    raise Wrong(f"'{text}' is an IPv6 address without brackets", f"write [{bare}]{mode}")


def _address(text: str) -> tuple[str, IP | None]:
    """Check an address or a host name, and give it in the form in which the host is called."""
    if not text:
        raise Wrong("there is no address", "write USER@ADDRESS")
    if re.fullmatch(r"[0-9.]+", text):
        try:
            ip = _usable(ipaddress.IPv4Address(text))
        except ValueError:
            remedy = "write four numbers from 0 to 255, without leading zeros"
            raise Wrong(f"'{text}' is not an IPv4 address", remedy) from None
        return text, ip
    if not _NAME.fullmatch(text) or len(text) > 253:
        raise Wrong(f"'{text}' is neither an address nor a host name", "a name has letters, digits, - and . only")
    if text.lower() in _RESERVED or text.lower().endswith(".localhost"):
        raise Wrong(f"'{text}' cannot be a machine of the cluster", _REACHABLE)
    return text.lower(), None


def _usable(ip: IP) -> IP:
    if ip.is_loopback or ip.is_unspecified or ip.is_multicast or str(ip) == "255.255.255.255":
        raise Wrong(f"'{ip}' cannot be a machine of the cluster", _REACHABLE)
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id:
        raise Wrong(f"'{ip}' holds for one interface of one machine only", "write a global address")
    return ip


def _refuse_device(device: str | None) -> None:
    if device:
        raise Wrong(f"there is a device, '{device}',", "write STORAGE_NODE=USER@ADDRESS:/dev/NAME for the storage node")


def _master(mode: str | None, device: str | None) -> str:
    _refuse_device(device)
    if mode is not None:
        _refuse_port(mode)
        raise Wrong(f"the control plane has no mode, but there is '{mode}'", "write USER@ADDRESS only")
    return "kube_control_plane"


def _worker(mode: str | None, device: str | None) -> str:
    _refuse_device(device)
    if mode is None:
        mode = DEFAULT_MODE
    if mode in MODES:
        return f"gpu_{mode}"
    remedy = "use one of the two, in small letters"
    if re.fullmatch(r"[0-9]+", mode):
        remedy = _PORT_REMEDY.format(port=mode)
    elif near := difflib.get_close_matches(mode.lower(), MODES, n=1):
        remedy = f"write {near[0]}"
    elif mode.lower() == "cpu":
        remedy = "a worker without GPU goes into CPU_WORKERS"
    raise Wrong(f"the mode '{mode}' is neither exclusive nor fractional", remedy)


def _cpu_worker(mode: str | None, device: str | None) -> str:
    _refuse_device(device)
    if mode is not None:
        _refuse_port(mode)
        raise Wrong(f"a CPU worker has no mode, but there is '{mode}'", "a worker with GPUs goes into WORKER_NODES")
    return "cpu_node"


def _storage(mode: str | None, device: str | None) -> str:
    example = "write USER@ADDRESS:/dev/NAME"
    if mode is not None and re.fullmatch(r"[0-9]+", mode):
        _refuse_port(mode)
    if mode:
        raise Wrong(f"the device '{mode}' is not an absolute path", f"write /dev/{mode}" if mode.isalnum() else example)
    if not device:
        raise Wrong("there is no device", example)
    if not re.fullmatch(r"/dev/(?:[^/\s,]+/)*[^/\s,]+", device) or ".." in device.split("/"):
        raise Wrong(f"'{device}' is not a device below /dev", f"{example}, and several devices into STORAGE_VDEVS")
    return "storage_node"


def _refuse_port(mode: str) -> None:
    if re.fullmatch(r"[0-9]+", mode):
        raise Wrong(f"'{mode}' stands where the mode belongs", _PORT_REMEDY.format(port=mode))


_KINDS: dict[str, t.Callable[[str | None, str | None], str]] = {
    "MASTER_NODE": _master,
    "WORKER_NODES": _worker,
    "CPU_WORKERS": _cpu_worker,
    "STORAGE_NODE": _storage,
}
