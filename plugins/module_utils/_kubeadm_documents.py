# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection.

"""Documents for kubeadm, tokens, and kubeconfigs as texts. Nothing here reads a machine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._kubeadm import CRI_SOCKET, Dict, bare_version

KUBEADM_API = "kubeadm.k8s.io/v1beta4"
TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token"


# --- documents --------------------------------------------------------------------------------------------------------


def merge(base: Dict, extra: Dict) -> Dict:
    """Both dictionaries in one; `extra` wins, lists are replaced as a whole."""
    result = dict(base)
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


def _pruned(value: t.Any) -> t.Any:
    """Without empty values, so that kubeadm's own defaults apply."""
    if isinstance(value, dict):
        cleaned = {key: _pruned(entry) for key, entry in value.items()}
        return {key: entry for key, entry in cleaned.items() if entry not in ("", None, [], {})}
    if isinstance(value, list):
        return [_pruned(entry) for entry in value]
    return value


def _registration(wish: Dict) -> Dict:
    return {
        "criSocket": wish.get("cri_socket") or CRI_SOCKET,
        "ignorePreflightErrors": list(wish.get("ignore_preflight_errors") or []),
        "kubeletExtraArgs": [{"name": "node-ip", "value": wish["address"]}],
    }


def init_documents(wish: Dict) -> list[Dict]:
    """The documents for `kubeadm init`; `wish["config"]` holds dictionaries by kind that are merged in last.

    kubeadm always makes a first bootstrap token. It is given one second to live, since each run that joins machines
    makes its own.
    """
    names = [str(name) for name in wish.get("extra_names") or []]
    init = {
        "localAPIEndpoint": {"advertiseAddress": wish["address"], "bindPort": wish["port"]},
        "nodeRegistration": _registration(wish),
        "bootstrapTokens": [{"description": "made by kubeadm init, not used", "ttl": "1s"}],
        "skipPhases": ["show-join-command"],
    }
    cluster = {
        "kubernetesVersion": "v" + bare_version(wish["version"]) if wish.get("version") else "",
        "networking": {"podSubnet": wish["pod_cidr"], "serviceSubnet": wish["service_cidr"]},
        "apiServer": {"certSANs": list(dict.fromkeys([*names, wish["address"]])) if names else []},
        "imageRepository": wish.get("image_repository") or "",
    }
    documents = [
        {"apiVersion": KUBEADM_API, "kind": "InitConfiguration", **_pruned(init)},
        {"apiVersion": KUBEADM_API, "kind": "ClusterConfiguration", **_pruned(cluster)},
        {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "systemd"},
        {"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration"},
    ]
    extra = wish.get("config") or {}
    return [merge(document, extra.get(document["kind"]) or {}) for document in documents]


def join_documents(wish: Dict) -> list[Dict]:
    join = {
        "discovery": {
            "bootstrapToken": {
                "apiServerEndpoint": wish["endpoint"],
                "token": wish["token"],
                "caCertHashes": [wish["ca_hash"]],
            }
        },
        "nodeRegistration": _registration(wish),
    }
    document = {"apiVersion": KUBEADM_API, "kind": "JoinConfiguration", **_pruned(join)}
    return [merge(document, (wish.get("config") or {}).get("JoinConfiguration") or {})]


def to_text(documents: t.Sequence[Dict]) -> str:
    """YAML documents, each written as JSON: the machines need no YAML library for it."""
    return "---\n".join(json.dumps(document, indent=2, sort_keys=False) + "\n" for document in documents)


# --- tokens and certificates ------------------------------------------------------------------------------------------

TOKEN = re.compile(r"^([a-z0-9]{6})\.([a-z0-9]{16})$")


# By this tokens are found that a run left which was killed.
TOKEN_LABEL = "gshare.io/token"


def token_secret(token: str, expires: str, description: str) -> Dict:
    """The Secret that is a bootstrap token. Made without `kubeadm token create`, which needs a default route."""
    match = TOKEN.match(token)
    if not match:
        raise ValueError("a bootstrap token has six, a point and sixteen small letters or digits")
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": f"bootstrap-token-{match.group(1)}",
            "namespace": "kube-system",
            "labels": {TOKEN_LABEL: "join"},
        },
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": match.group(1),
            "token-secret": match.group(2),
            "expiration": expires,
            "description": description,
            "usage-bootstrap-authentication": "true",
            "usage-bootstrap-signing": "true",
            "auth-extra-groups": TOKEN_GROUP,
        },
    }


def _der_element(data: bytes, offset: int) -> tuple[int, int, int]:
    """Tag, start and end of the content of the DER element at an offset."""
    tag, length, start = data[offset], data[offset + 1], offset + 2
    if length & 0x80:
        count = length & 0x7F
        length = int.from_bytes(data[start : start + count], "big")
        start += count
    if start + length > len(data):
        raise ValueError("the certificate is cut off")
    return tag, start, start + length


def ca_cert_hash(pem: str) -> str:
    """kubeadm's pin of a CA: SHA-256 over the certificate's SubjectPublicKeyInfo."""
    match = re.search(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", pem, re.DOTALL)
    if not match:
        raise ValueError("no certificate in PEM form")
    try:
        data = base64.b64decode("".join(match.group(1).split()), validate=True)
        _unused, body, _unused = _der_element(data, 0)
        _unused, position, _unused = _der_element(data, body)
        # tbsCertificate: [0] version, serial, signature, issuer, validity, subject, subjectPublicKeyInfo
        skip = 6 if data[position] == 0xA0 else 5
        for _unused in range(skip):
            _unused, _unused, position = _der_element(data, position)
        _unused, _unused, end = _der_element(data, position)
    except (binascii.Error, IndexError) as exc:
        raise ValueError("the certificate cannot be read") from exc
    return "sha256:" + hashlib.sha256(data[position:end]).hexdigest()


# --- kubeconfigs and manifests ---


def kubeconfig_value(text: str, key: str) -> str:
    """The first value of a key in a kubeconfig as kubeadm writes it."""
    match = re.search(rf"^\s*(?:-\s+)?{re.escape(key)}:\s*(\S+)\s*$", text, re.MULTILINE)
    return match.group(1).strip("\"'") if match else ""


def same_cluster(one: str, other: str) -> bool:
    """Whether two kubeconfigs are for one cluster: the CA tells it, addresses are given again."""
    key = "certificate-authority-data"
    return bool(kubeconfig_value(one, key)) and kubeconfig_value(one, key) == kubeconfig_value(other, key)


def nothing_else(admin: str, present: str) -> bool:
    """Whether a user's kubeconfig is for the administrator's cluster and holds no more, so that it may go.

    Its clusters, contexts and users are counted by their names: another cluster need not have its CA in the file.
    """
    own, found = (len(re.findall(r"""\bname["']?\s*:""", text)) for text in (admin, present))
    return same_cluster(admin, present) and found <= own


def kubeconfig_wish(admin: str, present: str) -> str | None:
    """What belongs in a user's kubeconfig, None if it is good as it is.

    A file that holds the administrator's certificate of this cluster is good, whatever else the user keeps in it.
    """
    if not admin:
        return None if present else ""
    holds = all(
        kubeconfig_value(admin, key) in present
        for key in ("certificate-authority-data", "client-certificate-data")
        if kubeconfig_value(admin, key)
    )
    return None if present and holds else admin


def manifest_flag(text: str, flag: str) -> str:
    """The value of a flag in a static pod manifest."""
    match = re.search(rf"^\s*-\s*[\"']?--{re.escape(flag)}=([^\s\"']+)", text, re.MULTILINE)
    return match.group(1) if match else ""
