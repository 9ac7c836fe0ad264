# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Swap in all its forms: what is on, what would come back after a reboot, and what to change about it.

Note that this module util is **PRIVATE** to the collection. Text and names in, a plan out: no I/O.
"""

from __future__ import annotations

import typing as t

UNIT_FOLDER = "/etc/systemd/system"
GENERATOR_FOLDER = "/etc/systemd/system-generators"
# Services that make swap of their own, past fstab and swap units.
SERVICES = ("dphys-swapfile.service", "swapspace.service", "zram-config.service", "zramswap.service")
_TAGS = {
    "UUID": "/dev/disk/by-uuid/",
    "LABEL": "/dev/disk/by-label/",
    "PARTUUID": "/dev/disk/by-partuuid/",
    "PARTLABEL": "/dev/disk/by-partlabel/",
}


class Area(t.NamedTuple):
    """One line of /proc/swaps; sizes in KiB."""

    name: str
    kind: str
    size: int
    used: int


class Unit(t.NamedTuple):
    """A swap unit that systemd knows: the file it comes from, and whether fstab is its source."""

    name: str
    path: str
    from_fstab: bool


class Plan(t.NamedTuple):
    """What makes and keeps swap off; empty if nothing is to be done."""

    fstab: str | None
    aside: list[str]
    masks: list[str]
    swapoff: list[str]

    def __bool__(self) -> bool:
        return self.fstab is not None or bool(self.aside or self.masks or self.swapoff)


def areas(proc_swaps: str) -> list[Area]:
    """The active areas; a file with nothing but the header means that swap is off."""
    found = []
    for line in proc_swaps.split("\n")[1:]:
        fields = line.split()
        if len(fields) >= 4 and fields[2].isdigit() and fields[3].isdigit():
            found.append(Area(unescape(fields[0]), fields[1], int(fields[2]), int(fields[3])))
    return found


def unescape(text: str) -> str:
    r"""Undo the kernel's \040 for a blank, as in /proc/swaps and fstab."""
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def _is_swap(line: str) -> bool:
    """Whether this line of fstab turns swap on at boot; C(noauto) does not."""
    fields = line.split()
    if len(fields) < 3 or fields[0].startswith("#") or fields[2] != "swap":
        return False
    return "noauto" not in (fields[3].split(",") if len(fields) > 3 else [])


def fstab_without_swap(text: str) -> str:
    """The file with its swap lines commented out and every other byte kept."""
    return "\n".join("# " + line if _is_swap(line) else line for line in text.split("\n"))


def fstab_devices(text: str) -> list[str]:
    """Device or file of each swap line, tags as the link below /dev/disk."""
    found = []
    for line in text.split("\n"):
        if _is_swap(line):
            source = line.split()[0]
            tag, sep, value = source.partition("=")
            found.append(_TAGS[tag] + value.strip('"') if sep and tag in _TAGS else unescape(source))
    return found


def unit_name(path: str) -> str:
    """The name that systemd gives the swap unit of a device or file (systemd-escape --path --suffix=swap)."""
    parts = [part for part in path.split("/") if part]
    escaped = []
    for position, char in enumerate("/".join(parts)):
        if char == "/":
            escaped.append("-")
        elif (char.isascii() and char.isalnum()) or char in ":_" or (char == "." and position > 0):
            escaped.append(char)
        else:
            escaped.extend(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
    return "".join(escaped) + ".swap"


def plan(
    *,
    active: list[Area],
    fstab: str,
    fstab_areas: list[str],
    units: list[Unit],
    services: list[str],
    zram_generator: bool,
    masked: t.Container[str],
) -> Plan:
    """Decide from what was found.

    C(fstab_areas) are the names under which fstab's areas appear in /proc/swaps; C(services) are those of SERVICES that
    are installed; C(masked) are the names (units, generators) that a link to /dev/null hides already.
    """
    stray = [area.name for area in active if area.name not in fstab_areas]
    own = [unit for unit in units if not unit.from_fstab and unit.name not in masked]
    names = [unit.name for unit in own] + [unit_name(name) for name in stray]
    if own or stray:
        # dev-nvme0n1p3.swap can have another name at the next boot; with the target masked nothing asks for swap.
        names.append("swap.target")
    names += [name for name in services if name not in masked]
    masks = [f"{UNIT_FOLDER}/{name}" for name in dict.fromkeys(names) if name not in masked]
    if zram_generator and "zram-generator" not in masked:
        masks.append(f"{GENERATOR_FOLDER}/zram-generator")
    edited = fstab_without_swap(fstab)
    return Plan(
        fstab=edited if edited != fstab else None,
        # A file of the owner's is in the place of the link: it is moved, not lost.
        aside=sorted({unit.path for unit in own if unit.path.startswith(UNIT_FOLDER + "/")}),
        masks=masks,
        swapoff=[area.name for area in active],
    )
