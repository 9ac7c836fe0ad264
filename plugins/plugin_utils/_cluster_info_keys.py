# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The keys of a cluster-info file: which there are, what each becomes, and what it may hold.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import typing as t
from collections.abc import Callable

from ansible_collections.gshare.cluster.plugins.module_utils._networks import Network

NODE_KEYS = ("MASTER_NODE", "WORKER_NODES", "CPU_WORKERS", "STORAGE_NODE")
DEFAULT_POD_CIDR = "10.244.0.0/16"
DEFAULT_SERVICE_CIDR = "10.96.0.0/12"


class Wrong(Exception):
    """A value that its key cannot hold."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


def nearest(word: str, known: t.Iterable[str]) -> str | None:
    """Give the known word that is most like this one, if any is like it."""
    by_fold = {name.upper(): name for name in known}
    folded = word.upper().replace("-", "_")
    match = difflib.get_close_matches(folded, by_fold, n=1, cutoff=0.6)
    return by_fold[match[0]] if match else None


def _pattern(pattern: str, what: str, remedy: str) -> Callable[[str], t.Any]:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise Wrong(f"'{value}' is not {what}", remedy)
        return value

    return check


def _boolean(value: str) -> bool:
    folded = value.lower()
    if folded in ("1", "true", "yes", "on"):
        return True
    if folded in ("0", "false", "no", "off"):
        return False
    raise Wrong(f"'{value}' is neither yes nor no", "write 1 or 0")


def _at_least(least: int, unit: str) -> Callable[[str], t.Any]:
    def check(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < least:
            raise Wrong(f"'{value}' is not a number of {unit}", f"write a whole number, {least} or more")
        return int(value)

    return check


def network(value: str) -> Network:
    """Read an address range such as 10.244.0.0/16."""
    address, slash, bits = value.partition("/")
    example = "write it as ADDRESS/BITS, such as 10.244.0.0/16"
    if "," in value:
        raise Wrong(f"'{value}' is more than one range", "write one: two address families at once are not supported")
    if not slash or not bits.isascii() or not bits.isdigit():
        raise Wrong(f"'{value}' is not an address range", example)
    try:
        found = ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise Wrong(f"'{value}' is not an address range", example) from None
    if str(found.network_address) != str(ipaddress.ip_address(address)):
        raise Wrong(f"'{value}' is not the beginning of a range", f"write {found}")
    return found


def _range(value: str) -> str:
    return str(network(value))


def _kubernetes_version(value: str) -> str:
    if re.fullmatch(r"1\.[0-9]{1,3}(?:\.[0-9]{1,3})?", value):
        return value
    remedy = "write the minor version, such as 1.36, or a full one, such as 1.36.3"
    if re.fullmatch(r"v1\.[0-9.]+", value):
        remedy = f"write {value[1:]}, without the v"
    raise Wrong(f"'{value}' is not a Kubernetes version", remedy)


def _registry(value: str) -> str:
    if "://" in value or "/" in value:
        bare = value.split("://", 1)[-1].split("/", 1)[0]
        raise Wrong(f"'{value}' is more than an address and a port", f"write {bare or 'HOST:PORT'}")
    if not re.fullmatch(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", value):
        raise Wrong(f"'{value}' is not a registry", "write HOST:PORT, such as 10.0.0.40:5000")
    port = value.rpartition(":")[2] if re.search(r":[0-9]+$", value) else ""
    if port and not 0 < int(port) < 65536:
        raise Wrong(f"'{value}' has a port that does not exist", "write a port between 1 and 65535")
    return value


def _driver(value: str) -> str:
    if value in ("auto", "skip") or re.fullmatch(r"[a-z0-9][a-z0-9+.-]+(?:=[A-Za-z0-9.+~:-]+)?", value):
        return value
    raise Wrong(f"'{value}' is not a driver package", "write auto, skip, or a package such as nvidia-driver-580-server")


def _vdevs(value: str) -> str:
    words = value.split()
    kinds = re.compile(r"mirror|raidz[123]?|draid[123]?(?::[0-9a-z:]+)?|spare|log|cache|special|dedup")
    remedy = 'write it as zpool create takes it, such as "mirror /dev/sdb /dev/sdc"'
    for word in words:
        if not kinds.fullmatch(word) and not word.startswith("/dev/"):
            raise Wrong(f"'{word}' is neither a device below /dev nor a word of zpool", remedy)
    if not any(word.startswith("/dev/") for word in words):
        raise Wrong(f"'{value}' names no device", remedy)
    return " ".join(words)


def _pool(value: str) -> str:
    reserved = re.match(r"mirror|raidz|draid|spare|log$", value)
    if reserved or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", value):
        remedy = "begin with a letter, but not with mirror, raidz, draid or spare"
        raise Wrong(f"'{value}' is not a name for a ZFS pool", remedy)
    return value


_NAME = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_URL = _pattern(r"(?:https?|oci|file)://\S+", "the address of a chart repository", "begin with https:// or oci://")

# Key: (variable, check). A check gives the typed value, or raises Wrong.
SETTINGS: dict[str, tuple[str, Callable[[str], t.Any]]] = {
    "K8S_MINOR": ("gshare_kubernetes_version", _kubernetes_version),
    "POD_CIDR": ("gshare_pod_cidr", _range),
    "SERVICE_CIDR": ("gshare_service_cidr", _range),
    "INIT_FORCE_RESET": ("gshare_init_force_reset", _boolean),
    "NVIDIA_DRIVER": ("gshare_nvidia_driver", _driver),
    "REBOOT_WAIT_TRIES": ("gshare_reboot_wait_tries", _at_least(1, "tries, each of five seconds")),
    "LOCAL_REGISTRY": ("gshare_local_registry", _registry),
    "LOCAL_REGISTRY_MIRROR": ("gshare_local_registry_mirror", _registry),
    "STORAGE_POOL": ("gshare_storage_pool", _pool),
    "STORAGE_CLASS": (
        "gshare_storage_class",
        _pattern(rf"{_NAME}(?:\.{_NAME})*", "a name for a storage class", "use small letters, digits, - and ."),
    ),
    "STORAGE_CSI_USER": (
        "gshare_storage_csi_user",
        _pattern(r"[a-z_][a-z0-9_-]{0,31}", "a name for an account", "use small letters, digits, - and _"),
    ),
    "STORAGE_VDEVS": ("gshare_storage_vdevs", _vdevs),
    "ZFS_ARC_MAX_MB": ("gshare_zfs_arc_max_mb", _at_least(64, "megabytes")),
    "LOCAL_PATH_VER": (
        "gshare_local_path_version",
        _pattern(r"v?[0-9]+\.[0-9]+\.[0-9]+\S*", "a version of local-path-provisioner", "write one such as v0.0.37"),
    ),
    "INGRESS_NS": (
        "gshare_ingress_namespace",
        _pattern(_NAME, "a name for a namespace", "use small letters, digits and -"),
    ),
    "HAMI_REPO": ("gshare_hami_repo", _URL),
    "DEMOCRATIC_CSI_REPO": ("gshare_democratic_csi_repo", _URL),
    "HELM_SKIP_INSTALL": ("gshare_helm_skip_install", _boolean),
}

KNOWN = (*NODE_KEYS, "SSH_OPTS", *SETTINGS)

# Keys of the shell script that have no meaning here, and what to do instead.
NOT_HERE = {
    "FLANNEL_URL": "remove it: flannel is installed from the collection's own manifest, which knows POD_CIDR",
    "NVIDIA_DRIVER_REBOOT": "remove it: a machine whose new driver needs a restart is restarted and waited for",
    "STORAGE_KEY": "remove it: the key of the storage account is made and kept by the collection",
    "STORAGE_CSI_PUBKEY": "remove it: the key of the storage account is made and kept by the collection",
    "LOSSLESS": "remove it: CRIU and cuda-checkpoint are not installed by the collection",
    "CRIU_VERSION": "remove it: CRIU is not installed by the collection",
    "CUDA_CHECKPOINT_URL": "remove it: cuda-checkpoint is not installed by the collection",
    "CLUSTER_INFO": "remove it: the file is the one that you give with -i",
    "KUBECONFIG": "remove it: the kubeconfig is written on the control plane",
}
