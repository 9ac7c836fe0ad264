# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who uses the GPUs of this machine: pods that were given one, and processes that compute on one.

Note that this module util is **PRIVATE** to the collection. C(gpu_use) is for all who are about to disturb a machine.
"""

from __future__ import annotations

import glob
import json
import os
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_command as command

if t.TYPE_CHECKING:
    from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
# The pods' own control groups: version 2, and the hierarchies of version 1 that all pods have.
_GROUPS = ("", "systemd/", "memory/", "pids/", "cpu,cpuacct/")
_QUERY = "--query-compute-apps=pid,process_name,gpu_uuid,used_gpu_memory"
SMI = ("nvidia-smi", _QUERY, "--format=csv,noheader,nounits")
_SHIM = "containerd-shim"
# They hold the device of unified memory open without computing.
_SERVANTS = ("nvidia-smi", "nvidia-persiste", "nvidia-modprobe")

Found = list[dict[str, t.Any]]


def gpu_use(host: Host, timeout: float = 120, ask: command.Ask = command.ask) -> list[str]:
    """What would be disturbed, a sentence each; empty on a machine without a loaded driver and without GPU pods."""
    found = pods(host)
    return sentences(processes(host, timeout, ask), found, host)


def checkpoint_uids(text: str) -> list[str]:
    """The pods that the kubelet gave a device of nvidia.com, from its checkpoint; empty if it is no checkpoint."""
    try:
        entries = json.loads(text)["Data"]["PodDeviceEntries"] or []
        uids = [entry["PodUID"] for entry in entries if entry["ResourceName"].startswith("nvidia.com/")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return list(dict.fromkeys(uids))


def pods(host: Host) -> Found:
    """Pods with a device of nvidia.com that still run here.

    The checkpoint keeps pods that are long gone, so what is left of a pod on the machine decides. Those that ended but
    were not deleted have no control group any more.
    """
    uids = checkpoint_uids(host.text(CHECKPOINT))
    if not uids:
        return []
    logs = {name.rpartition("_")[2]: name for name in host.names("/var/log/pods")}
    known = set(host.names("/var/lib/kubelet/pods"))
    alive = _groups(host)
    found = []
    for uid in uids:
        if uid not in known and uid not in logs:
            continue
        if alive is not None and uid not in alive:
            continue
        namespace, _sep, rest = logs.get(uid, "").partition("_")
        found.append({"namespace": namespace, "name": rest.rpartition("_")[0], "uid": uid})
    return found


def _groups(host: Host) -> set[str] | None:
    """Pods that have a control group; None if there is no place where one could be seen.

    After a boot that place comes with the first pod: while no container has a shim, none runs.
    """
    root = str(host.root).rstrip("/")
    for group in _GROUPS:
        for base in (f"{root}/sys/fs/cgroup/{group}kubepods.slice", f"{root}/sys/fs/cgroup/{group}kubepods"):
            if os.path.isdir(base):
                found = glob.glob(f"{base}/*pod*") + glob.glob(f"{base}/*/*pod*")
                names = [os.path.basename(path).partition(".slice")[0] for path in found]
                return {name.rpartition("pod")[2].replace("_", "-") for name in names}
    return None if _SHIM in host.processes() else set()


def processes(host: Host, timeout: float = 120, ask: command.Ask = command.ask) -> Found:
    """Processes that compute on a card: from nvidia-smi, and where that does not work, from what they hold open."""
    if not host.exists("/proc/driver/nvidia/version"):
        return []
    answer = ask(SMI, timeout)
    return parse_processes(answer.text) if answer.status == 0 else holders(host)


def parse_processes(text: str) -> Found:
    """Lines of nvidia-smi: pid, name, UUID of the card, MiB. A name may hold commas, memory may be unknown."""
    found = []
    for line in text.split("\n"):
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 4 or not parts[0].isdigit():
            continue
        memory = re.match(r"\d+", parts[-1])
        found.append(
            {
                "pid": int(parts[0]),
                "name": ",".join(parts[1:-2]),
                "gpu": parts[-2],
                "memory_mib": int(memory.group()) if memory else None,
            }
        )
    return found


def holders(host: Host) -> Found:
    """Processes that hold /dev/nvidia-uvm open, as all do that compute. Monitoring opens only the cards themselves."""
    found = []
    for pid in host.names("/proc"):
        if not pid.isdigit() or host.text(f"/proc/{pid}/comm", 64).strip() in _SERVANTS:
            continue
        for fd in host.names(f"/proc/{pid}/fd"):
            try:
                link = os.readlink(host.path(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                continue
            if link == "/dev/nvidia-uvm":
                name = host.text(f"/proc/{pid}/comm", 64).strip()
                found.append({"pid": int(pid), "name": name, "gpu": "", "memory_mib": None})
                break
    return found


def sentences(found: Found, of_pods: Found, host: Host | None = None) -> list[str]:
    """For people. A process of a pod is not told again beside its pod."""
    told = []
    for pod in of_pods:
        name = f"{pod['namespace']}/{pod['name']}" if pod["name"] else f"with the UID {pod['uid']}"
        told.append(f"pod {name} uses a GPU")
    for process in found:
        groups = host.text(f"/proc/{process['pid']}/cgroup", 4096) if host else ""
        if any(pod["uid"] in groups or pod["uid"].replace("-", "_") in groups for pod in of_pods):
            continue
        card = process["gpu"] if process["gpu"].startswith(("GPU-", "MIG-")) else "a GPU"
        told.append(f"process {process['pid']} ({os.path.basename(process['name']) or 'unknown'}) uses {card}")
    return told
