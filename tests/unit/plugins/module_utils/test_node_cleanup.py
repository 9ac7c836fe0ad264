# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib

from ansible_collections.gshare.cluster.plugins.module_utils import _node_cleanup as cleanup

FIXTURES = pathlib.Path(__file__).parent / "fixtures" / "node_cleanup"


def applied(saved: str, script: str) -> str:
    """What iptables-restore --noflush makes of the rules: the few commands that the script uses."""
    lines, table, wanted = [], "", {}
    for line in script.splitlines():
        table = line[1:] if line.startswith("*") else table
        wanted.setdefault(table, []).append(line)
    for line in saved.splitlines():
        table = line[1:] if line.startswith("*") else table
        commands = wanted.get(table, [])
        words = line.split()
        deleted = line.startswith("-A ") and f"-D{line[2:]}" in commands
        flushed = line.startswith("-A ") and f"-F {words[1]}" in commands
        dropped = line.startswith(":") and f"-X {words[0][1:]}" in commands
        if not (deleted or flushed or dropped):
            lines.append(line)
    return "\n".join(lines) + "\n"


def test_only_rules_of_the_cluster_go() -> None:
    saved = (FIXTURES / "worker.save").read_text()
    script, removed = cleanup.rules_to_delete(saved)
    assert script == (FIXTURES / "worker.script.golden").read_text()
    left = applied(saved, script)
    assert left == (FIXTURES / "worker.left.golden").read_text()
    assert "nat: chain KUBE-SVC-TCOU7JCQXEZGVUNU" in removed
    assert "filter: FORWARD to FLANNEL-FWD" in removed
    assert cleanup.rules_to_delete(left) == ("", [])


def test_rules_of_others_are_no_reason_to_do_anything() -> None:
    assert cleanup.rules_to_delete((FIXTURES / "plain.save").read_text()) == ("", [])
    assert cleanup.rules_to_delete("") == ("", [])


def test_links() -> None:
    names = ["lo", "eth0", "cni0", "flannel.1", "docker0", "cni-podman0", "veth1"]
    text = json.dumps([{"ifname": name} for name in names])
    assert cleanup.links_to_delete(text) == ["cni0", "flannel.1"]
    assert cleanup.links_to_delete("") == []


def test_nft_tables() -> None:
    text = "table ip filter\ntable ip kube-proxy\ntable inet mine\ntable ip6 flannel-ipv6\ntable inet kube-proxy\n"
    assert cleanup.nft_tables_to_delete(text) == [("ip", "kube-proxy"), ("ip6", "flannel-ipv6")]
    assert cleanup.nft_tables_to_delete("") == []


def test_mounts_are_listed_innermost_first() -> None:
    mounts = """\
/dev/sda1 / ext4 rw 0 0
/dev/sdb1 /var/lib/kubelet ext4 rw 0 0
tmpfs /var/lib/kubelet/pods/a/volumes/kubernetes.io~projected/token tmpfs rw 0 0
192.0.2.14:/gshare /var/lib/kubelet/pods/a/volumes/nfs\\040x nfs4 rw 0 0
tmpfs /var/lib/kubelet/pods/a/volumes/nfs\\040x/deep tmpfs rw 0 0
tmpfs /var/lib/kubelet-other/x tmpfs rw 0 0
"""
    assert cleanup.mounts_below(mounts, ["/var/lib/kubelet"]) == [
        "/var/lib/kubelet/pods/a/volumes/kubernetes.io~projected/token",
        "/var/lib/kubelet/pods/a/volumes/nfs x/deep",
        "/var/lib/kubelet/pods/a/volumes/nfs x",
    ]


def test_case_62_podman_is_not_on_any_list() -> None:
    assert "etc/cni/net.d/10-flannel.conflist" in cleanup.FILES
    assert not any("podman" in name for name in cleanup.FILES + cleanup.FOLDERS)
    assert "etc/cni/net.d" not in cleanup.FOLDERS
    assert "etc/kubernetes" not in cleanup.FOLDERS
