# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _kernel

BUILTIN = "kernel/fs/overlayfs/overlay.ko\nkernel/net/bridge/br_netfilter.ko.zst\nkernel/drivers/net/dummy-one.ko\n"


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("overlay", True),
        ("br_netfilter", True),
        ("br-netfilter", True),
        ("dummy_one", True),
        ("lay", False),
        ("", False),
    ],
)
def test_builtin_modules(name: str, there: bool) -> None:
    assert _kernel.is_builtin(name, BUILTIN) is there


def test_filesystems() -> None:
    text = "nodev\tsysfs\n\text4\nnodev\toverlay\n"
    assert _kernel.is_filesystem("overlay", text)
    assert _kernel.is_filesystem("ext4", text)
    assert not _kernel.is_filesystem("nodev", text)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward"),
        ("net/ipv4/ip_forward", "/proc/sys/net/ipv4/ip_forward"),
        ("net.ipv4.conf.eth0/1.forwarding", "/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
        ("net/ipv4/conf/eth0.1/forwarding", "/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
    ],
)
def test_paths_of_keys(key: str, path: str) -> None:
    assert _kernel.sysctl_path(key) == path


def test_values_with_several_numbers() -> None:
    assert _kernel.normal("4096\t87380 6291456\n") == "4096 87380 6291456"


def test_texts_of_the_files() -> None:
    assert _kernel.modules_text(["overlay", "br_netfilter"]).split("\n")[1:] == ["overlay", "br_netfilter", ""]
    assert _kernel.sysctl_text({"net.ipv4.ip_forward": "1"}).split("\n")[1:] == ["net.ipv4.ip_forward = 1", ""]


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"zzz.conf": "net.ipv4.ip_forward=0\n"}, "zzz.conf"),
        ({"zzz.conf": "-net/ipv4/ip_forward = 0\n"}, "zzz.conf"),
        ({"zzz.conf": "net.ipv4.ip_forward = 1\n"}, ""),
        ({"zzz.conf": "# net.ipv4.ip_forward = 0\n; net.ipv4.ip_forward = 0\n"}, ""),
        ({"99-sysctl.conf": "net.ipv4.ip_forward = 0\n"}, ""),
        ({"zzy.conf": "net.ipv4.ip_forward=0\n", "zzz.conf": "net.ipv4.ip_forward=1\n"}, ""),
    ],
)
def test_a_later_file_that_undoes_a_value(files: dict[str, str], name: str) -> None:
    assert _kernel.overriding("net.ipv4.ip_forward", "1", "zz-gshare.conf", files) == name
