# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""What kubeadm needs and what its traces mean: facts in, verdict or documents out. Nothing here reads a machine."""

from __future__ import annotations

import re
import typing as t

CRI_SOCKET = "unix:///run/containerd/containerd.sock"
MANIFESTS = ("kube-apiserver.yaml", "kube-controller-manager.yaml", "kube-scheduler.yaml", "etcd.yaml")

# The phases that `kubeadm init` has behind it once the API answers. What follows them may be run any number of times.
DONE_WHEN_API_ANSWERS = ("preflight", "certs", "kubeconfig", "etcd", "control-plane", "kubelet-start")

Dict = dict[str, t.Any]


# --- versions ---------------------------------------------------------------------------------------------------------


def bare_version(text: str) -> str:
    """'v1.36.3', '1.36.3-1.1' and '1:1.36.3' are all '1.36.3'."""
    return text.strip().split(":")[-1].lstrip("v").split("-")[0]


def version_matches(wanted: str, actual: str) -> bool:
    """Whether a version meets the wish: '1.36' is met by every patch of it, '1.36.5' by itself alone."""
    want, have = bare_version(wanted), bare_version(actual)
    return have == want or have.startswith(want + ".")


def version_key(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", bare_version(text)))


# --- the state of a control plane -------------------------------------------------------------------------------------


def _listed(found: t.Sequence[str]) -> str:
    return ", ".join(found) if found else "nothing"


def found_traces(facts: Dict) -> list[str]:
    """The traces of a control plane, for people."""
    found = list(facts.get("manifests", [])) + list(facts.get("kubeconfigs", []))
    if facts.get("etcd_data"):
        found.append("etcd data")
    if facts.get("external_etcd"):
        found.append("an etcd of its own elsewhere")
    return found


def control_plane_state(facts: Dict) -> tuple[str, str]:
    """Judge the traces on a machine; the answer is a state and the reason for it.

    absent      nothing there.
    healthy     /livez and /readyz say ok.
    unfinished  the API answers, but the init that our marker belongs to did not end.
    leftover    an init that never finished: the marker is there, or nothing was ever stored.
    broken      there is data, or there was a complete control plane, and the API does not answer.
    worker      not a control plane, but a worker of some cluster.

    kubelet.conf points at the rotated certificate only after the phase kubelet-finalize, so `finalized` tells that an
    init came nearly to its end: such a control plane may hold somebody's work and is never called a leftover.
    """
    if facts.get("api") == "ready":
        if facts.get("marker"):
            return "unfinished", "the API answers, but kubeadm init did not come to its end"
        return "healthy", "/livez and /readyz answer ok"
    found = found_traces(facts)
    if not found and not facts.get("marker"):
        if facts.get("kubelet_conf"):
            return "worker", "kubelet.conf belongs to a worker of a cluster"
        return "absent", "no trace of a control plane"
    if facts.get("api") == "alive":
        return "broken", "the API answers but is not ready"
    if facts.get("finalized") or facts.get("external_etcd"):
        return "broken", f"a complete control plane is there ({_listed(found)}), but the API does not answer"
    if facts.get("marker"):
        return "leftover", f"kubeadm init was cut off and left {_listed(found)}"
    if not facts.get("etcd_data"):
        return "leftover", f"{_listed(found)} without any etcd data: an init that never finished"
    return "broken", f"there is data ({_listed(found)}), but the API does not answer"


def may_come_up(state: str, facts: Dict) -> bool:
    """Whether waiting can help: etcd ran here once, so kubelet may be about to start it again."""
    return (
        state in ("leftover", "broken")
        and bool(facts.get("manifests"))
        and (bool(facts.get("etcd_data")) or bool(facts.get("external_etcd")) or facts.get("api") == "alive")
    )


INIT_ACTIONS = {
    "absent": ("init",),
    "healthy": (),
    "unfinished": ("finish",),
    "leftover": ("reset", "init"),
}


def init_actions(state: str, force_reset: bool) -> tuple[str, ...] | None:
    """What to do about a state; None means stop and ask."""
    if state in INIT_ACTIONS:
        return INIT_ACTIONS[state]
    return ("reset", "init") if force_reset else None


# --- the state of a worker --------------------------------------------------------------------------------------------


def worker_state(facts: Dict) -> tuple[str, str]:
    """joined, absent or half: read from files alone, the API is asked elsewhere."""
    names = ("kubelet.conf", "bootstrap-kubelet.conf", "pki/ca.crt", "config.yaml")
    present = [name for name in names if facts.get(name)]
    if not present:
        return "absent", "no trace of a join"
    missing = [name for name in ("kubelet.conf", "pki/ca.crt", "config.yaml") if not facts.get(name)]
    if missing:
        return "half", f"{_listed(present)} there, {_listed(missing)} missing"
    if not facts.get("client_cert"):
        return "half", "kubelet.conf is there, the certificate that it names is not"
    return "joined", "kubelet has its own certificate for a cluster"


def find_node(nodes: t.Sequence[Dict], *, address: str = "", name: str = "") -> Dict | None:
    for node in nodes:
        if (address and address in node.get("addresses", [])) or (name and node.get("name") == name):
            return dict(node)
    return None


def _refuse_join(facts: Dict, wish: Dict, nodes: t.Sequence[Dict]) -> str:
    """Why a machine must not be touched, or nothing."""
    name, address = facts["node_name"], wish["address"]
    if facts.get("control_plane"):
        return (
            f"This machine holds a control plane ({_listed(facts['control_plane'])}) and cannot join as a worker: "
            "take it out of the workers, or run the reset playbook on it first."
        )
    by_name = find_node(nodes, name=name)
    if by_name and address not in by_name.get("addresses", []):
        return (
            f"The cluster has a node {name} already, with the address {_listed(by_name.get('addresses', []))} and not "
            f"{address}: give this machine a host name of its own, or set gshare_node_ip to the node's address."
        )
    server = facts.get("server") or ""
    # In check mode there may be no cluster yet to compare with.
    if (
        server
        and wish["ca_hash"]
        and facts.get("ca_hash") != wish["ca_hash"]
        and not server.endswith(f"//{wish['endpoint']}")
    ):
        return (
            f"This machine belongs to another cluster ({server}): take it out of the inventory, or run the reset "
            "playbook for that cluster first."
        )
    return ""


def join_action(facts: Dict, wish: Dict, nodes: t.Sequence[Dict]) -> tuple[str, str]:
    """What to do with a worker: none, start, join, reset (and join) or refuse; and why.

    `nodes` is what the API lists. A machine that the API lists under its address and that has its own certificate of
    this cluster is left alone, whatever its kubelet thinks of the day.
    """
    refusal = _refuse_join(facts, wish, nodes)
    if refusal:
        return "refuse", refusal
    state, reason = worker_state(facts)
    if state == "absent":
        return "join", "this machine is in no cluster"
    if state == "half":
        return "reset", f"an earlier join was cut off: {reason}"
    if facts.get("ca_hash") != wish["ca_hash"]:
        return "reset", "it belongs to an earlier cluster of this control plane"
    if not nodes:
        # At least the control plane is always there. A node that serves is not reset on no knowledge.
        return "refuse", "This machine is in the cluster, but the API lists no node at all: see kubectl get nodes."
    if not find_node(nodes, address=wish["address"]):
        return "reset", "kubelet has a certificate, but the API has no node with this address"
    if not facts.get("kubelet_active"):
        return "start", "the node is in the cluster, but kubelet does not run"
    return "none", "already in the cluster"


# --- texts ------------------------------------------------------------------------------------------------------------


def subnet_conflicts(cluster_configuration: str, wish: Dict) -> list[str]:
    """Ranges that the cluster was made with and that differ from the wish."""
    conflicts = []
    for key, option, setting in (
        ("podSubnet", "pod_cidr", "gshare_pod_cidr (POD_CIDR)"),
        ("serviceSubnet", "service_cidr", "gshare_service_cidr (SERVICE_CIDR)"),
    ):
        match = re.search(rf"^\s*{key}:\s*(\S+)", cluster_configuration, re.MULTILINE)
        present = match.group(1).strip("\"'") if match else ""
        if present and present != wish[option]:
            conflicts.append(
                f"The cluster was made with {key} {present} and the inventory says {wish[option]}: this cannot be "
                f"changed on a living cluster, so set {setting} to {present}."
            )
    return conflicts


def node_summaries(node_list: Dict) -> list[Dict]:
    """The nodes as the API lists them, short."""
    result = []
    for item in node_list.get("items", []):
        status = item.get("status", {})
        ready = [entry["status"] for entry in status.get("conditions", []) if entry.get("type") == "Ready"]
        result.append(
            {
                "name": item["metadata"]["name"],
                "addresses": [
                    entry["address"] for entry in status.get("addresses", []) if entry.get("type") == "InternalIP"
                ],
                "ready": ready == ["True"],
                # A node that has just registered has none of the labels that this collection sets.
                "labelled": any(key.startswith("gshare.io/") for key in item["metadata"].get("labels") or {}),
                "kubelet_version": status.get("nodeInfo", {}).get("kubeletVersion", ""),
            }
        )
    return result


def failed_checks(text: str) -> list[str]:
    """The checks that did not pass, out of `/livez?verbose`."""
    return [f"{name} failed" for name in re.findall(r"^\[-\](\S+)", text, re.MULTILINE)]


HINTS = (
    ("could not find a JWS signature", "the token is unknown to the cluster or has expired; run again for a fresh one"),
    ("x509: certificate has expired or is not yet valid", "compare the clocks of the machines, then run again"),
    (
        "already exists in the cluster",
        "two machines have the same host name, or this one was taken out a moment ago: in a minute run again",
    ),
    ("unable to select an IP from default routes", "the machine has no default route; add one"),
    ("timed out waiting for the condition", "look at `journalctl -u kubelet` and `crictl ps -a` on this machine"),
    ("running with swap on is not supported", "switch swap off"),
)


def not_reached(endpoint: str, why: str) -> str:
    port = endpoint.rpartition(":")[2]
    return (
        f"this machine does not reach the API server at {endpoint} ({why}): let {port}/tcp pass between them "
        "(firewalls, cloud security group), then run again"
    )


def failure_lines(output: str, count: int = 8) -> list[str]:
    """The lines of kubeadm's output that tell what went wrong."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)  # kubeadm's look at the kernel is in colours
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    lines = [line for line in lines if not re.fullmatch(r"[A-Z0-9_]+: (enabled|missing)", line)]
    noise = ("[preflight] If you know", "To see the stack trace", "couldn't validate the identity")
    telling = r"\[ERROR |^error|^error execution|fatal|did not end within"
    errors = [line for line in lines if re.search(telling, line, re.IGNORECASE)]
    chosen = errors[-count:] if errors else lines[-count:]
    return [line for line in chosen if not line.startswith(noise)] or chosen


def failure_hint(output: str) -> str:
    return next((hint for text, hint in HINTS if text in output), "")
