# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""Takes the cluster off a machine. What belongs to it is told by _node_cleanup.py."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_cleanup as cleanup

SAVE_COMMANDS = ("iptables-nft", "ip6tables-nft", "iptables-legacy", "ip6tables-legacy")
UNMOUNT_BELOW = ("var/lib/kubelet", "run/flannel")
CNI_FLANNEL = "opt/cni/bin/flannel"


def login_user(name: str = "") -> pwd.struct_passwd:
    """The account that logged in, whose home holds the kubeconfig for people."""
    return pwd.getpwnam(name or os.environ.get("SUDO_USER") or "root")


class Traces(t.NamedTuple):
    """Everything of a cluster that is on this machine now."""

    files: list[str]
    folders: list[str]
    mounts: list[str]
    links: list[str]
    rules: list[tuple[str, str, list[str]]]
    nft: list[tuple[str, str]]

    def listed(self) -> list[str]:
        names = [f"/{name}" for name in self.files + self.folders]
        names += [f"mount {name}" for name in self.mounts] + [f"link {name}" for name in self.links]
        for command, _unused, removed in self.rules:
            names.append(f"{command}: {len(removed)} chains and rules of KUBE-* and FLANNEL-*")
        return names + [f"nft table {family} {name}" for family, name in self.nft]


def _folder_found(name: str) -> bool:
    place = machine.path(name)
    return os.path.isdir(place) and (not os.path.ismount(place) or bool(os.listdir(place)))


def _firewall(commands: machine.Commands) -> list[tuple[str, str, list[str]]]:
    found = []
    for command in SAVE_COMMANDS:
        rc, out, _unused = commands([f"{command}-save"], change=False)
        script, removed = cleanup.rules_to_delete(out) if rc == 0 else ("", [])
        if removed:
            found.append((command, script, removed))
    return found


def _own_kubeconfig(user: str) -> list[str]:
    """~/.kube/config of the login user, if it is for this cluster and nothing else."""
    admin = machine.read("etc/kubernetes/admin.conf")
    name = os.path.join(login_user(user).pw_dir, ".kube/config").lstrip("/")
    return [name] if documents.nothing_else(admin, machine.read(name)) else []


def _cni_results() -> list[str]:
    folder = "var/lib/cni/results"
    with contextlib.suppress(FileNotFoundError):
        return [f"{folder}/{name}" for name in sorted(os.listdir(machine.path(folder))) if name.startswith("cbr0-")]
    return []


def find(commands: machine.Commands, user: str | None = "") -> Traces:
    """Look, change nothing. `user` is the login user; None for a reset that is followed by an init or a join."""
    files = [name for name in cleanup.FILES if os.path.lexists(machine.path(name))] + _cni_results()
    if os.path.exists(machine.path(CNI_FLANNEL)):
        owned = commands(["dpkg-query", "-S", f"/{CNI_FLANNEL}"], change=False)[0] == 0
        files += [] if owned else [CNI_FLANNEL]
    if user is not None:
        files += [name for name in cleanup.PREPARED_FILES if os.path.lexists(machine.path(name))]
        files += _own_kubeconfig(user)
    _rc, links, _err = commands(["ip", "-j", "link"], change=False)
    _rc, tables, _err = commands(["nft", "list", "tables"], change=False)
    return Traces(
        files=files,
        folders=[name for name in cleanup.FOLDERS if _folder_found(name)],
        mounts=cleanup.mounts_below(machine.read("proc/mounts"), [machine.path(name) for name in UNMOUNT_BELOW]),
        links=cleanup.links_to_delete(links),
        rules=_firewall(commands),
        nft=cleanup.nft_tables_to_delete(tables),
    )


def _kubeadm_reset(commands: machine.Commands, timeout: int) -> str:
    """Let kubeadm do its part, which includes the containers; what it leaves is taken away afterwards."""
    warning, ended = "", False
    if commands.module.get_bin_path("kubeadm"):
        if not machine.service_active(commands, "containerd"):
            commands(["systemctl", "start", "containerd"])  # its containers can be removed only while it runs
        rc, out, err = commands(["kubeadm", "reset", "--force", "--cri-socket", kubeadm.CRI_SOCKET], timeout=timeout)
        ended = rc == 0
        if rc:
            warning = "kubeadm reset did not succeed: " + " / ".join(kubeadm.failure_lines(out + err, 3))
    commands(["systemctl", "stop", "kubelet"])
    if not ended:
        _end_containers(commands)
    return warning


def _end_containers(commands: machine.Commands) -> None:
    """What kubeadm would have ended: containers that go on running make links and mounts anew."""
    if not commands.module.get_bin_path("ctr"):
        return
    client = ["ctr", "--namespace", "k8s.io"]
    for name in commands([*client, "containers", "ls", "--quiet"], change=False)[1].split():
        commands([*client, "tasks", "rm", "--force", name])
        commands([*client, "containers", "rm", name])


def _unmount(commands: machine.Commands) -> None:
    below = [machine.path(name) for name in UNMOUNT_BELOW]
    for point in cleanup.mounts_below(machine.read("proc/mounts"), below):
        commands(["umount", point])
    held = cleanup.mounts_below(machine.read("proc/mounts"), below)
    if held:
        # Deleting on would reach into a volume.
        commands.module.fail_json(
            msg=f"{held[0]} cannot be unmounted, a program still uses it (`fuser -vm {held[0]}` names it): "
            "stop that program, then run again.",
            commands=commands.run,
        )


def _remove_folder(name: str) -> None:
    place = machine.path(name)
    if not os.path.ismount(place) and not os.path.islink(place):
        shutil.rmtree(place, ignore_errors=True)
        return
    for entry in os.listdir(place):
        inside = os.path.join(place, entry)
        if os.path.isdir(inside) and not os.path.islink(inside):
            shutil.rmtree(inside, ignore_errors=True)
        else:
            os.unlink(inside)


def remove_links(commands: machine.Commands, links: t.Sequence[str]) -> None:
    for name in links:
        commands(["ip", "link", "delete", name])


def _remove(commands: machine.Commands, traces: Traces) -> None:
    _unmount(commands)
    remove_links(commands, traces.links)
    for command, script, _unused in traces.rules:
        commands([f"{command}-restore", "--noflush", "--wait", "10"], data=script)
    for family, name in traces.nft:
        commands(["nft", "delete", "table", family, name])
    for name in traces.files:
        if name != machine.MARKER:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(machine.path(name))
    for name in traces.folders:
        if os.path.isdir(machine.path(name)):
            _remove_folder(name)
    for name in cleanup.EMPTY_FOLDERS:
        with contextlib.suppress(OSError):  # somebody else's files are in it, or it is not there
            os.rmdir(machine.path(name))
    # The last to go: a reset that is cut off must still find the leftovers of an unfinished init to be that.
    machine.clear_marker()


def reset(commands: machine.Commands, *, user: str | None = "", timeout: int = 180) -> tuple[list[str], list[str]]:
    """Reset this machine; the answer lists what was there and is gone, and warnings.

    containerd, packages, images and everything that is not the cluster's own stay.
    """
    before = find(commands, user)
    if not before.listed():
        return [], []
    warning = _kubeadm_reset(commands, timeout)
    after = find(commands, None)
    # The user's kubeconfig can only be recognised by admin.conf, which kubeadm has taken away by now.
    _remove(commands, after._replace(files=after.files + [name for name in before.files if name not in after.files]))
    left = find(commands, None).listed()
    if left:
        commands.module.fail_json(
            msg=f"The reset left {', '.join(left)}: remove it by hand, then run again.",
            commands=commands.run,
            warnings=[warning] if warning else [],
        )
    return before.listed(), [warning] if warning else []
