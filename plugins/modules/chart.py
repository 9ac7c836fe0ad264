#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: chart
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Have a release of a Helm chart with exactly these values
description:
  - Compares chart, version and values with what the cluster keeps of the release, and lets M(kubernetes.core.helm)
    install or upgrade it only where they differ, or where a workload of the release is gone. A release that is as
    wanted needs neither helm nor the address of the charts.
  - What a helm that was killed has left behind, a revision that stays pending, is removed first.
  - Runs on the machine that speaks to the API, with the Python package C(kubernetes) on its path.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  release:
    description: Name of the release.
    type: str
    required: true
  namespace:
    description: Its namespace, which is made where it is not there.
    type: str
    required: true
  state:
    description: Whether there is to be such a release.
    type: str
    choices: [present, absent]
    default: present
  chart:
    description: Name of the chart.
    type: str
    default: ''
  version:
    description: Version of the chart.
    type: str
    default: ''
  repository:
    description: Address of the charts.
    type: str
    default: ''
  values:
    description: All values that differ from the chart's own.
    type: dict
    default: {}
  holding:
    description: With O(state=absent) leave a release alone whose values do not hold these.
    type: dict
    default: {}
  node_ports:
    description: Ports of the nodes that the release needs. A Service that has one already is an error.
    type: list
    elements: int
    default: []
  replaces:
    description: Releases that give up their O(node_ports), as V(NAMESPACE/NAME).
    type: list
    elements: str
    default: []
  keep_gpu_work:
    description:
      - Where GPU pods run, leave a release that is there as it is and say so. Pods on machines of O(workers) that may
        be disturbed do not count.
    type: bool
    default: false
  workers:
    description: The GPU workers, as P(gshare.cluster.gpu_workers#filter) tells.
    type: list
    elements: dict
    default: []
  wait:
    description: Seconds to wait until all pods of the release are ready; V(0) does not wait.
    type: int
    default: 0
  notice:
    description: What the summary at the end of a run tells of this chart.
    type: str
    default: ""
  timeout:
    description: Seconds that helm itself may take, for the Jobs of the chart.
    type: int
    default: 300
  kubeconfig:
    description: The kubeconfig on the machine.
    type: path
    default: /etc/kubernetes/admin.conf
  _step:
    description: Private. What the action plugin of this name wants done on the machine.
    type: str
    choices: [look, clear, wait]
    default: look
seealso:
  - module: kubernetes.core.helm
"""

EXAMPLES = r"""
- name: Install an ingress controller
  gshare.cluster.chart:
    release: ingress-nginx
    namespace: ingress-nginx
    chart: ingress-nginx
    version: 4.15.1
    repository: https://kubernetes.github.io/ingress-nginx
    values:
      controller:
        service:
          type: NodePort
"""

RETURN = r"""
change:
  description: What is, or would be, done - V(nothing), V(install), V(upgrade), V(repair) or V(remove).
  returned: success
  type: str
reasons:
  description: Why.
  returned: success
  type: list
  elements: str
notice:
  description: O(notice).
  returned: when there is one
  type: str
held_back:
  description: What was left undone, and why.
  returned: when O(keep_gpu_work=true) and that is so
  type: list
  elements: str
"""

import os
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _chart as charts
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_pods import kept
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect
from ansible_collections.gshare.cluster.plugins.module_utils._verify_look import workloads
from ansible_collections.gshare.cluster.plugins.module_utils._verify_pods import pod_reason
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import is_ready

PAUSE = 1.0
Json = dict[str, t.Any]


def releases(api: KubeApi, params: Json) -> list[charts.Release]:
    query = f"labelSelector=owner%3Dhelm%2Cname%3D{params['release']}"
    found = api.items(f"/api/v1/namespaces/{params['namespace']}/secrets?{query}")
    return [charts.decode(secret) for secret in found]


def look(api: KubeApi, params: Json) -> Json:
    """What has to be done, why, and what stands against it."""
    found = releases(api, params)
    release = charts.newest(found)
    result: Json = {"pending": [one.secret for one in found if one.pending], "conflicts": [], "held_back": []}
    if params["state"] == "absent":
        there = release or next(iter(found), None)
        remove = there is not None and charts.holds(there.values, params["holding"])
        return {
            **result,
            "change": "remove" if remove else "nothing",
            "reasons": [],
            "before": _text(there),
            "after": "",
        }
    gone = charts.missing(release, workloads(api, params["namespace"]))
    change, reasons = charts.change(release, params, gone)
    if params["node_ports"] and change != "nothing":
        ours = [f"{params['namespace']}/{params['release']}", *params["replaces"]]
        result["conflicts"] = charts.port_owners(api.items("/api/v1/services"), params["node_ports"], ours)
    if params["keep_gpu_work"] and change == "upgrade":
        pods, nodes = api.items("/api/v1/pods"), api.items("/api/v1/nodes")
        result["held_back"] = kept(pods, nodes, params["workers"])
    wanted = charts.Release("", 0, "deployed", params["chart"], params["version"], params["values"])
    return {**result, "change": change, "reasons": reasons, "before": _text(release), "after": _text(wanted)}


def _text(release: charts.Release | None) -> str:
    if release is None:
        return ""
    lines = charts.differences({}, release.values)
    told = [line.replace(": null instead of ", " = ").replace(": {} instead of ", " = ") for line in lines]
    return "\n".join([f"chart {release.chart} {release.version} ({release.status})", *told, ""])


def helm_runs(release: str) -> bool:
    """Whether a helm of this machine works on the release."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as stream:
                words = stream.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if os.path.basename(words[0]) == "helm" and release in words:
            return True
    return False


def clear(api: KubeApi, params: Json) -> Json:
    """Let a helm that still runs end, then remove the revision that a killed one left."""
    deadline = time.monotonic() + params["timeout"]
    while helm_runs(params["release"]) and time.monotonic() < deadline:
        time.sleep(PAUSE)
    for one in releases(api, params):
        if one.pending:
            api.delete(f"/api/v1/namespaces/{params['namespace']}/secrets/{one.secret}")
    return {}


def lacking(api: KubeApi, params: Json) -> list[str]:
    """What of the release is not ready, a sentence each."""
    release = charts.newest(releases(api, params))
    names = {name for _kind, name in charts.workloads(release.manifest)} if release else set()
    found = []
    pods = api.items(f"/api/v1/namespaces/{params['namespace']}/pods")
    for item in workloads(api, params["namespace"]):
        if item["metadata"]["name"] not in names:
            continue
        found += _unready(item, [pod for pod in pods if _belongs(pod, item)])
    return found


def _belongs(pod: Json, item: Json) -> bool:
    wanted = (item["spec"].get("selector") or {}).get("matchLabels") or {}
    have = pod["metadata"].get("labels") or {}
    return all(have.get(key) == value for key, value in wanted.items())


def _unready(item: Json, pods: list[Json]) -> list[str]:
    status, full = item.get("status") or {}, f"{item['kind']} {item['metadata']['name']}"
    if status.get("observedGeneration", 0) < item["metadata"].get("generation", 0):
        return [f"{full} was not looked at yet"]
    if item["kind"] == "DaemonSet":
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        fresh = status.get("updatedNumberScheduled", 0)
    else:
        wanted, ready = item["spec"].get("replicas", 1), status.get("readyReplicas", 0)
        fresh = status.get("updatedReplicas", 0)
    if ready >= wanted and fresh >= wanted:
        return []
    reasons = [f"{pod['metadata']['name']}: {pod_reason(pod)[0]}" for pod in pods if not is_ready(pod)]
    return [
        f"{full} has {min(ready, fresh)} of {wanted} pods ready" + (f" ({'; '.join(reasons[:3])})" if reasons else "")
    ]


def wait(module: AnsibleModule, api: KubeApi) -> Json:
    params = module.params
    deadline = time.monotonic() + params["wait"]
    found = lacking(api, params)
    while found and time.monotonic() < deadline:
        time.sleep(PAUSE)
        found = lacking(api, params)
    if found:
        module.fail_json(
            msg=f"{params['release']} is not ready after {params['wait']} seconds: {'; '.join(found)}. "
            f"See kubectl -n {params['namespace']} get pods."
        )
    return {}


def argument_spec() -> Json:
    return {
        "release": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "chart": {"type": "str", "default": ""},
        "version": {"type": "str", "default": ""},
        "repository": {"type": "str", "default": ""},
        "values": {"type": "dict", "default": {}},
        "holding": {"type": "dict", "default": {}},
        "node_ports": {"type": "list", "elements": "int", "default": []},
        "replaces": {"type": "list", "elements": "str", "default": []},
        "keep_gpu_work": {"type": "bool", "default": False},
        "workers": {"type": "list", "elements": "dict", "default": []},
        "wait": {"type": "int", "default": 0},
        "timeout": {"type": "int", "default": 300},
        "notice": {"type": "str", "default": ""},
        "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        # Between the action plugin and this file only.
        "_step": {"type": "str", "choices": ["look", "clear", "wait"], "default": "look"},
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec=argument_spec(),
        required_if=[("state", "present", ["chart", "version", "repository"])],
        supports_check_mode=True,
    )
    result: Json = {}
    try:
        api = connect(module)
        if module.params["_step"] == "look":
            result = look(api, module.params)
        elif module.params["_step"] == "clear" and not module.check_mode:
            result = clear(api, module.params)
        elif module.params["_step"] == "wait" and not module.check_mode:
            result = wait(module, api)
    except ApiError as exc:
        module.fail_json(msg=f"The release {module.params['release']} cannot be looked at: {exc.message}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
