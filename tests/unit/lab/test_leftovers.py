# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nodelab import kernel
from nodelab.leftovers import difference, leave_out
from nodelab.network import Network


def test_the_same_twice_is_no_difference() -> None:
    state = {"mounts": ["/a", "/b"], "links": ["lo 65536"]}
    assert difference(state, {"mounts": ["/b", "/a"], "links": ["lo 65536"]}) == {}


def test_what_came_and_what_went() -> None:
    before = {"mounts": ["/a"], "links": ["lo"], "swap": []}
    after = {"mounts": ["/a", "/b"], "links": [], "swap": []}
    assert difference(before, after) == {"mounts": ["+ /b"], "links": ["- lo"]}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up /proc/sys with three settings and a boot_id."""
    root = tmp_path / "sys"
    for name, value in (
        ("net/ipv4/ip_forward", "0"),
        ("fs/inotify/max_user_instances", "128"),
        ("kernel/panic", "0"),
        ("kernel/random/boot_id", "first"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{value}\n", encoding="ascii")
    monkeypatch.setattr(kernel, "PROC_SYS", root)
    monkeypatch.setattr(kernel, "BOOT_ID", root / "kernel/random/boot_id")
    return root


def test_settings_go_back_to_what_they_were_before_the_first_lab(settings: Path, tmp_path: Path) -> None:
    record = tmp_path / "host.json"
    kernel.save(record)
    assert kernel.read("net.ipv4.ip_forward") == "1"
    assert int(kernel.read("fs.inotify.max_user_instances") or 0) >= 1024
    (settings / "kernel/panic").write_text("10\n", encoding="ascii")
    kernel.save(record)
    kernel.restore(record)
    assert kernel.read("net.ipv4.ip_forward") == "0"
    assert kernel.read("fs.inotify.max_user_instances") == "128"
    assert kernel.read("kernel.panic") == "0"
    assert not record.exists()


def test_a_record_from_before_a_reboot_is_not_used(settings: Path, tmp_path: Path) -> None:
    record = tmp_path / "host.json"
    record.write_text(json.dumps({"boot_id": "older", "values": {"kernel.panic": "99"}}), encoding="ascii")
    kernel.restore(record)
    assert kernel.read("kernel.panic") == "0"


def test_a_larger_number_stays(settings: Path, tmp_path: Path) -> None:
    (settings / "fs/inotify/max_user_instances").write_text("8192\n", encoding="ascii")
    kernel.save(tmp_path / "host.json")
    assert kernel.read("fs.inotify.max_user_instances") == "8192"


def test_what_belongs_to_other_labs_is_left_out() -> None:
    found = {
        "links": ["+ gslab1 1400", "+ gslab1-10 1400", "+ gslab10 1400"],
        "cgroups": ["+ /sys/fs/cgroup/memory/gshare-lab/a/cpu1", "+ /sys/fs/cgroup/memory/gshare-lab/a-2/cpu1"],
        "firewall": ["+ table ip gshare_lab_a: chain forward {"],
        "labs": ["+ /cache/labs/a/lab.json"],
        "settings": ["+ kernel/panic = 10"],
    }
    assert leave_out(found, [Network("a", 1)]) == {
        "links": ["+ gslab10 1400"],
        "cgroups": ["+ /sys/fs/cgroup/memory/gshare-lab/a-2/cpu1"],
    }
    assert leave_out(found, []) == found
