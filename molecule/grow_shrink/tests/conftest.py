# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab of its own, with a cluster of control1 and cpu1 at first. The tests go on from each other."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import threading
import time
import typing as t
import urllib.request

import pytest

from ...conftest import Machines, Playbooks, own_lab

PORT = 31080
SERVER = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{kubernetes.io/hostname: cpu1}}
      containers:
        - name: web
          image: docker.io/library/busybox:1.37.0
          command: [sh, -c, "echo serves > /tmp/index.html; exec httpd -f -p 8080 -h /tmp"]
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  type: NodePort
  externalTrafficPolicy: Local
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: 8080, nodePort: {PORT}}}]
"""
SHARED = (
    ("kube-system", "configmap/coredns", "deployment/coredns", "configmap/kube-proxy", "daemonset/kube-proxy"),
    ("kube-flannel", "configmap/kube-flannel-cfg", "daemonset/kube-flannel-ds"),
    ("kube-system", "daemonset/hami-device-plugin", "deployment/hami-scheduler", "configmap/hami-device-plugin"),
)


class Members(Machines):
    """The machines, and what the cluster says of its nodes."""

    def nodes(self) -> dict[str, str]:
        """Ready, NotReady or the like by the node's name."""
        lines = self.kubectl("get", "nodes", "--no-headers").splitlines()
        return {line.split()[0]: line.split()[1] for line in lines}

    def logins(self, node: str) -> int:
        """How many connections its sshd has accepted since it booted."""
        return self.run(node, "journalctl -b -u ssh -o cat").count("Accepted ")

    def shared(self) -> dict[str, t.Any]:
        """What all nodes of a cluster share, without what the cluster itself writes there."""
        found = {}
        for namespace, *names in SHARED:
            answer = self.kubectl("-n", namespace, "get", "--ignore-not-found", "-o", "json", *names)
            # One object comes alone, and none as an empty text.
            for item in answer.get("items", [answer]) if answer else []:
                meta = item["metadata"]
                key = f"{item['kind']}/{meta['name']}"
                found[key] = (
                    meta["uid"],
                    meta.get("generation", meta["resourceVersion"]),
                    item.get("spec"),
                    item.get("data"),
                )
        return found

    def apply(self, text: str) -> None:
        self.run("control1", f"cat > /tmp/objects.yml <<'END'\n{text}\nEND")
        self.kubectl("apply", "-f", "/tmp/objects.yml")


class Caller(threading.Thread):
    """Asks a server every 200 ms, as somebody who works on the cluster would."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.calls = 0
        self.failures: list[str] = []
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(0.2):
            self.calls += 1
            try:
                with urllib.request.urlopen(self.url, timeout=2) as answer:
                    assert answer.read() == b"serves\n"
            except (OSError, AssertionError) as exc:
                self.failures.append(f"call {self.calls} at {time.strftime('%X')}: {exc}")

    def stop(self) -> None:
        self._end.set()
        self.join()


@pytest.fixture(scope="session")
def lab():
    with own_lab("molecule-grow", "control,gpu:1,cpu:2") as own:
        yield own


@pytest.fixture(scope="session")
def machines(lab) -> Members:
    return Members(lab)


@pytest.fixture(scope="session")
def inventory(lab, tmp_path_factory) -> t.Callable[..., Playbooks]:
    """The lab's inventory with some of its workers alone, all if none is named, and with more lines."""

    def make(*workers: str, more: str = "") -> Playbooks:
        folder = tmp_path_factory.mktemp("inventory")
        shutil.copytree(lab.inventory.parent, folder, dirs_exist_ok=True)
        file = folder / "cluster-info"
        file.write_text(_kept(file.read_text(encoding="utf-8"), workers) + more, encoding="utf-8")
        return Timed(file)

    return make


def _kept(text: str, addresses: t.Collection[str]) -> str:
    """The file with only those workers."""

    def entries(line: re.Match[str]) -> str:
        kept = [entry for entry in line[2].split(",") if re.split(r"[@:]", entry)[1] in addresses]
        return f"{line[1]}{','.join(kept)}" if kept else ""

    return re.sub(r'^(\w+_(?:NODES|WORKERS)=)"?([^"\n]*)"?$', entries, text, flags=re.MULTILINE) if addresses else text


class Timed(Playbooks):
    """Keeps the numbers of each run. No ingress: other scenarios have one, and runs are shorter without."""

    def command(self, playbook: str, *arguments: str, inventory: pathlib.Path | None = None) -> list[str]:
        return super().command(playbook, *arguments, "-e", "gshare_ingress=none", inventory=inventory)

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"GSHARE_TIMINGS_FILE": str(self.timings)}

    @property
    def timings(self) -> pathlib.Path:
        return self.inventory.parent / "timings.json"

    def numbers(self) -> dict[str, t.Any]:
        """Of the last run, as the callback writes them."""
        return json.loads(self.timings.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def playbooks(inventory) -> Playbooks:
    return inventory()


@pytest.fixture(scope="session")
def cluster(inventory, machines, addresses) -> None:
    """A cluster of two machines that serves."""
    assert inventory(addresses["cpu1"]).run("up").status == 0
    machines.apply(SERVER)
    machines.kubectl("rollout", "status", "deployment/web", "--timeout=120s")


@pytest.fixture
def caller(cluster, addresses) -> t.Iterator[Caller]:
    """Somebody who works on cpu1 while the test runs."""
    thread = Caller(f"http://{addresses['cpu1']}:{PORT}/")
    thread.start()
    yield thread
    thread.stop()
