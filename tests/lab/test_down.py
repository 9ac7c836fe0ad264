# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab that is down has left nothing behind, however it went down.

Needs root and what `lab build` makes. Other labs may run beside it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from nodelab import leftovers, network
from nodelab.lab import all_labs, labs_folder
from nodelab.network import Network

NAME = "leftovers"
IP_FREEBIND = 15
COMMAND = os.environ.get("GSHARE_LAB_COMMAND", str(HERE / "lab"))

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root")


def lab(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a lab command on the test's lab."""
    command, *rest = arguments
    done = subprocess.run(
        [COMMAND, command, "--name", NAME, *rest], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0 or not check, done.stderr
    return done


def boot_id(node: str) -> str:
    return lab("ssh", node, "cat", "/proc/sys/kernel/random/boot_id").stdout.strip()


def other_labs() -> set[Network]:
    """Return the networks of the labs that are none of this test's business."""
    return {other.network for other in all_labs() if other.network is not None and other.name != NAME}


@pytest.fixture(autouse=True)
def nothing_left() -> t.Iterator[None]:
    """Compare the machine before and after each test."""
    lab("down")
    others = other_labs()
    before = leftovers.snapshot(labs_folder())
    yield
    found = leftovers.difference(before, leftovers.snapshot(labs_folder()))
    others |= other_labs()
    lab("down")
    found = leftovers.leave_out(found, others)
    assert not found, json.dumps(found, indent=1)


@contextlib.contextmanager
def starting(*nodes: str, until: str) -> t.Iterator[subprocess.Popen[str]]:
    """Run `lab up` and go on when it has printed a line with this in it."""
    argv = [COMMAND, "up", "--name", NAME, "--nodes", ",".join(nodes)]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if until in line:
                break
        else:
            pytest.fail(f"lab up never said '{until}'")
        yield child
        child.stdout.read()


def test_after_a_full_life() -> None:
    lab("up", "--nodes", "control,gpu:1@trixie")
    first = boot_id("control1")
    lab("kill", "control1")
    assert lab("ssh", "control1", "true", check=False).returncode != 0
    lab("start", "control1")
    assert boot_id("control1") != first
    lab("cut", "gpu1")
    lab("mend", "gpu1")
    lab("ssh", "gpu1", "sudo", "lab-gpu", "set", "secure_boot", "enabled")
    lab("ssh", "gpu1", "sudo", "touch", "/var/lib/kubelet/x", "/etc/x")
    lab("fresh", "gpu1")
    lab("ssh", "gpu1", "test", "!", "-e", "/etc/x", "-a", "!", "-e", "/var/lib/kubelet/x")
    lab("down")


@pytest.mark.parametrize(
    ("number", "until"),
    [(signal.SIGINT, "control1 boots"), (signal.SIGTERM, "cpu1 boots"), (signal.SIGHUP, "cpu1 boots")],
    ids=["SIGINT", "SIGTERM", "SIGHUP"],
)
def test_after_an_interrupted_up(number: signal.Signals, until: str) -> None:
    with starting("control", "cpu", until=until) as child:
        child.send_signal(number)
    assert child.returncode == 130


@pytest.mark.parametrize("until", ["control1 boots", "control1 answers"])
def test_after_a_killed_up_and_a_down(until: str) -> None:
    with starting("control", "cpu", until=until) as child:
        child.kill()
    assert child.returncode == -signal.SIGKILL
    lab("down")


def test_after_an_up_that_is_refused() -> None:
    done = lab("up", "--nodes", "cpu", check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "lab: A lab needs a control node; write for example --nodes control,cpu:1.\n",
    )


def test_after_an_up_that_fails() -> None:
    address = Network(NAME, network.pick_number([other.subnet for other in other_labs()])).gateway
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        # Something has the name server's port at the address that the lab is going to have.
        other.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        other.bind((address, 53))
        done = lab("up", "--nodes", "control", check=False)
    assert done.returncode == 1
    assert "dns service did not start" in done.stderr
    assert "in use" in done.stderr


def test_an_interrupted_addition_leaves_the_lab_as_it_was() -> None:
    lab("up", "--nodes", "control")
    first = boot_id("control1")
    with starting("control", "cpu", until="cpu1 boots") as child:
        child.send_signal(signal.SIGTERM)
    assert child.returncode == 130
    assert "cpu1" not in lab("status").stdout
    assert boot_id("control1") == first
    lab("down")
