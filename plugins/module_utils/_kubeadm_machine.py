# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""Reads the traces of kubeadm on a machine and runs its commands. What the traces mean is told by _kubeadm.py."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import http.client
import json
import os
import socket
import ssl
import tempfile
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _dpkg as dpkg
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils._systemd import comes_up

ROOT = "/"  # tests put a machine of files here
RUN_DIR = "run/gshare"  # tmpfs
MARKER = "etc/kubernetes/gshare-init-unfinished"
KUBECONFIGS = ("admin.conf", "super-admin.conf", "controller-manager.conf", "scheduler.conf")
PACKAGES = ("kubelet", "kubeadm", "kubectl", "cri-tools", "kubernetes-cni")


def path(name: str) -> str:
    return os.path.join(ROOT, name.lstrip("/"))


def read(name: str) -> str:
    """The text of a file, nothing if there is none."""
    try:
        with open(path(name), encoding="utf-8", errors="replace") as handle:
            return handle.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def node_name() -> str:
    return socket.gethostname().strip().lower()


class Commands:
    """Runs commands with a time limit and remembers them for the result."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.run: list[str] = []

    def __call__(
        self, argv: list[str], *, timeout: int = 60, data: str | None = None, change: bool = True
    ) -> tuple[int, str, str]:
        if change:
            self.run.append(" ".join(argv))
        program = self.module.get_bin_path(argv[0])
        if not program:
            return 127, "", f"{argv[0]} is not installed"
        limited = [self.module.get_bin_path("timeout", required=True), "-k", "10", str(timeout), program, *argv[1:]]
        rc, out, err = self.module.run_command(
            limited, data=data, binary_data=True, environ_update={"LC_ALL": "C", "KUBECONFIG": ""}
        )
        if rc == 124:
            err += f"\n{argv[0]} did not end within {timeout} s"
        return rc, out, err

    def fail(self, what: str, output: str, **more: t.Any) -> t.NoReturn:
        """One sentence, then the lines of the command's output that matter."""
        hint = kubeadm.failure_hint(output)
        lines = "\n".join(kubeadm.failure_lines(output))
        self.module.fail_json(
            msg=f"{what}{': ' + hint if hint else ''}.\n{lines}".rstrip(),
            commands=self.run,
            output=output[-6000:],
            **more,
        )


# --- one at a time ----------------------------------------------------------------------------------------------------


def run_dir() -> str:
    folder = path(RUN_DIR)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    return folder


def running_kubeadm() -> list[str]:
    """Command lines of kubeadm processes that work on this machine, left over from a run that was killed."""
    found = []
    for name in glob.glob(path("proc/[0-9]*/comm")):
        try:
            with open(name, encoding="utf-8") as handle:
                if handle.read().strip() != "kubeadm":
                    continue
            with open(os.path.join(os.path.dirname(name), "cmdline"), encoding="utf-8") as handle:
                words = handle.read().split("\0")
        except OSError:
            continue  # it ended meanwhile
        if {"init", "join", "reset", "upgrade"} & set(words[1:3]):
            found.append(" ".join(words).strip())
    return found


@contextlib.contextmanager
def only_one(module: AnsibleModule, seconds: int) -> t.Iterator[None]:
    """Hold the machine for one init, join or reset; a run that was killed may still be at work here."""
    deadline = time.monotonic() + seconds
    handle = os.open(os.path.join(run_dir(), "kubeadm.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                busy = running_kubeadm()
            except OSError:
                busy = ["another run of this collection"]
            if not busy:
                break
            if time.monotonic() >= deadline:
                module.fail_json(
                    msg=f"Another command works on this machine for more than {seconds} s ({busy[0]}): "
                    "let it end or stop it, then run again."
                )
            time.sleep(1)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def secret_file(text: str, prefix: str) -> t.Iterator[str]:
    """A file on tmpfs that only root can read and that is gone afterwards, whatever happens."""
    folder = run_dir()
    for stale in glob.glob(os.path.join(folder, prefix + "*")):
        os.unlink(stale)
    handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=".yaml")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def unreachable(endpoint: str, attempts: int = 3, seconds: float = 5.0) -> str:
    """Why no connection to an endpoint comes about, nothing if one does."""
    host, _colon, port = endpoint.rpartition(":")
    why = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(1)
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
        except OSError as exc:
            why = str(exc)
        else:
            return ""
    return why


# --- the API ----------------------------------------------------------------------------------------------------------


def probe(address: str, port: int, endpoint: str, timeout: float = 5.0) -> tuple[int, str]:
    """Status and text of an answer of the API server; 0 and the reason if there is none."""
    try:
        context = ssl.create_default_context(cafile=path("etc/kubernetes/pki/ca.crt"))
        connection = http.client.HTTPSConnection(address, port, timeout=timeout, context=context)
        try:
            connection.request("GET", endpoint)
            response = connection.getresponse()
            text = response.read(20000).decode("utf-8", "replace").strip()
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as exc:
        return 0, str(exc)
    return response.status, text


def api_state(address: str, port: int) -> tuple[str, str]:
    """ready, alive (it answers, but not ok) or none; with what it said."""
    detail = ""
    for endpoint in ("/livez", "/readyz"):
        status, text = probe(address, port, f"{endpoint}?verbose")
        if status == 0:
            return "none", text
        if status != 200 and not detail:
            detail = f"{endpoint} says {', '.join(kubeadm.failed_checks(text)) or status}"
    return ("alive", detail) if detail else ("ready", "")


def kubectl(commands: Commands, *words: str, data: str | None = None, change: bool = False) -> tuple[int, str, str]:
    argv = ["kubectl", "--kubeconfig", path("etc/kubernetes/admin.conf"), "--request-timeout=20s", *words]
    return commands(argv, timeout=40, data=data, change=change)


def api_json(commands: Commands, *words: str) -> dict[str, t.Any]:
    rc, out, err = kubectl(commands, *words, "-o", "json")
    if rc:
        commands.fail(f"The API refuses `kubectl {' '.join(words)}` with /etc/kubernetes/admin.conf", err)
    return dict(json.loads(out))


# --- traces -----------------------------------------------------------------------------------------------------------


def service_active(commands: Commands, name: str) -> bool:
    return commands(["systemctl", "is-active", "--quiet", name], change=False)[0] == 0


def service_comes_up(commands: Commands, name: str) -> bool:
    state = commands(["systemctl", "show", "--property=ActiveState", name], change=False)[1]
    return comes_up(state.partition("=")[2])


def _not_empty(name: str) -> bool:
    try:
        return bool(os.listdir(path(name)))
    except (FileNotFoundError, NotADirectoryError):
        return False


def control_plane_facts(address: str = "", port: int = 6443) -> dict[str, t.Any]:
    """Traces of a control plane, and what its API says. The running manifest knows the address best."""
    apiserver = read("etc/kubernetes/manifests/kube-apiserver.yaml")
    etcd = read("etc/kubernetes/manifests/etcd.yaml")
    address = documents.manifest_flag(apiserver, "advertise-address") or address
    port = int(documents.manifest_flag(apiserver, "secure-port") or port)
    facts: dict[str, t.Any] = {
        "marker": os.path.exists(path(MARKER)),
        "manifests": [name for name in kubeadm.MANIFESTS if os.path.exists(path(f"etc/kubernetes/manifests/{name}"))],
        "kubeconfigs": [name for name in KUBECONFIGS if os.path.exists(path(f"etc/kubernetes/{name}"))],
        "kubelet_conf": os.path.exists(path("etc/kubernetes/kubelet.conf")),
        "finalized": "kubelet-client-current.pem" in read("etc/kubernetes/kubelet.conf"),
        "etcd_data": _not_empty(documents.manifest_flag(etcd, "data-dir") or "var/lib/etcd"),
        "external_etcd": bool(apiserver)
        and not etcd
        and "127.0.0.1" not in documents.manifest_flag(apiserver, "etcd-servers"),
        "api": "none",
        "api_detail": "",
        "api_url": f"https://{address}:{port}" if address else "",
    }
    # A worker's kubelet.conf names its rotated certificate from the start: that says nothing about an init.
    if not facts["manifests"] and not facts["kubeconfigs"]:
        facts["finalized"] = False
    if address and os.path.exists(path("etc/kubernetes/pki/ca.crt")) and (facts["manifests"] or facts["kubeconfigs"]):
        facts["api"], facts["api_detail"] = api_state(address, port)
    return facts


def worker_facts(commands: Commands) -> dict[str, t.Any]:
    """Traces of a join."""
    conf = read("etc/kubernetes/kubelet.conf")
    bootstrap = read("etc/kubernetes/bootstrap-kubelet.conf")
    ca = read("etc/kubernetes/pki/ca.crt")
    try:
        ca_hash = documents.ca_cert_hash(ca) if ca else ""
    except ValueError:
        ca_hash = ""  # a file that was cut off while it was written
    certificate = documents.kubeconfig_value(conf, "client-certificate")
    embedded = bool(documents.kubeconfig_value(conf, "client-certificate-data"))
    return {
        "node_name": node_name(),
        "kubelet.conf": bool(conf),
        "bootstrap-kubelet.conf": bool(bootstrap),
        "pki/ca.crt": bool(ca_hash),
        "config.yaml": bool(read("var/lib/kubelet/config.yaml")),
        "client_cert": embedded or bool(certificate and os.path.exists(path(certificate))),
        "server": documents.kubeconfig_value(conf or bootstrap, "server"),
        "ca_hash": ca_hash,
        "kubelet_active": service_comes_up(commands, "kubelet"),
        "control_plane": [
            name for name in kubeadm.MANIFESTS if os.path.exists(path(f"etc/kubernetes/manifests/{name}"))
        ],
    }


def packages(commands: Commands) -> dict[str, str]:
    """Versions of the Kubernetes packages that are installed."""
    _rc, out, _err = commands(dpkg.query(PACKAGES), change=False)
    return {name: package.version for name, package in dpkg.parse(out).items()}


# --- the marker -------------------------------------------------------------------------------------------------------


def set_marker() -> None:
    """Say on disk that an init has begun; it must survive a power cut."""
    name = path(MARKER)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, b"kubeadm init has begun and not ended; gshare.cluster removes this file at its end\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    folder = os.open(os.path.dirname(name), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def clear_marker() -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path(MARKER))
