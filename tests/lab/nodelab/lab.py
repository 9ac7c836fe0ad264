# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab: nodes on one bridge with their pretend upstream, under one name."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
import typing as t
from pathlib import Path

from nodelab import interrupts, inventory, kernel, network, predriver
from nodelab.cgroups import TOP, Groups
from nodelab.errors import Interrupted, LabError
from nodelab.network import Network
from nodelab.nodes import Node, remove_tree, wait_for_ssh
from nodelab.paths import cache_root
from nodelab.secrets import UPSTREAM_HOSTS, fingerprint
from nodelab.spec import NodeSpec, check_lab_name, missing, sort_key
from nodelab.upstream import Content, Upstream

if t.TYPE_CHECKING:
    from nodelab.build import Artifacts, Build

Say = t.Callable[[str], None]


MakeBuild = t.Callable[[t.Sequence[str]], "t.ContextManager[Build]"]


def labs_folder() -> Path:
    """Return the folder of all labs."""
    return cache_root() / "labs"


def all_labs() -> list[Lab]:
    """Return every lab that has a folder, and those of which only processes are left."""
    names = {item.parent.name for item in labs_folder().glob("*/lab.json")}
    for root in Groups.detect("").hierarchies.values():
        with contextlib.suppress(OSError):
            names |= {item.name for item in (root / TOP).iterdir() if item.is_dir()}
    return [Lab(name) for name in sorted(names)]


class Lab:
    """One lab. Its state is its folder and what runs in its control groups; this object remembers nothing else."""

    def __init__(self, name: str) -> None:
        self.name = check_lab_name(name)
        self.folder = labs_folder() / name
        self.groups = Groups.detect(name)

    @property
    def network(self) -> Network | None:
        """Its network, None before it has one."""
        try:
            content = json.loads((self.folder / "lab.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return Network(self.name, int(content["number"]))

    @property
    def inventory(self) -> Path:
        """The folder to run playbooks with."""
        return self.folder / "inventory"

    @property
    def key(self) -> Path:
        """The SSH key that opens its nodes."""
        return self.inventory / "id"

    def nodes(self) -> list[Node]:
        """Return its nodes in the order people expect."""
        found = [Node(path.parent, self.groups) for path in self.folder.glob("nodes/*/node.json")]
        return sorted(found, key=lambda node: sort_key(node.name))

    def node(self, name: str) -> Node:
        """Return the node of this name."""
        nodes = {node.name: node for node in self.nodes()}
        if not nodes:
            raise LabError(f"There is no lab '{self.name}'; `lab up --name {self.name}` makes it.")
        if name not in nodes:
            raise LabError(f"The lab '{self.name}' has no node '{name}'; it has {', '.join(nodes)}.")
        return nodes[name]

    def upstream(self, net: Network) -> Upstream:
        """Return its pretend upstream."""
        return Upstream(self.groups, self.folder / "upstream", net.gateway)

    def up(self, wanted: t.Sequence[NodeSpec], make_build: MakeBuild, say: Say, *, fresh: bool = False) -> None:
        """Boot what does not run and add what is absent; on failure or interrupt put everything back as it was."""
        with self.locked(say):
            before = {node.name: node.state() for node in self.nodes()}
            present = {node.name: str(node.config["suite"]) for node in self.nodes()}
            new = missing(wanted, present)
            if "control1" not in {*present, *(spec.name for spec in new)}:
                raise LabError("A lab needs a control node; write for example --nodes control,cpu:1.")
            suites = sorted({*present.values(), *(spec.suite for spec in new)})
            try:
                with make_build(suites) as build:
                    build.start()
                    try:
                        self._up(new, build, say, fresh=set(present) if fresh else set())
                    except Interrupted:
                        if not interrupts.requested():
                            # The build has failed and stopped everything else; this raises what it failed with.
                            build.artifacts()
                        raise
                interrupts.check()
            except BaseException:
                interrupts.settle()
                self._take_back(before, say)
                raise

    def _up(self, new: t.Sequence[NodeSpec], build: Build, say: Say, *, fresh: set[str]) -> None:
        """Boot the nodes as soon as their systems are built, while the rest still builds."""
        key = build.wait("ssh-key")
        net = self._claim_network()
        network.up(net)
        self._warn_of_firewall(say)
        services = self.upstream(net)
        services.start_dns(UPSTREAM_HOSTS)
        mtu = network.uplink_mtu()
        for spec in new:
            base = build.wait(f"base-{spec.suite}")
            Node(self.folder / "nodes" / spec.name, self.groups).create(spec, net, base, mtu)
        started = []
        for node in self.nodes():
            if node.name in fresh:
                node.kill()
                node.wipe(build.wait(f"base-{node.config['suite']}"))
            if node.start():
                started.append(node)
                say(f"{node.name} boots at {node.address}")
        artifacts = build.artifacts()
        certificate, server_key = artifacts.ca / "server.crt", artifacts.ca / "server.key"
        services.start_web(
            Content(artifacts.web, artifacts.registry, artifacts.registry_hosts, certificate, server_key)
        )
        self._write_inventory(artifacts, key)
        wait_for_ssh(self.nodes(), self.key)
        for node in started:
            say(f"{node.name} answers")
        predriver.install(started, self.key, say)

    def _write_inventory(self, artifacts: Artifacts, key: Path) -> None:
        hosts = [inventory.Host(node.name, node.config["kind"], node.address, _mode(node)) for node in self.nodes()]
        signer = artifacts.web / "download.docker.com/linux/debian/gpg"
        facts = {
            **artifacts.facts,
            "docker_key_sha256": hashlib.sha256(signer.read_bytes()).hexdigest(),
            "key_fingerprint": fingerprint(signer),
        }
        inventory.write(self.inventory, self.name, hosts, facts, key)

    def _claim_network(self) -> Network:
        """Return the lab's network; a new lab takes a number that neither the machine nor another lab uses."""
        with _locked(labs_folder(), lambda: None):
            kernel.save(kernel.RECORD)
            kernel.load_modules()
            net = self.network
            if net is not None:
                return net
            others = [other.network.subnet for other in all_labs() if other.network is not None]
            number = network.pick_number(others)
            temporary = self.folder / "lab.json.new"
            temporary.write_text(json.dumps({"name": self.name, "number": number}), encoding="utf-8")
            temporary.rename(self.folder / "lab.json")
            return Network(self.name, number)

    def _warn_of_firewall(self, say: Say) -> None:
        for hook in network.host_obstacles():
            cannot = "reach the world" if hook == "forward" else "reach the lab's services"
            say(f"this machine's firewall drops by default ({hook}): let the bridge pass, or nodes cannot {cannot}")

    def _take_back(self, before: t.Mapping[str, str], say: Say) -> None:
        if not before:
            say(f"taking down what there is of the lab '{self.name}'")
            self._down()
            return
        for node in self.nodes():
            if node.name not in before:
                node.kill()
                remove_tree(node.folder)
            elif before[node.name] == "off":
                node.kill()
        if all(state == "off" for state in before.values()):
            self._stop_services()

    def _stop_services(self) -> None:
        net = self.network
        if net is not None:
            self.upstream(net).stop()
            network.down(net)

    def down(self, say: Say) -> bool:
        """Remove everything of the lab; return False if there was nothing."""
        there = self.folder.exists() or bool(self.groups.names())
        with self.locked(say):
            self._down()
        return there

    def _down(self) -> None:
        self.groups.kill()
        net = self.network
        if net is not None:
            network.down(net)
        self.groups.remove()
        with _locked(labs_folder(), lambda: None):
            # The number is needed to try again, so it goes last.
            remove_tree(*(item for item in self.folder.iterdir() if item.name != "lab.json"))
            (self.folder / "lab.json").unlink(missing_ok=True)
            if not list(labs_folder().glob("*/lab.json")) and not self.groups.any_lab():
                kernel.restore(kernel.RECORD)

    @contextlib.contextmanager
    def locked(self, say: Say) -> t.Iterator[None]:
        """Hold the lab against other commands that would change it."""
        with _locked(self.folder, lambda: say(f"waiting for another command on the lab '{self.name}'")):
            try:
                yield
            finally:
                # A lab that never came to be has an empty folder.
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
                    labs_folder().rmdir()


def _mode(node: Node) -> str:
    """What cluster-info says of a GPU worker behind its address."""
    if node.config["kind"] != "gpu":
        return ""
    return "exclusive" if "exclusive" in node.config["features"] else "fractional"


@contextlib.contextmanager
def _locked(folder: Path, on_wait: t.Callable[[], None]) -> t.Iterator[None]:
    """Hold the lock of a folder, made if absent; one that was removed while we waited is made again."""
    told = False
    while True:
        interrupts.check()
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(handle), os.stat(folder)):
                    break
                os.close(handle)
                continue
            except BlockingIOError:
                os.close(handle)
            except FileNotFoundError:
                os.close(handle)
                continue
        if not told:
            on_wait()
            told = True
        time.sleep(0.2)
    try:
        yield
    finally:
        os.close(handle)
