# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The probe pods of verify: their manifests, what they run, how their answers are read.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import shlex
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Json, seconds

LABEL = "app.kubernetes.io/managed-by=gshare.cluster,app.kubernetes.io/component=verify"
OWNER = "gshare.io/verify-run"
PORT = 8080
_LABELS = dict(entry.split("=") for entry in LABEL.split(","))
_MESSAGE = "written by verify"
# A run cannot last this long: what is older has no owner any more, whatever its annotation says.
_STALE = 3600.0


def namespace(name: str, owner: str) -> Json:
    """The namespace of one run. The host network probes need the Pod Security level privileged."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {**_LABELS, "pod-security.kubernetes.io/enforce": "privileged"},
            "annotations": {OWNER: owner},
        },
    }


def leftovers(namespaces: list[Json], now: float, alive: t.Callable[[str], bool]) -> list[str]:
    """Names of namespaces that runs left behind which are gone now."""
    names = []
    for item in namespaces:
        meta = item["metadata"]
        old = now - seconds(meta.get("creationTimestamp")) > _STALE
        owner = (meta.get("annotations") or {}).get(OWNER, "")
        if not meta.get("deletionTimestamp") and (old or not alive(owner)):
            names.append(meta["name"])
    return names


def _pod_spec(image: str, command: str, **more: t.Any) -> Json:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        # Every node has to answer, so no taint keeps a probe away.
        "tolerations": [{"operator": "Exists"}],
        "containers": [
            {
                "name": "probe",
                "image": image,
                "imagePullPolicy": "IfNotPresent",
                "command": ["/bin/sh", "-c", command],
                "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}},
            }
        ],
        **more,
    }


def pod(name: str, app: str, image: str, command: str, **more: t.Any) -> Json:
    """A pod that runs a command once, found again by the label app."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {**_LABELS, "app": app}},
        "spec": _pod_spec(image, command, restartPolicy="Never", **more),
    }


def kept_to(nodes: t.Sequence[str]) -> Json:
    """The part of a pod's specification that keeps it to some nodes; nothing without names."""
    if not nodes:
        return {}
    rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def daemonset(image: str, nodes: t.Sequence[str] = ()) -> Json:
    """One probe a node, which answers HTTP with the name of its node."""
    command = f'mkdir -p /tmp/www && echo "$NODE" > /tmp/www/index.html && exec httpd -f -p {PORT} -h /tmp/www'
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "probe", "labels": _LABELS},
        "spec": {
            "selector": {"matchLabels": {"app": "probe"}},
            "template": {
                "metadata": {"labels": {**_LABELS, "app": "probe"}},
                "spec": _pod_spec(image, command, **kept_to(nodes)),
            },
        },
    }


def service() -> Json:
    """The probes under one name, for the Ingress."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "probe", "labels": _LABELS},
        "spec": {"selector": {"app": "probe"}, "ports": [{"port": 80, "targetPort": PORT}]},
    }


def ingress(host: str, ingress_class: str) -> Json:
    backend = {"service": {"name": "probe", "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "probe", "labels": _LABELS},
        "spec": {"ingressClassName": ingress_class, "rules": [{"host": host, "http": {"paths": paths}}]},
    }


def host_probe(image: str, node: str, index: int) -> Json:
    """A pod on the network of its node, to look at ports and counters. Only made when a path is broken."""
    return pod(f"host-{index}", "host", image, "exec sleep 600", hostNetwork=True, nodeName=node)


def claim(storage_class: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "probe", "labels": _LABELS},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "16Mi"}},
        },
    }


def claim_pod(image: str, nodes: t.Sequence[str] = ()) -> Json:
    """A pod that writes to the claim and reads it back; it ends well only if that worked."""
    command = (
        f"echo {shlex.quote(_MESSAGE)} > /data/probe && sync && "
        f'[ "$(cat /data/probe)" = {shlex.quote(_MESSAGE)} ] && rm /data/probe'
    )
    body = pod("claim", "claim", image, f"{{ {command}; }} > /dev/termination-log 2>&1", **kept_to(nodes))
    spec = body["spec"]
    # It needs no particular node, and a claim on a node that is not well would say nothing about storage.
    spec["tolerations"] = [
        {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
    ]
    spec["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "probe"}}]
    return body


def ring(nodes: t.Iterable[str]) -> list[tuple[str, str]]:
    """Each node with its neighbour, the last with the first; two nodes are one pair, one node none."""
    names = list(nodes)
    if len(names) < 3:
        return list(zip(names, names[1:]))
    return list(zip(names, [*names[1:], names[0]]))


def script(dns_server: str, peers: dict[str, str]) -> str:
    """What a probe runs: its DNS and HTTP to its neighbours (node name -> pod address)."""
    lines = [
        "echo @bridge; cat /proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null",
        "echo @resolv; cat /etc/resolv.conf",
        r"domain=$(sed -n 's/^search.* svc\.\([^ ]*\).*/\1/p' /etc/resolv.conf)",
        "echo @domain; echo ${domain:=cluster.local}",
    ]
    if dns_server:
        lines.append(f"echo @dns; timeout 6 nslookup kubernetes.default.svc.$domain. {dns_server} 2>&1")
    # timeout instead of wget's own -T: not every busybox has that.
    for name, address in peers.items():
        lines.append(f"echo @http {name}; timeout 6 wget -q -O - {_url(address, PORT)} 2>&1")
    return "\n".join([*lines, "echo", "echo @end"])


def _url(address: str, port: int) -> str:
    return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"


def read_answer(text: str, dns_server: str) -> Json:
    """The sections that the script printed."""
    parts: dict[str, str] = {}
    for head, body in re.findall(r"^@(\w+(?: \S+)?)\n(.*?)(?=^@|\Z)", text, re.MULTILINE | re.DOTALL):
        parts[head] = body.strip()
    return {
        "whole": "end" in parts,
        "bridge": bool(parts.get("bridge")),
        "servers": re.findall(r"^nameserver\s+(\S+)", parts.get("resolv", ""), re.MULTILINE),
        "domain": parts.get("domain", ""),
        "dns": _addresses(parts.get("dns", ""), dns_server),
        "dns_text": parts.get("dns", ""),
        "http": {head.split(" ", 1)[1]: body for head, body in parts.items() if head.startswith("http ")},
    }


def _addresses(text: str, server: str) -> list[str]:
    """Addresses in nslookup's answer, without that of the server itself."""
    found = re.findall(r"^Address(?: \d+)?:\s*(\S+)", text, re.MULTILINE)
    return [
        address for address in found if address != server and not address.startswith((f"{server}:", f"[{server}]:"))
    ]


def port_script(targets: list[tuple[str, int]]) -> str:
    """Try TCP ports. A TLS server answers plain HTTP with an error: that is an open port as well."""
    lines = [
        f"echo @port {address} {port}; timeout 4 wget -q -O - {_url(address, port)} 2>&1" for address, port in targets
    ]
    return "\n".join([*lines, "echo", "echo @end"])


def read_ports(text: str) -> dict[tuple[str, int], bool]:
    """Which of the ports answered."""
    found = {}
    for address, port, body in re.findall(r"^@port (\S+) (\d+)\n(.*?)(?=^@|\Z)", text, re.MULTILINE | re.DOTALL):
        closed = not body.strip() or re.search(
            r"timed out|terminated|can't connect|unreachable|refused|no route", body, re.IGNORECASE
        )
        found[address, int(port)] = not closed
    return found


COUNTERS = "cat /proc/net/dev"


def read_counters(text: str) -> tuple[int, int] | None:
    """Bytes received and sent by flannel's VXLAN link, if the node has it."""
    hit = re.search(r"^\s*flannel(?:-v6)?\.\d+:(.*)$", text, re.MULTILINE)
    if not hit:
        return None
    fields = hit.group(1).split()
    return int(fields[0]), int(fields[8])


_PINGS, _SIZE = 5, 1000


def ping(address: str) -> str:
    """Some packets of a size that other traffic in the same second does not hide."""
    return f"ping -c {_PINGS} -s {_SIZE} -W 1 {address}"


def moved(before: tuple[int, int] | None, after: tuple[int, int] | None) -> tuple[bool, bool] | None:
    """Whether the packets of ping were received and sent in between."""
    if before is None or after is None:
        return None
    enough = (_PINGS - 1) * _SIZE
    return after[0] - before[0] >= enough, after[1] - before[1] >= enough
