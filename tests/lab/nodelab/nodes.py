# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One node: its folder, its power, its cable."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import typing as t
import uuid
from dataclasses import dataclass
from pathlib import Path

from nodelab import gpu, interrupts, keeper, network, process, upstream
from nodelab.cgroups import Groups
from nodelab.errors import LabError
from nodelab.inventory import USER, ssh_options
from nodelab.network import Network
from nodelab.spec import NodeSpec

_DISK = ("upper", "work", *keeper.PLAIN)


@dataclass(frozen=True)
class Node:
    """A node of a lab; all that is known of it is in its folder."""

    folder: Path
    groups: Groups

    @property
    def name(self) -> str:
        """The node's name, which is its host name too."""
        return self.folder.name

    @property
    def config(self) -> dict[str, t.Any]:
        """What its keeper is told."""
        content: dict[str, t.Any] = json.loads((self.folder / "node.json").read_text(encoding="utf-8"))
        return content

    @property
    def address(self) -> str:
        """Its address."""
        return str(self.config["address"])

    @property
    def console(self) -> Path:
        """The log of its console and its keeper."""
        return self.folder / "console.log"

    @property
    def keeper_group(self) -> str:
        """The group of its keeper; the node itself lives in the group of its name."""
        return f"{self.name}.keeper"

    def create(self, spec: NodeSpec, net: Network, base: Path, mtu: int) -> None:
        """Write its folder; nothing runs yet."""
        self.folder.mkdir(parents=True)
        config = {
            "lab": net.lab,
            "name": spec.name,
            "kind": spec.kind,
            "suite": spec.suite,
            "features": sorted(spec.features),
            "base": str(base),
            "address": net.address(spec.host),
            "gateway": net.gateway,
            "bridge": net.bridge,
            "link": net.link(spec.host),
            "mac": net.mac(spec.host),
            "mac_outside": net.mac(spec.host, end=1),
            "mtu": mtu,
        }
        self._make_disk(config)
        self._write_config(config)

    def _write_config(self, config: t.Mapping[str, t.Any]) -> None:
        temporary = self.folder / "node.json.new"
        temporary.write_text(json.dumps(config, indent=1), encoding="utf-8")
        temporary.rename(self.folder / "node.json")

    def _make_disk(self, config: t.Mapping[str, t.Any]) -> None:
        """Make the empty layer over the base with the few files in which nodes differ."""
        for name in _DISK:
            (self.folder / name).mkdir(exist_ok=True)
        etc = self.folder / "upper" / "etc"
        (etc / "lab").mkdir(parents=True)
        for folder in (self.folder / "upper", etc, etc / "lab"):
            folder.chmod(0o755)
        name, address = config["name"], config["address"]
        (etc / "hostname").write_text(f"{name}\n", encoding="ascii")
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n{address} {name}\n", encoding="ascii")
        (etc / "machine-id").write_text(f"{uuid.uuid4().hex}\n", encoding="ascii")
        (etc / "lab" / "network.env").write_text(
            f"ADDRESS={address}/24\nGATEWAY={config['gateway']}\n", encoding="ascii"
        )
        if config["kind"] == "gpu":
            gpu.furnish(self.folder / "upper", config["lab"], name)

    def state(self) -> str:
        """Return off, running, or cut (running without its network)."""
        if not self.groups.pids(self.keeper_group) and not self.groups.pids(self.name):
            return "off"
        return "cut" if (self.folder / keeper.CUT).exists() else "running"

    def start(self) -> bool:
        """Switch it on; return False if it was on."""
        if self.state() != "off":
            return False
        argv = ["unshare", "--mount", "--propagation", "private"]
        argv += [sys.executable, "-m", "nodelab.keeper", str(self.folder)]
        upstream.launch(self.groups, self.keeper_group, argv, self.console)
        return True

    def kill(self) -> None:
        """Cut its power: the keeper first, which would start it again after a reboot, then everything in it."""
        for group in (self.keeper_group, self.name):
            self.groups.kill(group)
        network.remove_link(self.config["link"])
        for group in (self.keeper_group, self.name):
            self.groups.remove(group)

    def cut(self) -> None:
        """Pull its network cable; it stays out over reboots."""
        (self.folder / keeper.CUT).touch()
        self._set_link("down")

    def mend(self) -> None:
        """Plug its network cable in again."""
        (self.folder / keeper.CUT).unlink(missing_ok=True)
        self._set_link("up")

    def _set_link(self, state: str) -> None:
        link = self.config["link"]
        if network.exists(link):
            process.run(["ip", "link", "set", link, state])

    def wipe(self, base: Path | None = None) -> None:
        """Put its disk back to that of a machine just installed, perhaps from a newer base; it must be off."""
        config = self.config
        remove_tree(*(self.folder / name for name in _DISK))
        self._make_disk(config)
        if base is not None:
            self._write_config({**config, "base": str(base)})

    def memory(self) -> int:
        """Return the bytes of memory in use."""
        return self.groups.memory(self.name)

    def ssh(self, key: Path, *command: str) -> list[str]:
        """Return the command line that reaches it."""
        options = [*ssh_options(key), "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=10"]
        return ["ssh", *options, f"{USER}@{self.address}", *command]

    def answers(self, key: Path) -> bool:
        """Say whether a user can log in over SSH; while a node boots it refuses all but root."""
        if not upstream.answers(self.address, 22):
            return False
        done = subprocess.run([*self.ssh(key), "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode == 0


def remove_tree(*folders: Path) -> None:
    """Remove folders and what is in them, on their own file system only."""
    process.run(["rm", "-rf", "--one-file-system", "--", *folders])


def wait_for_ssh(nodes: t.Sequence[Node], key: Path, timeout: float = 120.0) -> None:
    """Wait until a user can log in to every node; one that goes off meanwhile is an error at once."""
    end = time.monotonic() + timeout
    waiting = list(nodes)
    while waiting:
        interrupts.check()
        waiting = [node for node in waiting if not node.answers(key)]
        for node in waiting:
            if node.state() == "off":
                raise LabError(f"{node.name} did not boot ({node.console}): {upstream.tail(node.console)}")
        if waiting and time.monotonic() > end:
            names = ", ".join(node.name for node in waiting)
            raise LabError(f"No login over SSH within {timeout:.0f} s on {names}; see {waiting[0].console}.")
        if waiting:
            time.sleep(0.3)
