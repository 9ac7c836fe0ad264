# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values that roles give to charts: Helm ignores a key that a chart does not know without a word.

Below tests/lab/charts/keys are the keys of the charts' own values files, with the type of their defaults; map and list
are open ended.
"""

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest
import yaml
from ansible.template import trust_as_template

from ansible_collections.gshare.cluster.plugins.filter import gpu_workers, hami_nodes
from ansible_collections.gshare.cluster.tests.unit.roles.settings import templar

ROOT = pathlib.Path(__file__).parents[3]
CHARTS = ROOT / "tests/lab/charts/keys"
GROUPS = {
    "kube_cluster": ["192.0.2.10", "gpu-1", "gpu-2"],
    "gpu_node": ["gpu-1", "gpu-2"],
    "gpu_exclusive": ["gpu-2"],
}
HOSTVARS = {
    "192.0.2.10": {},
    "gpu-1": {"gshare_node_ip": "192.0.2.11"},
    "gpu-2": {"gshare_node_ip": "192.0.2.12"},
}
CLUSTER = {"nodes": {"192.0.2.11": "gpu1", "192.0.2.12": "gpu2"}, "scheduler_tag": "v1.36.2"}
Json = dict[str, t.Any]


def keys(chart: str) -> dict[str, str]:
    return dict(line.split() for line in (CHARTS / f"{chart}.keys").read_text(encoding="utf-8").splitlines())


def unknown(values: t.Any, known: dict[str, str], path: str = "") -> list[str]:
    """Keys that the chart does not have, or that have a value of another kind there."""
    kind = known.get(path)
    if kind in ("map", "NoneType") or (kind == "list" and isinstance(values, list)):
        return []
    if kind is not None:
        fits = {"str": str, "int": (int, float), "bool": bool}[kind]
        return [] if isinstance(values, fits) and (kind == "bool" or not isinstance(values, bool)) else [path]
    if not isinstance(values, dict):
        return [path]
    return [bad for key, value in values.items() for bad in unknown(value, known, f"{path}.{key}" if path else key)]


def rendered(role: str, expression: str, **settings: t.Any) -> Json:
    engine = templar(role, groups=GROUPS, hostvars=HOSTVARS, **settings)
    for module in (gpu_workers, hami_nodes):
        for name, function in module.FilterModule().filters().items():
            engine._engine.environment.filters[f"gshare.cluster.{name}"] = function
    return t.cast(Json, engine.template(trust_as_template("{{ " + expression + " }}")))


def hami(**settings: t.Any) -> Json:
    return rendered("hami", "__hami_values", __hami_cluster=CLUSTER, **settings)


def nvidia(**settings: t.Any) -> Json:
    return rendered("nvidia_device_plugin", "__nvidia_device_plugin_values", **settings)


def ingress(kind: str, **settings: t.Any) -> Json:
    return rendered("ingress", f"__ingress_charts['{kind}']['values']", **settings)


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        ("hami-2.10.0", hami()),
        ("hami-2.10.0", hami(hami_node_settings={"gpu-1": {"operatingmode": "mig"}}, gshare_gpu_split="4")),
        ("nvidia-device-plugin-0.20", nvidia()),
        ("nvidia-device-plugin-0.20", nvidia(gshare_gpu_split=4)),
        ("ingress-nginx-4.15.1", ingress("ingress-nginx")),
        ("ingress-nginx-4.15.1", ingress("ingress-nginx", ingress_nginx_image_digest="")),
        ("traefik", ingress("traefik")),
    ],
)
def test_case_100_every_key_is_one_of_the_chart(chart: str, values: Json) -> None:
    assert unknown(values, keys(chart)) == []


def test_a_key_of_an_older_chart_would_be_found() -> None:
    values = {"scheduler": {"kubeScheduler": {"imageTag": "v1.36.2"}}}
    assert unknown(values, keys("hami-2.10.0")) == ["scheduler.kubeScheduler.imageTag"]
    assert unknown({"devicePlugin": {"deviceSplitCount": "10"}}, keys("hami-2.10.0")) == [
        "devicePlugin.deviceSplitCount"
    ]


def test_cases_101_and_102_the_schedulers_image_is_that_of_the_cluster() -> None:
    image = {"registry": "registry.k8s.io", "repository": "kube-scheduler", "tag": "v1.36.2"}
    assert hami()["scheduler"] == {"kubeScheduler": {"image": image}}
    old = {"image": "registry.k8s.io/kube-scheduler", "imageTag": "v1.36.2"}
    assert hami(hami_version="2.6.1")["scheduler"] == {"kubeScheduler": old}


def test_hami_runs_under_nvidias_runtime_on_our_nodes() -> None:
    plugin = hami(gshare_gpu_split=4, hami_memory_scaling=2)["devicePlugin"]
    assert plugin["runtimeClassName"] == "nvidia"
    assert plugin["createRuntimeClass"] is False
    assert plugin["nvidiaNodeSelector"] == {"gpu": "on"}
    assert (plugin["deviceSplitCount"], plugin["deviceMemoryScaling"], plugin["migStrategy"]) == (4, 2, "none")
    assert json.loads(plugin["nodeConfiguration"]["config"]) == {
        "nodeconfig": [{"name": "gpu2", "devicesplitcount": 1}]
    }


def test_values_of_the_user_win() -> None:
    values = hami(hami_values={"devicePlugin": {"deviceCoreScaling": 2, "migStrategy": "mixed"}})
    assert values["devicePlugin"]["deviceCoreScaling"] == 2
    assert values["devicePlugin"]["migStrategy"] == "mixed"
    assert values["devicePlugin"]["runtimeClassName"] == "nvidia"


def test_case_128_the_affinity_is_one_of_our_labels() -> None:
    (term,) = nvidia()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    (rule,) = term["matchExpressions"]
    labels = gpu_workers.gpu_workers(GROUPS, HOSTVARS)[0]["labels"]
    assert rule["operator"] == "In"
    assert labels[rule["key"]] in rule["values"]


@pytest.mark.parametrize(("sharing", "name"), [("time_slicing", "timeSlicing"), ("mps", "mps")])
def test_shared_cards_and_whole_ones(sharing: str, name: str) -> None:
    config = nvidia(gshare_gpu_split=4, nvidia_device_plugin_sharing=sharing)["config"]
    shared, exclusive = (yaml.safe_load(config["map"][key]) for key in ("shared", "exclusive"))
    assert config["default"] == "shared"
    assert shared["sharing"] == {name: {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
    assert exclusive == {"version": "v1", "flags": {"migStrategy": "none"}}


def test_without_a_split_there_is_one_configuration() -> None:
    values = nvidia(nvidia_device_plugin_mig_strategy="single")
    assert "config" not in values
    assert values["migStrategy"] == "single"


@pytest.mark.parametrize(("split", "label"), [(1, {}), (4, {"nvidia.com/device-plugin.config": "exclusive"})])
def test_exclusive_machines_are_told_by_a_label(split: int, label: Json) -> None:
    engine = templar("nvidia_device_plugin", groups=GROUPS, hostvars=HOSTVARS, gshare_gpu_split=split)
    engine._engine.environment.filters["gshare.cluster.gpu_workers"] = gpu_workers.gpu_workers
    text = (ROOT / "roles/nvidia_device_plugin/templates/nodes.yml.j2").read_text(encoding="utf-8")
    found = yaml.safe_load(str(engine.template(trust_as_template(text))))
    assert [(one["address"], one.get("labels", {})) for one in found] == [("192.0.2.11", {}), ("192.0.2.12", label)]


def test_both_ingress_controllers_have_the_same_ports() -> None:
    nginx = ingress("ingress-nginx")["controller"]["service"]
    assert nginx == {"type": "NodePort", "nodePorts": {"http": "30080", "https": "30443"}}
    traefik = ingress("traefik")
    assert {name: port["nodePort"] for name, port in traefik["ports"].items()} == {"web": 30080, "websecure": 30443}
    assert traefik["providers"]["kubernetesIngressNGINX"] == {"enabled": True}


def test_case_120_images_are_pinned() -> None:
    controller = ingress("ingress-nginx")["controller"]
    assert controller["image"]["digest"].startswith("sha256:")
    assert controller["admissionWebhooks"]["patch"]["image"]["digest"].startswith("sha256:")
