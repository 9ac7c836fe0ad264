# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manifests and files that roles make of their templates, with the defaults and with other settings."""

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest
import yaml
from ansible.template import trust_as_template

from ansible_collections.gshare.cluster.plugins.filter.registry_services import registry_services
from ansible_collections.gshare.cluster.plugins.module_utils._dpkg import Package
from ansible_collections.gshare.cluster.plugins.module_utils._install import met
from ansible_collections.gshare.cluster.tests.unit.roles.settings import templar

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"
FIXTURES = pathlib.Path(__file__).parent / "fixtures"


def rendered(role: str, template: str, **settings: t.Any) -> str:
    text = (ROLES / role / "templates" / template).read_text()
    return str(templar(role, **settings).template(trust_as_template(text))).rstrip("\n") + "\n"


def objects(text: str) -> dict[str, dict[str, t.Any]]:
    return {f"{entry['kind']}/{entry['metadata']['name']}": entry for entry in yaml.safe_load_all(text)}


@pytest.mark.parametrize(
    ("golden", "role", "template", "settings"),
    [
        ("flannel.golden", "flannel", "flannel.yml.j2", {}),
        (
            "flannel-all.golden",
            "flannel",
            "flannel.yml.j2",
            {
                "gshare_pod_cidr": "10.20.0.0/16",
                "flannel_backend": {"Type": "vxlan", "Port": 4789},
                "flannel_interface": "bond0",
                "flannel_extra_args": ["--v=2"],
                "flannel_image": "mirror.example.net/flannel",
                "flannel_version": "v0.28.4",
            },
        ),
        ("local_path.golden", "local_path", "local_path.yml.j2", {}),
        ("kubernetes.sources.golden", "kubeadm", "kubernetes.sources.j2", {}),
    ],
)
def test_golden(golden: str, role: str, template: str, settings: dict[str, t.Any]) -> None:
    assert rendered(role, template, **settings) == (FIXTURES / golden).read_text()


REGISTRY = {
    "__registry_served": registry_services(
        {"registry": "192.0.2.40:5000", "mirror": "192.0.2.40:5001", "pull_through": {"ghcr.io": 5002}},
        {"store": "192.0.2.40"},
    )
}
REGISTRY_ALL = {
    **REGISTRY,
    "registry_tls": True,
    "__registry_certificate": {"registry-tls": {"tls.crt": "certificate", "tls.key": "key"}},
    "registry_htpasswd_file": "users",
    "__registry_users": {"registry-users": {"htpasswd": "lab:hash"}},
    "registry_upstream_accounts": {"docker.io": {"username": "lab", "password": "secret"}},
    "registry_storage_class": "local-path",
    "registry_node_selector": {"gshare.io/role": "storage"},
    "registry_garbage_collection": "",
}


@pytest.mark.parametrize(("name", "settings"), [("registry", REGISTRY), ("registry-all", REGISTRY_ALL)])
def test_registries(name: str, settings: dict[str, t.Any]) -> None:
    assert rendered("registry", "registry.yml.j2", **settings) == (FIXTURES / f"{name}.golden").read_text()


def test_a_registry_serves_what_it_is_given() -> None:
    found = objects(rendered("registry", "registry.yml.j2", **REGISTRY_ALL))
    config = yaml.safe_load(found["ConfigMap/registry"]["data"]["config.yml"])
    mirror = yaml.safe_load(found["ConfigMap/mirror-docker-io"]["data"]["config.yml"])
    assert config["http"]["addr"] == ":5000"
    assert config["auth"]["htpasswd"]["path"] == "/etc/registry-users/htpasswd"
    # Nodes reach a mirror without an account.
    assert "auth" not in mirror
    assert mirror["proxy"] == {"remoteurl": "https://registry-1.docker.io", "ttl": "168h"}
    pod = found["Deployment/mirror-docker-io"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
    assert {"key": "gshare.io/role", "operator": "Equal", "value": "storage", "effect": "NoSchedule"} in pod[
        "tolerations"
    ]


def test_no_secret_of_a_registry_stands_where_everybody_reads_it() -> None:
    text = rendered("registry", "registry.yml.j2", **REGISTRY_ALL)
    assert not [word for word in ("secret\n", "lab:hash", "certificate\n", "password: ") if word in text]
    secrets = objects(rendered("registry", "secrets.yml.j2", **REGISTRY_ALL))
    assert secrets["Secret/mirror-docker-io"]["data"] == {"username": "bGFi", "password": "c2VjcmV0"}


def test_a_new_password_starts_a_registry_anew() -> None:
    def mark(password: str) -> str:
        accounts = {"docker.io": {"username": "lab", "password": password}}
        text = rendered("registry", "registry.yml.j2", **{**REGISTRY_ALL, "registry_upstream_accounts": accounts})
        template = objects(text)["Deployment/mirror-docker-io"]["spec"]["template"]
        return str(template["metadata"]["annotations"]["gshare.io/configuration"])

    assert mark("one") != mark("two")
    assert mark("one") == mark("one")


def test_case_97_flannel_is_told_its_interface_by_the_nodes_own_address() -> None:
    daemon_set = objects(rendered("flannel", "flannel.yml.j2"))["DaemonSet/kube-flannel-ds"]
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert "--iface=$(NODE_ADDRESS)" in container["args"]
    (variable,) = [entry for entry in container["env"] if entry["name"] == "NODE_ADDRESS"]
    assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "status.hostIP"}}


def test_case_95_flannel_gets_the_range_of_the_cluster() -> None:
    config = objects(rendered("flannel", "flannel.yml.j2", gshare_pod_cidr="10.20.0.0/16"))[
        "ConfigMap/kube-flannel-cfg"
    ]
    assert json.loads(config["data"]["net-conf.json"])["Network"] == "10.20.0.0/16"
    assert json.loads(config["data"]["cni-conf.json"])["name"] == "cbr0"


@pytest.mark.parametrize("offload", [True, False])
def test_case_96_checksums_are_kept_off_the_card_for_every_link_to_come(offload: bool) -> None:
    lines = rendered("flannel", "flannel.link.j2", flannel_checksum_offload=offload).splitlines()
    assert "OriginalName=flannel.*" in lines
    assert ("TransmitChecksumOffload=false" in lines) is not offload


@pytest.mark.parametrize(
    ("distribution", "origin"),
    [("debian", "Pin: origin developer.download.nvidia.com"), ("ubuntu", "Pin: release o=Ubuntu")],
)
@pytest.mark.parametrize(("pin", "pinned"), [("", False), ("580.126.20", True)])
def test_case_59_one_driver_comes_from_one_place(distribution: str, origin: str, pin: str, pinned: bool) -> None:
    choice = {"distribution": distribution, "pin": pin}
    text = rendered("nvidia_driver", "preferences.j2", __nvidia_driver_choice=choice)
    entries = [entry for entry in text.split("\n\n") if "Package:" in entry]
    assert len(entries) == 1 + pinned
    assert f"{origin}\nPin-Priority: 900" in entries[-1]
    assert ("Pin: version 580.126.20*\nPin-Priority: 1001" in text) is pinned
    assert all("libnvidia-*" in entry for entry in entries)


def test_case_16_the_nvidia_runtime_has_systemd_cgroups() -> None:
    settings = templar("nvidia_runtime").template(trust_as_template("{{ __nvidia_runtime_settings }}"))
    runtimes = settings["runtime"]["containerd"]["runtimes"]
    assert runtimes["nvidia"]["options"]["SystemdCgroup"] is True


def test_a_change_of_the_configuration_rolls_the_pods() -> None:
    def annotation(**settings: t.Any) -> str:
        daemon_set = objects(rendered("flannel", "flannel.yml.j2", **settings))["DaemonSet/kube-flannel-ds"]
        return str(daemon_set["spec"]["template"]["metadata"]["annotations"]["gshare.io/configuration"])

    assert annotation() != annotation(flannel_backend={"Type": "host-gw"})


def test_local_path_is_the_default_class_and_its_helper_is_pinned() -> None:
    found = objects(rendered("local_path", "local_path.yml.j2"))
    annotations = found["StorageClass/local-path"]["metadata"]["annotations"]
    assert annotations == {"storageclass.kubernetes.io/is-default-class": "true"}
    helper = yaml.safe_load(found["ConfigMap/local-path-config"]["data"]["helperPod.yaml"])
    assert helper["spec"]["containers"][0]["image"] == "docker.io/library/busybox:1.37.0"
    assert found["Namespace/local-path-storage"]["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "privileged"
    }


KUBELET = {"packages": dict.fromkeys(("kubelet", "kubeadm", "kubectl", "cri-tools", "kubernetes-cni"), "1.36.3-1.1")}
IN_CLUSTER = {**KUBELET, "kubelet_version": "1.36.3", "in_cluster": True}
FRESH: dict[str, t.Any] = {"packages": {}, "kubelet_version": "", "in_cluster": False}


@pytest.mark.parametrize(
    ("own", "control_plane", "wish", "pattern", "complete"),
    [
        (FRESH, FRESH, "1.36.5", "1.36.5-*", False),
        (FRESH, FRESH, "1.36", "1.36.*", False),
        # a new machine gets what the cluster runs, a running one keeps what it has
        (FRESH, IN_CLUSTER, "1.36", "1.36.3-*", False),
        (IN_CLUSTER, {**IN_CLUSTER, "kubelet_version": "1.36.4"}, "1.36", "1.36.3-*", True),
        (IN_CLUSTER, IN_CLUSTER, "1.36.3", "1.36.3-*", True),
        ({**IN_CLUSTER, "packages": {"kubelet": "1.36.3-1.1"}}, IN_CLUSTER, "1.36.3", "1.36.3-*", False),
        # installed, but in no cluster
        ({**IN_CLUSTER, "in_cluster": False}, FRESH, "1.36.5", "1.36.5-*", False),
        ({**IN_CLUSTER, "in_cluster": False}, FRESH, "1.36", "1.36.*", True),
    ],
)
def test_version_of_the_packages(
    own: dict[str, t.Any], control_plane: dict[str, t.Any], wish: str, pattern: str, complete: bool
) -> None:
    found = templar(
        "kubeadm",
        __kubeadm_state=own,
        hostvars={"192.0.2.10": {"__kubeadm_state": control_plane}},
        gshare_kubernetes_version=wish,
    )
    assert found.template(trust_as_template("{{ __kubeadm_pattern }}")) == pattern
    installed = {name: Package(version, held=True) for name, version in own["packages"].items()}
    wishes = found.template(trust_as_template("{{ __kubeadm_wishes }}"))
    assert all(met(wish, installed) for wish in wishes) is complete
    assert "/v1.36/deb/" in found.template(trust_as_template("{{ kubeadm_repository }}"))


@pytest.mark.parametrize("known", [True, False], ids=["in the run", "left out by --limit"])
def test_what_is_known_of_the_control_plane(known: bool) -> None:
    nodes = [{"name": "cp", "addresses": ["192.0.2.10"]}]
    there = {"__kubeadm_state": IN_CLUSTER, "__kubeadm_init": {"nodes": nodes}}
    asked = {"__kubeadm_left_out": IN_CLUSTER, "__kubeadm_cluster": {"nodes": nodes}}
    skipped = dict.fromkeys(asked, {"skipped": True})
    found = templar(
        "kubeadm",
        __kubeadm_state=FRESH,
        hostvars={"192.0.2.10": there if known else {}},
        gshare_kubernetes_version="1.36",
        **(skipped if known else asked),
    )
    assert found.template(trust_as_template("{{ __kubeadm_pattern }}")) == "1.36.3-*"
    assert found.template(trust_as_template("{{ __kubeadm_nodes }}")) == nodes
