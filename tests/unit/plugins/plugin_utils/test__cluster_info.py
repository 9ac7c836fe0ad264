# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import typing as t
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import (
    Cluster,
    ClusterInfoError,
    decode,
    parse,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import Problem

FIXTURES = Path(__file__).parent / "fixtures" / "cluster_info"
HOME = "/home/op"
MASTER = "MASTER_NODE=ubuntu@192.0.2.10\n"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)


def summary(cluster: Cluster) -> dict[str, t.Any]:
    """Give all that the inventory is made of."""
    return {
        "hosts": {node.address: {"group": node.group, **node.variables()} for node in cluster.nodes},
        "variables": cluster.variables,
        "connection": cluster.connection,
        "warnings": [problem.sentence() for problem in cluster.warnings],
    }


def mistakes(text: str) -> list[str]:
    with pytest.raises(ClusterInfoError) as caught:
        parse(text)
    return [problem.sentence() for problem in caught.value.problems]


def golden(path: Path, content: str) -> None:
    """Compare with a stored answer; UPDATE_GOLDEN=1 stores it anew, to be read before it is committed."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(content)
    assert content == path.read_text()


@pytest.mark.parametrize("topic", sorted(path.name for path in FIXTURES.iterdir()))
def test_file(topic: str) -> None:
    folder = FIXTURES / topic
    text = decode((folder / "cluster-info").read_bytes())
    try:
        cluster = parse(text, folder="/inventory")
    except ClusterInfoError as error:
        golden(folder / "mistakes.txt", f"{error}\n")
    else:
        golden(folder / "cluster.json", json.dumps(summary(cluster), indent=2) + "\n")


# One mistake, and what the sentence about it has to say.
SENTENCES = {
    "": ["cluster-info: MASTER_NODE: the control plane is missing; write MASTER_NODE=USER@ADDRESS"],
    "\nMASTER_NODE=\n": ["cluster-info:2: MASTER_NODE: the control plane is missing; write MASTER_NODE=USER@ADDRESS"],
    "MASTER_NODE='x\n": [
        "cluster-info:1: MASTER_NODE: the quote ' is not closed; close it on the line where the value ends"
    ],
    f"{MASTER}MASTER_NODE=b@192.0.2.11": [
        "cluster-info:2: MASTER_NODE: the key is set in line 1 and again in line 2; keep one of the two"
    ],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentence(text: str) -> None:
    assert mistakes(text) == SENTENCES[text]


# What follows a good MASTER_NODE in line 1, and pieces of the one sentence that comes out.
WRONG: dict[str, tuple[str, ...]] = {
    # Keys
    "WORKER_NODE=a": ("2: WORKER_NODE: there is no such key", "did you mean WORKER_NODES?"),
    "worker_nodes=a": ("2: worker_nodes: there is no such key", "did you mean WORKER_NODES?"),
    "K8S_VERSION=1.36": ("there is no such key", "did you mean K8S_MINOR?"),
    "XYZZY=1": ("there is no such key", "group_vars"),
    "FLANNEL_URL=x": ("2: FLANNEL_URL: the key has no meaning here", "POD_CIDR"),
    "NVIDIA_DRIVER_REBOOT=1": ("no meaning here", "restarted"),
    "STORAGE_KEY=x": ("no meaning here", "made and kept"),
    "STORAGE_CSI_PUBKEY=x": ("no meaning here", "made and kept"),
    "LOSSLESS=skip": ("no meaning here", "CRIU"),
    # Modes and what else stands behind the address
    "WORKER_NODES=u@192.0.2.1:2222": ("'2222'", "neither exclusive nor fractional", "'u@192.0.2.1:2222'", "-p 2222"),
    "WORKER_NODES=u@192.0.2.1:Exclusive": ("'Exclusive' is neither exclusive nor fractional", "write exclusive"),
    "WORKER_NODES=u@192.0.2.1:shared": ("'shared' is neither exclusive nor fractional", "small letters"),
    "WORKER_NODES=u@192.0.2.1:cpu": ("'cpu' is neither", "CPU_WORKERS"),
    "WORKER_NODES=u@192.0.2.1:": ("'' is neither", "small letters"),
    "WORKER_NODES=u@192.0.2.1:/dev/vdb": ("'/dev/vdb'", "STORAGE_NODE"),
    "WORKER_NODES=u@192.0.2.1:exclusive:fractional": ("'exclusive:fractional' is neither",),
    "CPU_WORKERS=u@192.0.2.1:exclusive": ("a CPU worker has no mode", "WORKER_NODES"),
    "CPU_WORKERS=u@192.0.2.1:22": ("'22' stands where the mode belongs", "-p 22"),
    "CPU_WORKERS=u@192.0.2.1:/dev/vdb": ("'/dev/vdb'", "STORAGE_NODE"),
    "STORAGE_NODE=u@192.0.2.20": ("there is no device in 'u@192.0.2.20'", "USER@ADDRESS:/dev/NAME"),
    "STORAGE_NODE=u@192.0.2.20:": ("there is no device",),
    "STORAGE_NODE=u@192.0.2.20:vdb": ("'vdb' is not an absolute path", "write /dev/vdb"),
    "STORAGE_NODE=u@192.0.2.20:dev/vdb": ("'dev/vdb' is not an absolute path",),
    "STORAGE_NODE=u@192.0.2.20:22": ("'22' stands where the mode belongs",),
    "STORAGE_NODE=u@192.0.2.20:/data": ("'/data' is not a device below /dev",),
    "STORAGE_NODE=u@192.0.2.20:/dev/../etc/x": ("is not a device below /dev",),
    "STORAGE_NODE=u@192.0.2.20:/dev/": ("is not a device below /dev",),
    "STORAGE_NODE=u@192.0.2.20:/dev/vdb,/dev/vdc": ("is more than one", "STORAGE_VDEVS"),
    "STORAGE_NODE=u@192.0.2.20:/dev/vdb,u@192.0.2.21:/dev/vdb": ("is more than one", "one machine"),
    # Addresses
    "WORKER_NODES=u@10.0.0.300": ("'10.0.0.300' is not an IPv4 address",),
    "WORKER_NODES=u@10.0.0": ("'10.0.0' is not an IPv4 address",),
    "WORKER_NODES=u@10.0.0.010": ("'10.0.0.010' is not an IPv4 address", "leading zeros"),
    "WORKER_NODES=u@2001:db8::1": ("'2001:db8::1' is an IPv6 address without brackets", "write [2001:db8::1]"),
    "WORKER_NODES=u@2001:db8::1:exclusive": ("without brackets", "write [2001:db8::1]:exclusive"),
    "WORKER_NODES=u@[192.0.2.1]": ("'[192.0.2.1]' is not an IPv6 address",),
    "WORKER_NODES=u@[fe80::1%eth0]": ("one interface", "global"),
    "WORKER_NODES=u@[::1]": ("'::1' cannot be a machine",),
    "WORKER_NODES=u@gpu_1": ("'gpu_1' is neither an address nor a host name",),
    "WORKER_NODES=u@-x": ("'-x' is neither an address nor a host name",),
    "WORKER_NODES=u@a..b": ("is neither an address nor a host name",),
    "WORKER_NODES=u@" + "a" * 64: ("is neither an address nor a host name",),
    "WORKER_NODES=localhost": ("'localhost' cannot be a machine of the cluster",),
    "WORKER_NODES=u@127.0.0.1": ("'127.0.0.1' cannot be a machine of the cluster",),
    "WORKER_NODES=u@0.0.0.0": ("'0.0.0.0' cannot be a machine of the cluster",),
    "WORKER_NODES=u@224.0.0.1": ("'224.0.0.1' cannot be a machine of the cluster",),
    "WORKER_NODES=@192.0.2.1": ("no user in front of the @",),
    "WORKER_NODES=u@": ("there is no address",),
    "WORKER_NODES=:exclusive": ("there is no address",),
    "WORKER_NODES=-x@192.0.2.1": ("'-x' is not a user name",),
    "WORKER_NODES='a b@192.0.2.1'": ("there is a space in 'a b@192.0.2.1'",),
    "WORKER_NODES='u@192.0.2.1 u@192.0.2.2'": ("there is a space", "comma"),
    "WORKER_NODES=u@192.0.2.1,,u@192.0.2.2": ("nothing between two commas",),
    "WORKER_NODES=,u@192.0.2.1": ("nothing between two commas",),
    "WORKER_NODES=u@<ip>": ("'u@<ip>' is a placeholder",),
    "WORKER_NODES=user@ip": ("'user@ip' is a placeholder",),
    "WORKER_NODES=u@10.x.x.x:exclusive": ("'u@10.x.x.x:exclusive' is a placeholder",),
    "WORKER_NODES=u@192.0.2.1,...": ("'...' is a placeholder",),
    "WORKER_NODES=u@CHANGE_ME": ("'u@CHANGE_ME' is a placeholder",),
    "WORKER_NODES=u@your-worker": ("'u@your-worker' is a placeholder",),
    # One machine twice
    "WORKER_NODES=u@192.0.2.1,v@192.0.2.1:exclusive": ("'v@192.0.2.1:exclusive' is the same machine as 'u@192.0.2.1'",),
    "WORKER_NODES=u@[2001:db8::1],[2001:DB8:0::1]": ("is the same machine as 'u@[2001:db8::1]' in line 2",),
    "CPU_WORKERS=a.example,A.Example": ("'A.Example' is the same machine as 'a.example'",),
    "WORKER_NODES=ubuntu@192.0.2.10": ("is the same machine as MASTER_NODE 'ubuntu@192.0.2.10' in line 1", "one role"),
    "CPU_WORKERS=192.0.2.1\nWORKER_NODES=192.0.2.1": ("2: CPU_WORKERS", "WORKER_NODES '192.0.2.1' in line 3"),
    "STORAGE_NODE=192.0.2.10:/dev/vdb": ("is the same machine as MASTER_NODE", "one role"),
    # Ranges
    "POD_CIDR=192.0.2.0/24": ("2: POD_CIDR: '192.0.2.0/24' holds the address of 'ubuntu@192.0.2.10' in line 1",),
    "SERVICE_CIDR=192.0.0.0/16": ("2: SERVICE_CIDR: '192.0.0.0/16' holds the address of",),
    "CPU_WORKERS=u@10.244.0.9": ("2: CPU_WORKERS: the address of 'u@10.244.0.9' is in 10.244.0.0/16, the default",),
    "CPU_WORKERS=u@10.97.0.9,u@10.98.0.9": ("'u@10.97.0.9' and of 1 more is in 10.96.0.0/12, the default", "SERVICE"),
    "POD_CIDR=10.100.0.0/16": ("2: POD_CIDR: '10.100.0.0/16' overlaps SERVICE_CIDR 10.96.0.0/12 (the default)",),
    "SERVICE_CIDR=10.244.0.0/20": ("2: SERVICE_CIDR: '10.244.0.0/20' overlaps POD_CIDR 10.244.0.0/16 (the default)",),
    "POD_CIDR=10.1.0.0/16\nSERVICE_CIDR=10.1.2.0/24": (
        "3: SERVICE_CIDR: '10.1.2.0/24' overlaps POD_CIDR 10.1.0.0/16;",
    ),
    "POD_CIDR=10.244.0.0": ("'10.244.0.0' is not an address range",),
    "POD_CIDR=10.244.0.0/33": ("'10.244.0.0/33' is not an address range",),
    "POD_CIDR=10.244.0.0/255.255.0.0": ("is not an address range",),
    "POD_CIDR=10.244.0.1/16": ("'10.244.0.1/16' is not the beginning of a range", "write 10.244.0.0/16"),
    "POD_CIDR=10.244.0.0/16,fd00::/48": ("is more than one range",),
    "POD_CIDR=10.5.0.0/25": ("has room for 0 machines, as each takes a /24",),
    # Settings
    "K8S_MINOR=v1.36": ("'v1.36' is not a Kubernetes version", "write 1.36, without the v"),
    "K8S_MINOR=latest": ("'latest' is not a Kubernetes version", "such as 1.36"),
    "K8S_MINOR=1": ("'1' is not a Kubernetes version",),
    "INIT_FORCE_RESET=maybe": ("'maybe' is neither yes nor no", "write 1 or 0"),
    "HELM_SKIP_INSTALL=2": ("'2' is neither yes nor no",),
    "REBOOT_WAIT_TRIES=0": ("'0' is not a number of tries", "1 or more"),
    "REBOOT_WAIT_TRIES=5s": ("'5s' is not a number of tries",),
    "ZFS_ARC_MAX_MB=3GiB": ("'3GiB' is not a number of megabytes",),
    "NVIDIA_DRIVER='a b'": ("'a b' is not a driver package",),
    "LOCAL_REGISTRY=http://192.0.2.5:5000/v2": ("is more than an address and a port", "write 192.0.2.5:5000"),
    "LOCAL_REGISTRY=192.0.2.5:99999": ("a port that does not exist",),
    "LOCAL_REGISTRY_MIRROR=:5000": ("':5000' is not a registry",),
    "LOCAL_REGISTRY=<storage-ip>:5000": ("is a placeholder",),
    "STORAGE_POOL=mirror1": ("is not a name for a ZFS pool",),
    "STORAGE_CLASS=Fast": ("is not a name for a storage class",),
    "STORAGE_CSI_USER=0x": ("is not a name for an account",),
    "STORAGE_VDEVS='mirror sdb sdc'": ("'sdb' is neither a device below /dev nor a word of zpool",),
    "STORAGE_VDEVS=mirror": ("names no device",),
    "INGRESS_NS=a.b": ("is not a name for a namespace",),
    "LOCAL_PATH_VER=latest": ("is not a version of local-path-provisioner",),
    "HAMI_REPO=charts.example": ("is not the address of a chart repository",),
    # Connection
    "SSH_OPTS='-p x'": ("2: SSH_OPTS: 'x' is not a port",),
    "SSH_OPTS='-l op'": ("2: SSH_OPTS: the user 'op' is not that of 'ubuntu@192.0.2.10' in line 1",),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistake(text: str) -> None:
    found = mistakes(MASTER + text)
    assert len(found) == 1
    assert found[0].startswith(f"cluster-info:{1 + len(text.splitlines())}: ") or "is the same machine" in found[0]
    for piece in WRONG[text]:
        assert piece in found[0]


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        ("u@192.0.2.1,u@192.0.2.2", ("is more than one machine", "one control plane")),
        ("u@192.0.2.1:2222", ("'2222' stands where the mode belongs", "-p 2222")),
        ("u@192.0.2.1:exclusive", ("the control plane has no mode",)),
        ("u@192.0.2.1:/dev/vdb", ("'/dev/vdb'", "STORAGE_NODE")),
        ("<user>@<ip>", ("'<user>@<ip>' is a placeholder",)),
    ],
)
def test_mistake_of_the_control_plane(value: str, pieces: tuple[str, ...]) -> None:
    (found,) = mistakes(f"MASTER_NODE={value}")
    assert found.startswith("cluster-info:1: MASTER_NODE: ")
    assert all(piece in found for piece in pieces)


def test_a_misspelt_control_plane_is_not_also_missing() -> None:
    assert mistakes("MASTR_NODE=u@192.0.2.1") == [
        "cluster-info:1: MASTR_NODE: there is no such key; did you mean MASTER_NODE?"
    ]


GOOD: dict[str, dict[str, t.Any]] = {
    "K8S_MINOR=1.36": {"gshare_kubernetes_version": "1.36"},
    "K8S_MINOR=1.36.10": {"gshare_kubernetes_version": "1.36.10"},
    "INIT_FORCE_RESET=TRUE": {"gshare_init_force_reset": True},
    "INIT_FORCE_RESET=0": {"gshare_init_force_reset": False},
    "INIT_FORCE_RESET=": {},
    "REBOOT_WAIT_TRIES=007": {"gshare_reboot_wait_tries": 7},
    "POD_CIDR=fd00:10::/48": {"gshare_pod_cidr": "fd00:10::/48"},
    "NVIDIA_DRIVER=skip": {"gshare_nvidia_driver": "skip"},
    "NVIDIA_DRIVER=nvidia-driver-580-server=580.95.05-0ubuntu1": {
        "gshare_nvidia_driver": "nvidia-driver-580-server=580.95.05-0ubuntu1"
    },
    "STORAGE_VDEVS='raidz2  /dev/sdb\t/dev/sdc /dev/sdd'": {
        "gshare_storage_vdevs": "raidz2 /dev/sdb /dev/sdc /dev/sdd"
    },
}


@pytest.mark.parametrize("text", GOOD)
def test_settings_are_typed(text: str) -> None:
    assert parse(MASTER + text).variables == GOOD[text]


@pytest.mark.parametrize("host", ["static.1.2.clients.your-server.example", "todo.example", "x1.example", "1a.2b"])
def test_host_names_that_look_like_placeholders_are_taken(host: str) -> None:
    assert parse(f"MASTER_NODE=u@{host}").nodes[0].address == host


def test_more_machines_than_the_pod_range_has_room_for_is_a_warning() -> None:
    entries = ",".join(f"10.1.{number // 250}.{number % 250 + 1}" for number in range(300))
    cluster = parse(f"{MASTER}WORKER_NODES={entries}")
    assert [problem.sentence() for problem in cluster.warnings] == [
        "cluster-info: POD_CIDR: '10.244.0.0/16' (the default) has room for 256 machines, as each takes a /24 of it; "
        "set POD_CIDR to a larger range"
    ]
    assert parse(f"{MASTER}WORKER_NODES={entries}\nPOD_CIDR=10.128.0.0/9").warnings == ()


def test_entries_know_their_place() -> None:
    """What edits the file later cuts and pastes by these places."""
    text = (
        '\ufeff# c\r\nexport WORKER_NODES="u@192.0.2.1:exclusive,\r\n  192.0.2.2 , [2001:db8::1],"\r\n'
        "MASTER_NODE= 'm' # x\r\n"
    )
    cluster = parse(text)
    found = {node.entry.text: (node.entry.line, text[node.entry.start : node.entry.end]) for node in cluster.nodes}
    assert found == {
        "m": (4, "m"),
        "u@192.0.2.1:exclusive": (2, "u@192.0.2.1:exclusive"),
        "192.0.2.2": (3, "192.0.2.2"),
        "[2001:db8::1]": (3, "[2001:db8::1]"),
    }
    assert cluster.document.text == text
    assert cluster.assignments["WORKER_NODES"].line == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"A=1\r\nB=\xff\n", "cluster-info:2: the byte 0xff is not UTF-8; save the file as UTF-8"),
        (MASTER.encode("utf-16"), "cluster-info:1: the file is in UTF-16; save it as UTF-8"),
    ],
)
def test_files_that_are_not_utf8(data: bytes, sentence: str) -> None:
    with pytest.raises(ClusterInfoError) as caught:
        decode(data)
    assert str(caught.value) == sentence


# A cluster, in the ways in which it can be written.

octet = st.integers(0, 255)
addresses = st.one_of(
    st.builds("172.{}.{}.{}".format, st.integers(16, 31), octet, octet),
    st.builds("[2001:db8::{:x}]".format, st.integers(1, 65535)),
    st.from_regex(r"node-[a-z0-9]{1,5}(\.example)?", fullmatch=True),
)
users = st.one_of(st.none(), st.sampled_from(["ubuntu", "root", "op.erator", "a-b_c"]))
roles = st.sampled_from(["exclusive", "fractional", "", "cpu"])


@st.composite
def clusters(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, t.Any]]:
    """Give keys with their values, and the hosts that have to come out."""
    found = draw(st.lists(addresses, min_size=1, max_size=8, unique=True))
    lines: dict[str, list[str]] = {}
    hosts: dict[str, t.Any] = {}
    for number, address in enumerate(found):
        user, role = draw(users), draw(roles)
        login = f"{user}@{address}" if user else address
        key, group, mode = "WORKER_NODES", f"gpu_{role or 'fractional'}", f":{role}" if role else ""
        if number == 0:
            key, group, mode = "MASTER_NODE", "kube_control_plane", ""
        elif role == "cpu":
            key, group, mode = "CPU_WORKERS", "cpu_node", ""
        lines.setdefault(key, []).append(login + mode)
        hosts[address.strip("[]")] = {"group": group, **({"ansible_user": user} if user else {})}
    settings_ = draw(st.dictionaries(st.sampled_from(["K8S_MINOR", "INGRESS_NS"]), st.just("1.36")))
    settings_ = {key: value if key == "K8S_MINOR" else "web" for key, value in settings_.items()}
    return {key: ",".join(value) for key, value in lines.items()} | settings_, hosts


@st.composite
def written(draw: st.DrawFn, lines: dict[str, str]) -> str:
    """Write keys and values in one of the many ways that mean the same."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "\ufeff"]))
    for key in draw(st.permutations(list(lines))):
        value = lines[key]
        if "NODES" in key or "WORKERS" in key:
            value = draw(st.sampled_from([value, f"{value},", value.replace(",", " , ")]))
        quote = draw(st.sampled_from(["", '"', "'"]))
        value = f"{quote}{value}{quote}"
        if quote != "'" and draw(st.booleans()):
            value = value.replace(",", f",\\{newline}")
        before = draw(st.sampled_from(["", "# x=y", "#", " \t# A='b"]))
        lead = draw(st.sampled_from(["", "export ", " ", "\texport\t "]))
        equals = draw(st.sampled_from(["=", "= ", " = "]))
        after = draw(st.sampled_from(["", " ", '\t# it\'s a "comment"', " # $(x) `y`"]))
        text += f"{before}{newline}{lead}{key}{equals}{value}{after}{newline}"
    return text if draw(st.booleans()) else text.removesuffix(newline)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_however_a_cluster_is_written_it_is_the_same(data: st.DataObject) -> None:
    lines, hosts = data.draw(clusters())
    plain = summary(parse("".join(f"{key}={value}\n" for key, value in lines.items())))
    assert {name: plain["hosts"][name] for name in hosts} == hosts
    assert len(plain["hosts"]) == len(hosts)
    assert summary(parse(data.draw(written(lines)))) == plain | {"hosts": plain["hosts"]}


def check_only_our_error(data: bytes) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        cluster = parse(decode(data))
    except ClusterInfoError as error:
        problems = error.problems
    else:
        assert any(node.group == "kube_control_plane" for node in cluster.nodes)
        return
    assert problems
    assert all(problem.what and problem.remedy for problem in problems)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=120))
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    check_only_our_error(data)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_damaged_file_raises_nothing_else(data: st.DataObject) -> None:
    """Cut something out of a real file, or put something in."""
    topic = data.draw(st.sampled_from(["spec-with-options", "every-key", "many-mistakes"]))
    text = (FIXTURES / topic / "cluster-info").read_text()
    for _number in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.sampled_from([0, 0, 1, 5])))
        junk = data.draw(st.text(alphabet="=,:@/[]\"'\\$`#<> \t\r\n-0a.\u00a0\u20ac", max_size=3))
        text = text[:start] + junk + text[end:]
    check_only_our_error(text.encode())
