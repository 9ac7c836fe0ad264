# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""What belongs to a cluster on a machine, and what does not. Texts in, lists out."""

from __future__ import annotations

import json
import re
import typing as t

# Links of flannel, of the bridge plugin as flannel uses it, and of kube-proxy in IPVS mode.
LINKS = ("cni0", "flannel.1", "flannel-v6.1", "kube-ipvs0")

# nft tables of kube-proxy and flannel in nftables mode.
NFT_TABLES = (
    ("ip", "kube-proxy"),
    ("ip6", "kube-proxy"),
    ("ip", "flannel-ipv4"),
    ("ip6", "flannel-ipv6"),
)

# Chains of kubelet, kube-proxy and flannel, in whatever table.
CHAIN = re.compile(r"^(KUBE-|FLANNEL-)")

FILES = (
    "etc/cni/net.d/10-flannel.conflist",
    "etc/cni/net.d/10-flannel.conf",
    "etc/kubernetes/admin.conf",
    "etc/kubernetes/super-admin.conf",
    "etc/kubernetes/kubelet.conf",
    "etc/kubernetes/bootstrap-kubelet.conf",
    "etc/kubernetes/controller-manager.conf",
    "etc/kubernetes/scheduler.conf",
    "etc/kubernetes/gshare-init-unfinished",
    "etc/kubernetes/manifests/kube-apiserver.yaml",
    "etc/kubernetes/manifests/kube-controller-manager.yaml",
    "etc/kubernetes/manifests/kube-scheduler.yaml",
    "etc/kubernetes/manifests/etcd.yaml",
)

# What the preparation of a machine writes for its cluster: it goes with a reset for good, not with one before a join.
PREPARED_FILES = ("etc/systemd/network/10-gshare-flannel.link",)

FOLDERS = (
    "etc/kubernetes/pki",
    "etc/kubernetes/tmp",
    "run/flannel",
    "usr/local/vgpu",  # HAMi's
    "var/lib/cni/flannel",
    "var/lib/cni/networks/cbr0",
    "var/lib/kubelet",
    "var/lib/etcd",
    "var/log/containers",
    "var/log/pods",
)

# Folders that go if nothing is left in them, inner ones first.
EMPTY_FOLDERS = ("var/lib/cni/networks", "var/lib/cni/results", "var/lib/cni")


def _rule_words(line: str) -> tuple[str, str]:
    """The chain that a rule stands in and the chain that it jumps to."""
    chain = re.match(r"-A (\S+)", line)
    bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)  # a comment may hold anything
    target = re.search(r"\s(?:-j|--jump|-g|--goto) (\S+)", bare)
    return (chain.group(1) if chain else "", target.group(1) if target else "")


def rules_to_delete(saved: str) -> tuple[str, list[str]]:
    """Out of `iptables-save` the input for `iptables-restore --noflush` that takes the cluster's rules away.

    Only jumps into the cluster's chains and these chains themselves are named: every other rule stays, and keeps its
    counters. The second part of the answer lists what goes, table by table.
    """
    script: list[str] = []
    removed: list[str] = []
    for table, lines in _tables(saved):
        chains = [line[1:].split()[0] for line in lines if line.startswith(":")]
        ours = [name for name in chains if CHAIN.match(name)]
        jumps = []
        for line in lines:
            chain, target = _rule_words(line)
            if chain and not CHAIN.match(chain) and CHAIN.match(target):
                jumps.append(line)
        if not ours and not jumps:
            continue
        script.append(f"*{table}")
        script.extend(f"-D{line[2:]}" for line in jumps)
        script.extend(f"-F {name}" for name in ours)
        script.extend(f"-X {name}" for name in ours)
        script.append("COMMIT")
        removed.extend(f"{table}: {_rule_words(line)[0]} to {_rule_words(line)[1]}" for line in jumps)
        removed.extend(f"{table}: chain {name}" for name in ours)
    return ("\n".join(script) + "\n" if script else ""), removed


def _tables(saved: str) -> t.Iterator[tuple[str, list[str]]]:
    table = ""
    lines: list[str] = []
    for line in saved.splitlines():
        if line.startswith("*"):
            table, lines = line[1:].strip(), []
        elif line.startswith("COMMIT"):
            yield table, lines
        elif not line.startswith("#"):
            lines.append(line)


def links_to_delete(ip_json: str) -> list[str]:
    """Out of `ip -j link`."""
    present = [str(entry.get("ifname", "")) for entry in json.loads(ip_json or "[]")]
    return [name for name in LINKS if name in present]


def nft_tables_to_delete(nft_list: str) -> list[tuple[str, str]]:
    """Out of `nft list tables`."""
    present = {tuple(line.split()[1:3]) for line in nft_list.splitlines() if line.startswith("table ")}
    return [table for table in NFT_TABLES if table in present]


def mounts_below(proc_mounts: str, folders: t.Sequence[str]) -> list[str]:
    """Mount points inside the folders, innermost first; a mount of a folder itself is the owner's disk and stays."""
    points = []
    for line in proc_mounts.splitlines():
        words = line.split(" ")
        if len(words) > 1:
            points.append(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), words[1]))
    inside = [point for point in points if any(point.startswith(folder.rstrip("/") + "/") for folder in folders)]
    return sorted(dict.fromkeys(inside), key=lambda point: (-point.count("/"), point))
