# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kernel modules and sysctl values: names, files and comparisons.

Note that this module util is **PRIVATE** to the collection. No I/O.
"""

from __future__ import annotations

import typing as t

# What shows that the feature is there although the kernel lists no module of that name.
FEATURES = {"br_netfilter": "/proc/sys/net/bridge", "nf_conntrack": "/proc/sys/net/netfilter"}
_HEADER = "# Written by gshare.cluster, changes are undone by its next run.\n"


def module_key(name: str) -> str:
    """The kernel takes dash and underscore for the same."""
    return name.replace("-", "_")


def is_builtin(name: str, builtin: str) -> bool:
    """Whether C(builtin), the text of modules.builtin, lists the module."""
    wanted = module_key(name)
    if not wanted:
        return False
    for line in builtin.split("\n"):
        if module_key(line.rpartition("/")[2].partition(".ko")[0].strip()) == wanted:
            return True
    return False


def is_filesystem(name: str, filesystems: str) -> bool:
    """Whether /proc/filesystems has it, as for overlay."""
    return any(line.split()[-1:] == [name] for line in filesystems.split("\n"))


def sysctl_path(key: str) -> str:
    """The file of a key; with sysctl's rule that the first separator decides (net.ipv4.conf.eth0/1.forwarding)."""
    dot, slash = key.find("."), key.find("/")
    if slash >= 0 and (dot < 0 or slash < dot):
        return "/proc/sys/" + key
    return "/proc/sys/" + key.translate(str.maketrans("./", "/."))


def normal(value: str) -> str:
    """Values with several numbers come with tabs from the kernel and with blanks from people."""
    return " ".join(value.split())


def modules_text(modules: t.Iterable[str]) -> str:
    return _HEADER + "".join(name + "\n" for name in modules)


def sysctl_text(values: t.Mapping[str, str]) -> str:
    return _HEADER + "".join(f"{key} = {value}\n" for key, value in values.items())


def overriding(key: str, value: str, own: str, files: t.Mapping[str, str]) -> str:
    """The file that sets another value after ours at boot, or an empty text.

    C(files) maps the names of the files of sysctl.d to their texts; they are read in the order of their names.
    """
    last = ""
    for name in sorted(name for name in files if name > own):
        for line in files[name].split("\n"):
            left, sep, right = line.strip().lstrip("-").partition("=")
            if sep and not line.lstrip().startswith(("#", ";")) and sysctl_path(left.strip()) == sysctl_path(key):
                last = name if normal(right) != normal(value) else ""
    return last
