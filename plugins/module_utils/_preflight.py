# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads what the kernel and the system's files say about a machine.

Note that this module util is **PRIVATE** to the collection. Text in, plain data out: no I/O.
"""

from __future__ import annotations

import re
import typing as t

_UP, _REJECT, _LOCAL = 0x1, 0x200, 0x80000000
_LISTEN = {"tcp": "0A", "udp": "07"}


def assignments(text: str) -> dict[str, str]:
    """NAME=value lines as in os-release and /etc/environment, quotes and a leading C(export) taken off."""
    found = {}
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("export "):
            line = line[len("export ") :].lstrip()
        name, sep, value = line.partition("=")
        if not sep or line.startswith("#"):
            continue
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        found[name.strip()] = value
    return found


def memory_mb(meminfo: str) -> dict[str, int]:
    """Total and available memory in MiB."""
    found = {}
    for key, name in (("MemTotal", "total"), ("MemAvailable", "available")):
        hit = re.search(rf"^{key}:\s+(\d+) kB", meminfo, re.M)
        found[name] = int(hit.group(1)) // 1024 if hit else 0
    return found


def cgroup_version(mounts: str) -> str:
    """V(v2) if /sys/fs/cgroup itself is the unified hierarchy, otherwise V(v1); empty if nothing is mounted there."""
    kinds = [
        fields[2] for fields in map(str.split, mounts.split("\n")) if len(fields) > 2 and fields[1] == "/sys/fs/cgroup"
    ]
    if not kinds:
        return "v1" if " /sys/fs/cgroup/" in mounts else ""
    return "v2" if kinds[-1] == "cgroup2" else "v1"


def _ipv4(word: str) -> str:
    """An address as the kernel prints it: one number in the machine's byte order."""
    return ".".join(str(byte) for byte in bytes.fromhex(word)[::-1])


def _ipv6(digits: str) -> str:
    """32 digits as groups; short enough for people is the controller's business."""
    return ":".join(digits[i : i + 4] for i in range(0, 32, 4))


def routes(route: str, ipv6_route: str) -> list[dict[str, str]]:
    """The main table: C(to), C(via) (empty if connected), C(interface)."""
    found = []
    for line in route.split("\n")[1:]:
        fields = line.split()
        if len(fields) < 8 or not int(fields[3], 16) & _UP or int(fields[3], 16) & _REJECT:
            continue
        prefix = bin(int(fields[7], 16)).count("1")
        via = _ipv4(fields[2])
        found.append(_route(f"{_ipv4(fields[1])}/{prefix}", "" if via == "0.0.0.0" else via, fields[0]))
    for line in ipv6_route.split("\n"):
        fields = line.split()
        if len(fields) < 10 or fields[0].startswith(("fe8", "ff")):
            continue
        flags = int(fields[8], 16)
        if not flags & _UP or flags & (_REJECT | _LOCAL):
            continue
        via = "" if set(fields[4]) == {"0"} else _ipv6(fields[4])
        found.append(_route(f"{_ipv6(fields[0])}/{int(fields[1], 16)}", via, fields[9]))
    return found


def _route(to: str, via: str, interface: str) -> dict[str, str]:
    return {"to": to, "via": via, "interface": interface}


def addresses(ifconf: bytes, if_inet6: str) -> list[dict[str, str]]:
    """The machine's own addresses with their interfaces, without loopback and link-local ones.

    C(ifconf) is what the kernel answers to SIOCGIFCONF: entries of 40 bytes, name and IPv4 socket address.
    """
    found = []
    for start in range(0, len(ifconf) - 39, 40):
        entry = ifconf[start : start + 40]
        name = entry[:16].partition(b"\0")[0].decode("ascii", "replace").partition(":")[0]
        address = ".".join(str(byte) for byte in entry[20:24])
        if not address.startswith("127."):
            found.append({"address": address, "interface": name})
    for line in if_inet6.split("\n"):
        fields = line.split()
        if len(fields) == 6 and fields[3] == "00":
            found.append({"address": _ipv6(fields[0]), "interface": fields[5]})
    return found


def listeners(table: str, protocol: str, ports: t.Container[int]) -> list[dict[str, t.Any]]:
    """Sockets of one of /proc/net/{tcp,tcp6,udp,udp6} that wait on one of C(ports)."""
    found = []
    for line in table.split("\n")[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != _LISTEN[protocol]:
            continue
        address, _sep, port = fields[1].partition(":")
        if int(port, 16) in ports:
            found.append(
                {"protocol": protocol, "port": int(port, 16), "address": _socket_address(address), "inode": fields[9]}
            )
    return found


def _socket_address(digits: str) -> str:
    if len(digits) == 8:
        return _ipv4(digits)
    swapped = b"".join(bytes.fromhex(digits[i : i + 8])[::-1] for i in range(0, 32, 8))
    return _ipv6(swapped.hex())


def dpkg_packages(status: str, names: t.Container[str]) -> dict[str, dict[str, t.Any]]:
    """Version and hold of those packages that are installed, out of /var/lib/dpkg/status."""
    found = {}
    for stanza in status.split("\n\n"):
        head = stanza.lstrip("\n").partition("\n")[0]
        name = head[len("Package: ") :].strip()
        if not head.startswith("Package: ") or name not in names:
            continue
        state = re.search(r"^Status: (\S+) \S+ (\S+)", stanza, re.M)
        version = re.search(r"^Version: (\S+)", stanza, re.M)
        if state and version and state.group(2) not in ("not-installed", "config-files"):
            found[name] = {"version": version.group(1), "hold": state.group(1) == "hold"}
    return found


def yaml_value(text: str, key: str) -> str:
    """The first plain C(key: value) of a file that kubeadm wrote; there is no YAML parser on a bare machine."""
    hit = re.search(rf"^[\s-]*{re.escape(key)}:\s*[\"']?([^\s\"'#]+)", text, re.M)
    return hit.group(1) if hit else ""


def image_tag(manifest: str) -> str:
    """The version in the image of a static pod."""
    image = yaml_value(manifest, "image").partition("@")[0]
    name, sep, tag = image.rpartition(":")
    return tag.lstrip("v") if sep and "/" not in tag and name else ""


def hosts_entries(text: str) -> list[dict[str, t.Any]]:
    """The lines of /etc/hosts that are not about the machine itself."""
    found = []
    for line in text.split("\n"):
        words = line.partition("#")[0].split()
        if len(words) > 1 and not words[0].startswith(("127.", "::1", "fe00:", "ff0", "0.0.0.0")):
            found.append({"address": words[0], "names": words[1:]})
    return found


def cloud_init_hosts(texts: t.Iterable[str]) -> bool:
    """Whether cloud-init writes /etc/hosts anew at each boot; later files win."""
    state = False
    for text in texts:
        for value in re.findall(r"^manage_etc_hosts:\s*[\"']?(\w+)", text, re.M):
            state = value.lower() in ("true", "template", "yes", "on")
    return state


def ufw_allowed(rules: str) -> list[str]:
    """What ufw lets in, out of its user.rules: V(22/tcp), V(6000:6010/udp), V(any)."""
    found = []
    for line in re.findall(r"^### tuple ### (.*)$", rules, re.M):
        words = line.split()
        if len(words) < 7 or words[0] not in ("allow", "limit") or not words[-1].startswith("in"):
            continue
        protocol, ports = words[1], words[2]
        for port in ports.split(","):
            found.append("any" if port == "any" else port if protocol == "any" else f"{port}/{protocol}")
    return list(dict.fromkeys(found))
