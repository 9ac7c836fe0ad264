# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of the lab."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import typing as t

from nodelab import interrupts, predriver
from nodelab.errors import Interrupted, LabError
from nodelab.lab import Lab, all_labs
from nodelab.nodes import Node, wait_for_ssh
from nodelab.progress import Progress
from nodelab.spec import DEFAULT_NODES, SUITES, parse

FAILED, INTERRUPTED = 1, 130


def main(argv: t.Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(argv)
    try:
        if os.geteuid() != 0 and options.run is not _status:
            raise LabError("The lab makes network interfaces and mounts, so it must run as root; use sudo.")
        with interrupts.handled():
            return int(options.run(options) or 0)
    except BrokenPipeError:
        # Whoever read our output has gone (lab status | head); nothing must be said about it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Interrupted:
        print("lab: interrupted" + ("; what it had begun is undone" if options.run is _up else ""), file=sys.stderr)
        return INTERRUPTED
    except LabError as exc:
        print(f"lab: {exc}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lab", description="Real nodes on this machine, for tests and for trying things out."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: t.Callable[[argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        if name != "build":
            command.add_argument("--name", default="lab", help="the lab to work on (default: %(default)s)")
        return command

    add("build", _build, "build what nodes and their upstream need, unless it is there")
    up = add("up", _up, "boot a lab, or what of it does not run; add nodes to it")
    up.add_argument("--nodes", help=f"KIND[:COUNT][+FEATURE][@SUITE],... (default for a new lab: {DEFAULT_NODES})")
    up.add_argument("--fresh", action="store_true", help="put all nodes back to machines just installed")
    add("status", _status, "show the nodes of a lab, and which labs there are")
    ssh = add("ssh", _ssh, "log in to a node, or run a command there")
    ssh.add_argument("node", metavar="NODE")
    ssh.add_argument("remote", nargs=argparse.REMAINDER, metavar="COMMAND")
    for name, run, text in (
        ("kill", _kill, "cut a node's power; it stays off"),
        ("start", _start, "switch a node on and wait until it answers"),
        ("cut", _cut, "pull a node's network cable"),
        ("mend", _mend, "plug a node's network cable in again"),
        ("fresh", _fresh, "put a node back to a machine just installed and boot it"),
    ):
        add(name, run, text).add_argument("node", metavar="NODE")
    down = add("down", _down, "remove a lab and everything of it")
    down.add_argument("--all", action="store_true", help="remove all labs")
    return parser


def _build(_options: argparse.Namespace) -> None:
    from nodelab.build import build  # not needed by the other commands, which are to be quick

    with Progress() as progress:
        build(SUITES, progress)


def _up(options: argparse.Namespace) -> None:
    from nodelab.build import Build  # as above

    lab = Lab(options.name)
    text = options.nodes or ("" if lab.nodes() else DEFAULT_NODES)
    wanted = parse(text) if text else []
    with Progress() as progress:
        lab.up(wanted, lambda suites: Build(suites, progress), progress.say, fresh=options.fresh)
    print(_how_to_go_on(lab))


def _how_to_go_on(lab: Lab) -> str:
    name = "" if lab.name == "lab" else f" --name {lab.name}"
    program = os.path.relpath(sys.argv[0])
    return f"""
The lab '{lab.name}' is up: {", ".join(node.name for node in lab.nodes())}.

  ansible-playbook playbooks/up.yml -i {lab.inventory}/cluster-info
  {program} status{name}
  {program} ssh{name} {lab.nodes()[0].name}
  {program} down{name}
"""


def _status(options: argparse.Namespace) -> int:
    lab = Lab(options.name)
    labs = all_labs()
    if not lab.nodes():
        print(f"There is no lab '{lab.name}'.")
    else:
        rows = [("NODE", "ADDRESS", "STATE", "MEMORY", "SYSTEM")]
        for node in lab.nodes():
            memory = f"{node.memory() / 2**20:.0f} MiB" if node.state() != "off" else "-"
            rows.append((node.name, node.address, node.state(), memory, node.config["suite"]))
        print(_table(rows))
        net = lab.network
        if net is not None:
            running = lab.upstream(net).running()
            print("\nupstream:", ", ".join(f"{name} {'runs' if up else 'is off'}" for name, up in running.items()))
        print(f"inventory: {lab.inventory}/cluster-info")
    print("labs:", ", ".join(other.name for other in labs) or "none")
    return 0 if lab.nodes() else FAILED


def _table(rows: t.Sequence[t.Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _ssh(options: argparse.Namespace) -> t.NoReturn:
    lab = Lab(options.name)
    command = lab.node(options.node).ssh(lab.key, *options.remote)
    sys.stdout.flush()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(command[0], command)


@contextlib.contextmanager
def _one(options: argparse.Namespace) -> t.Iterator[tuple[Lab, Node]]:
    lab = Lab(options.name)
    lab.node(options.node)
    with lab.locked(_say):
        yield lab, lab.node(options.node)


def _say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr)


def _kill(options: argparse.Namespace) -> None:
    with _one(options) as (_lab, node):
        node.kill()


def _start(options: argparse.Namespace) -> None:
    with _one(options) as (lab, node):
        if lab.network is None or not lab.upstream(lab.network).running()["dns"]:
            raise LabError(f"The lab '{lab.name}' is not up; `lab up --name {lab.name}` boots it.")
        node.start()
        if node.state() != "cut":
            wait_for_ssh([node], lab.key)
            predriver.install([node], lab.key, _say)


def _cut(options: argparse.Namespace) -> None:
    with _one(options) as (_lab, node):
        node.cut()


def _mend(options: argparse.Namespace) -> None:
    with _one(options) as (_lab, node):
        node.mend()


def _fresh(options: argparse.Namespace) -> None:
    with _one(options) as (_lab, node):
        node.kill()
        node.wipe()
    _start(options)


def _down(options: argparse.Namespace) -> None:
    for lab in all_labs() if options.all else [Lab(options.name)]:
        there = lab.down(_say)
        print(f"The lab '{lab.name}' is gone." if there else f"There is no lab '{lab.name}'.")
