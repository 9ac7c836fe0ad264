# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import pwd
import types
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset
from ansible_collections.gshare.cluster.plugins.modules import kubeadm_reset
from ansible_collections.gshare.cluster.tests.unit.plugins.machine_fakes import ADMIN, FIXTURES, Machine, make

LINKS = json.dumps([{"ifname": name} for name in ("lo", "eth0", "cni0", "flannel.1", "cni-podman0")])
MOUNT = "tmpfs /ROOT/var/lib/kubelet/pods/a/token tmpfs rw 0 0\n"


@pytest.fixture
def fake(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A worker with a cluster's traces, and with things of its owner beside each of them."""
    result = make(tmp_path, monkeypatch)
    result.worker()
    for name in ("10-flannel.conflist", "87-podman-bridge.conflist"):
        result.file(f"etc/cni/net.d/{name}")
    for name in ("etc/kubernetes/audit/mine.yaml", "opt/local-path-provisioner/pvc-1/data", "opt/cni/bin/bridge"):
        result.file(name)
    for name in ("opt/cni/bin/flannel", "run/flannel/subnet.env", "var/lib/cni/networks/cbr0/10.244.1.2"):
        result.file(name)
    result.file("var/lib/cni/networks/podman/10.88.0.2")
    for name in ("cbr0-abc-eth0", "podman-def-eth0"):
        result.file(f"var/lib/cni/results/{name}")
    result.file("home/op/.kube/config", ADMIN)
    monkeypatch.setattr(
        node_reset, "login_user", lambda name="": t.cast(pwd.struct_passwd, types.SimpleNamespace(pw_dir="/home/op"))
    )
    state = result.root / "links"
    state.write_text(LINKS)
    result.program(
        "ip",
        """case "$*" in
"-j link") cat "$ROOT/links";;
"link delete"*) echo '[{"ifname": "cni-podman0"}]' > "$ROOT/links";;
esac""",
    )
    saved = result.root / "saved"
    saved.write_text((FIXTURES / "node_cleanup" / "worker.save").read_text())
    result.program("iptables-nft-save", 'cat "$ROOT/saved"')
    result.program("iptables-nft-restore", 'cat > "$ROOT/script"; cat "$ROOT/left" > "$ROOT/saved"')
    (result.root / "left").write_text((FIXTURES / "node_cleanup" / "worker.left.golden").read_text())
    result.program("nft", 'case "$*" in "list tables") echo "table inet mine";; esac')
    result.program("dpkg-query", "exit 1")
    return result


KEPT = (
    "etc/cni/net.d/87-podman-bridge.conflist",
    "etc/kubernetes/audit/mine.yaml",
    "opt/local-path-provisioner/pvc-1/data",
    "opt/cni/bin/bridge",
    "var/lib/cni/networks/podman/10.88.0.2",
    "var/lib/cni/results/podman-def-eth0",
)
GONE = (
    "etc/cni/net.d/10-flannel.conflist",
    "etc/kubernetes/kubelet.conf",
    "etc/kubernetes/pki",
    "opt/cni/bin/flannel",
    "run/flannel",
    "var/lib/cni/networks/cbr0",
    "var/lib/cni/results/cbr0-abc-eth0",
    "var/lib/kubelet",
)


def test_case_62_what_kubeadm_leaves_goes_and_what_is_not_the_clusters_stays(fake: Machine, run_module: t.Any) -> None:
    predicted = run_module(kubeadm_reset.main, {}, check=True, diff=True)
    assert fake.runs("kubeadm") == []
    assert all(fake.has(name) for name in GONE)
    done = run_module(kubeadm_reset.main, {}, diff=True)
    assert [name for name in GONE if fake.has(name)] == []
    assert [name for name in KEPT if not fake.has(name)] == []
    assert done["removed"] == predicted["removed"]
    assert done["diff"] == predicted["diff"]
    assert "link cni0" in done["removed"]
    assert any(line.startswith("iptables-nft: ") for line in done["removed"])
    assert (fake.root / "script").read_text() == (FIXTURES / "node_cleanup" / "worker.script.golden").read_text()
    assert "ip link delete cni0" in fake.runs("ip")
    assert "ip link delete cni-podman0" not in fake.runs("ip")
    assert fake.runs("kubeadm") == ["kubeadm reset --force --cri-socket unix:///run/containerd/containerd.sock"]
    assert not run_module(kubeadm_reset.main, {})["changed"]


def test_a_clean_machine(fake: Machine, tmp_path: pathlib.Path, run_module: t.Any) -> None:
    fake.patch.setattr(
        "ansible_collections.gshare.cluster.plugins.module_utils._kubeadm_machine.ROOT", str(tmp_path / "x")
    )
    fake.program("ip", "echo '[]'")
    fake.program("iptables-nft-save")
    result = run_module(kubeadm_reset.main, {})
    assert not result["changed"]
    assert fake.runs("kubeadm") == []


def test_the_kubeconfig_of_this_cluster_goes_and_others_stay(fake: Machine, run_module: t.Any) -> None:
    fake.file("etc/kubernetes/admin.conf", ADMIN)
    fake.program("kubeadm", 'rm -f "$ROOT/etc/kubernetes/admin.conf"')
    assert "/home/op/.kube/config" in run_module(kubeadm_reset.main, {})["removed"]
    assert not fake.has("home/op/.kube/config")


@pytest.mark.parametrize("text", [ADMIN.replace("Q0E=", "T1RIRVI="), ADMIN + ADMIN])
def test_a_kubeconfig_with_other_clusters_stays(fake: Machine, run_module: t.Any, text: str) -> None:
    fake.file("etc/kubernetes/admin.conf", ADMIN)
    fake.file("home/op/.kube/config", text)
    run_module(kubeadm_reset.main, {})
    assert fake.has("home/op/.kube/config")


def test_a_volume_that_cannot_be_unmounted_is_never_reached_into(fake: Machine, run_module: t.Any) -> None:
    fake.file("proc/mounts", MOUNT.replace("/ROOT", str(fake.root)))
    fake.file("var/lib/kubelet/pods/a/token/data")
    fake.program("umount", "exit 32")
    result = run_module(kubeadm_reset.main, {})
    assert result["failed"]
    assert "fuser" in result["msg"]
    assert fake.has("var/lib/kubelet/pods/a/token/data")


def test_mounts_go_first(fake: Machine, run_module: t.Any) -> None:
    fake.file("proc/mounts", MOUNT.replace("/ROOT", str(fake.root)))
    fake.program("umount", ': > "$ROOT/proc/mounts"')
    result = run_module(kubeadm_reset.main, {})
    assert any(line.startswith("mount ") for line in result["removed"])
    assert not fake.has("var/lib/kubelet")


def test_a_kubeadm_that_fails_is_a_warning_and_the_rest_is_done(fake: Machine, run_module: t.Any) -> None:
    fake.program("kubeadm", 'echo "error: containerd is not there" >&2; exit 1')
    result = run_module(kubeadm_reset.main, {})
    assert result["changed"]
    assert "containerd is not there" in str(result["warnings"])
    assert not fake.has("etc/kubernetes/kubelet.conf")


def test_without_kubeadm_the_traces_go_too(fake: Machine, run_module: t.Any) -> None:
    fake.missing("kubeadm")
    fake.program("ctr", 'case "$*" in *"ls --quiet") echo flannel; echo proxy;; esac')
    assert run_module(kubeadm_reset.main, {})["changed"]
    # flannel would make its link anew.
    assert "ctr --namespace k8s.io tasks rm --force flannel" in fake.runs("ctr")
    assert "ctr --namespace k8s.io containers rm proxy" in fake.runs("ctr")
    assert "systemctl stop kubelet" in fake.runs("systemctl")
    assert not fake.has("var/lib/kubelet")


def test_what_stays_behind_is_an_error(fake: Machine, run_module: t.Any) -> None:
    fake.program("iptables-nft-restore", "exit 1")
    result = run_module(kubeadm_reset.main, {})
    assert result["failed"]
    assert "iptables-nft" in result["msg"]
