# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The process that keeps one node alive: it mounts the node's disk, runs it, and starts it again when it reboots.

It lives in a mount namespace of its own (see ``nodes.Node.start``), so that all mounts go with the last process of the
node, whatever way that ends. It knows nothing but the node's folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import typing as t
from pathlib import Path

from nodelab.cgroups import Groups
from nodelab.emptied import Emptied

# What systemd-nspawn ends with when the node asked for a reboot.
REBOOT = 133
# Folders that containers cannot have on an overlay, kept in plain folders of the node.
PLAIN = {"containerd": "/var/lib/containerd", "kubelet": "/var/lib/kubelet", "etcd": "/var/lib/etcd"}
CUT = "cut"
REPORT_SECONDS = 1.0
_HERE = Path("/run/lab")


def nspawn_command(node: t.Mapping[str, t.Any], here: Path, *, unified: bool) -> list[str]:
    """Return the command line that boots a node from ``here``."""
    return [
        "systemd-nspawn",
        "--quiet",
        f"--directory={here}/root",
        f"--machine=gshare-{node['lab']}-{node['name']}",
        f"--hostname={node['name']}",
        f"--network-namespace-path={here}/net",
        "--register=no",
        "--keep-unit",
        "--settings=no",
        "--link-journal=no",
        "--resolv-conf=off",
        "--timezone=off",
        "--capability=all",
        # The clock is the machine's.
        "--drop-capability=CAP_SYS_TIME",
        "--system-call-filter=@keyring bpf add_key keyctl",
        *(f"--bind={here}/node/{name}:{path}" for name, path in PLAIN.items()),
        "--bind=/dev/kmsg",
        "--bind=/dev/fuse",
        "--boot",
        # systemd 256 and newer refuses version 1 without the first; older ones ignore it.
        *([] if unified else ["SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1", "systemd.unified_cgroup_hierarchy=0"]),
    ]


def keep(folder: Path) -> int:
    """Run the node of this folder until it is switched off."""
    node = json.loads((folder / "node.json").read_text(encoding="utf-8"))
    groups = Groups.detect(node["lab"])
    _mount(folder, Path(node["base"]))
    while True:
        _plug_in(node, cut=(_HERE / "node" / CUT).exists())
        command = groups.command(node["name"], nspawn_command(node, _HERE, unified=groups.unified))
        environment = {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1" if groups.unified else "0"}
        status = _run_node(command, environment, Emptied.of(groups, node["name"]))
        _say(f"{node['name']} ended with status {status}")
        groups.kill(node["name"])
        groups.remove(node["name"])
        _unplug(node)
        if status != REBOOT:
            return status


def _run_node(command: list[str], environment: dict[str, str], emptied: Emptied | None) -> int:
    """Run the node to its end and report emptied groups to it meanwhile."""
    with subprocess.Popen(command, env=environment) as child:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(REPORT_SECONDS)
            if emptied is not None:
                emptied.report()


def _mount(folder: Path, base: Path) -> None:
    """Put the node's disk together below /run, under short names; /run and /tmp are this process' own from here on."""
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "lab", "/run")
    for name in ("base", "node", "root"):
        (_HERE / name).mkdir(parents=True)
    # systemd-nspawn cleans up after a reboot only with a file system of its own here.
    Path("/run/systemd/nspawn").mkdir(parents=True)
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "lab", "/run/systemd/nspawn")
    _run("mount", "--bind", str(base), str(_HERE / "base"))
    _run("mount", "--bind", str(folder), str(_HERE / "node"))
    options = f"lowerdir={_HERE}/base,upperdir={_HERE}/node/upper,workdir={_HERE}/node/work"
    _run("mount", "-t", "overlay", "-o", options, "lab", str(_HERE / "root"))
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "lab", "/tmp")


def _plug_in(node: t.Mapping[str, t.Any], *, cut: bool) -> None:
    """Make a new network namespace with the node's end of its cable as eth0."""
    namespace = _HERE / "net"
    namespace.touch()
    _remove_link(node["link"])
    # A new namespace takes this setting over from the machine, where a lab needs it; a fresh server does not forward.
    _run("unshare", f"--net={namespace}", "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
    mtu = str(node["mtu"])
    _run(
        *("ip", "link", "add", node["link"], "mtu", mtu, "address", node["mac_outside"], "type", "veth"),
        *("peer", "name", "eth0", "mtu", mtu, "address", node["mac"], "netns", str(namespace)),
    )
    _run("ip", "link", "set", node["link"], "master", node["bridge"])
    _run("ip", "link", "set", node["link"], "down" if cut else "up")


def _unplug(node: t.Mapping[str, t.Any]) -> None:
    _remove_link(node["link"])
    _run("umount", "--lazy", str(_HERE / "net"))


def _remove_link(name: str) -> None:
    """Remove the machine's end; that of the node's last run may be going by itself at this moment."""
    while Path("/sys/class/net", name).exists():
        if subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True).returncode != 0:
            time.sleep(0.05)


def _run(*argv: str) -> None:
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: {done.stderr.strip()}")


def _say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1])))
