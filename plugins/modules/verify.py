#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: verify
short_description: Prove that a cluster works
version_added: 0.1.0
description:
  - Compares the cluster with the inventory, looks at the cluster's own pods, and runs a probe pod on every node.
    The probes try the cluster DNS, the pod network and a claim of the default storage class.
    On GPU workers pods ask the driver, ask for a part of a card, and for more than there is. The ingress and the
    registry are tried on every node.
  - All verdicts are returned, shown as a table, and written as JSON if asked.
    The task fails with one sentence if a check failed.
  - The probes live in a namespace of their own, which is removed at the end, also after an error.
    What a killed run left is removed by the next.
  - Runs on a control plane node, as a user who can read O(kubeconfig).
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    support: partial
    details:
      - In check mode nothing is created, so that only the API objects are checked.
      - Where there is no cluster yet, check mode says so and does not fail.
  diff_mode:
    support: N/A
    details:
      - There is no state that this module changes.
options:
  hosts:
    description:
      - The machines that should be nodes.
      - If not given, they are those of the group C(kube_cluster), with addresses, labels and taints as the filter
        P(gshare.cluster.node_labels#filter) makes them of the inventory.
    type: list
    elements: dict
    suboptions:
      host:
        description: Name in the inventory.
        type: str
        required: true
      address:
        description: IP address by which the node is known.
        type: str
        required: true
      labels:
        description: Labels that the node must have.
        type: dict
        default: {}
      taints:
        description: Taints that the node must have, each with C(key), C(effect) and perhaps C(value).
        type: list
        elements: dict
        default: []
      roles:
        description: What the machine is for, for the summary.
        type: list
        elements: str
        default: []
  only:
    description:
      - The machines of O(hosts), by their names in the inventory, that are looked at, as after they have joined.
      - Nothing is said of the others, and no probe runs there.
      - If empty, all.
    type: list
    elements: str
    default: []
  kubernetes_version:
    description:
      - Version that the API server and all kubelets must have, V(1.36) for any patch.
      - If empty, all kubelets must have the version of the API server.
    type: str
    default: ""
  pod_cidr:
    description: Range of the cluster's pods; two with a comma for dual stack.
    type: str
    default: ""
  namespaces:
    description: Namespaces whose pods must all be ready.
    type: list
    elements: str
    default: [kube-system, kube-flannel, local-path-storage]
  probe_image:
    description: Image of the probe pods. It has to have the programs of busybox.
    type: str
    default: docker.io/library/busybox:1.37.0
  gpu_sharing:
    description:
      - What shares the cards of GPU workers, HAMi or NVIDIA's device plugin.
      - GPU workers are the machines of O(hosts) with the label C(gpu=on). Where none is, nothing is said of GPUs.
    type: str
    choices: [hami, nvidia, none]
    default: none
  gpu_split:
    description:
      - How many pods share a card, except on machines with the label C(gshare.io/gpu-mode=exclusive), where it is one.
      - V(0) for what the device plugin announces.
    type: int
    default: 0
  gpu_probe_image:
    description: Image of the pods that try GPUs. It has to have the C library that the driver's programs need.
    type: str
    default: docker.io/library/debian:12-slim
  ingress:
    description: The ingress controller that the cluster has.
    type: str
    choices: [ingress-nginx, traefik, none]
    default: none
  ingress_namespace:
    description: Its namespace, whose pods must all be ready.
    type: str
    default: ingress-nginx
  ingress_port:
    description: Its NodePort for HTTP.
    type: int
    default: 30080
  registry:
    description:
      - The registry on the LAN. An image is pushed to it, pulled by every node and taken away again; an image of Docker
        Hub is pulled by every node, and the mirror asked whether it saw that.
      - With neither address nor mirror nothing is said of it.
    type: dict
    default: {}
    suboptions:
      address:
        description: V(HOST:PORT), as in the names of images.
        type: str
        default: ""
      mirror:
        description: V(HOST:PORT) of the mirror of Docker Hub.
        type: str
        default: ""
      tls:
        description: Whether they speak HTTPS.
        type: bool
        default: false
      ca:
        description: PEM text of the authority of their certificates; empty for those that the machine trusts.
        type: str
        default: ""
      username:
        description: Who may push.
        type: str
        default: ""
      password:
        description: The password of O(registry.username).
        type: str
        default: ""
      namespace:
        description: Namespace of those that the cluster serves.
        type: str
        default: gshare-registry
  timeout:
    description: Seconds to wait for roll-outs that are under way, and then for the probe pods to start.
    type: int
    default: 120
  kubeconfig:
    description: File with the access to the API.
    type: path
    default: /etc/kubernetes/admin.conf
  checks:
    description: More checks, each a JMESPath query over objects of the API.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the check.
        type: str
        required: true
      kind:
        description: Kind of the objects, for example V(Deployment).
        type: str
        required: true
      api_version:
        description: Group and version of the kind, needed where two groups have the same kind.
        type: str
      namespace:
        description: Look in this namespace only.
        type: str
      query:
        description:
          - JMESPath over an object with the list C(items), as C(kubectl get -o json) shows the objects.
          - It is evaluated on the controller.
        type: str
        required: true
      expect:
        description: What the query has to give.
        type: raw
        required: true
      remedy:
        description: What to do if it does not.
        type: str
        required: true
  json_path:
    description: File on the controller for the verdicts as JSON.
    type: str
    default: ""
  fail_in_check_mode:
    description: Whether a failed check fails the task in check mode too.
    type: bool
    default: true
requirements:
  - kubernetes on the control plane node
  - jmespath on the controller
"""

EXAMPLES = r"""
- name: Prove the cluster
  gshare.cluster.verify:
    kubernetes_version: "1.36"
    pod_cidr: 10.244.0.0/16
    checks:
      - name: web
        kind: Deployment
        namespace: shop
        query: "items[?metadata.name=='web'].status.readyReplicas | [0]"
        expect: 3
        remedy: See kubectl -n shop describe deployment web.
"""

RETURN = r"""
failed_checks:
  description: Names of the checks that failed. After a failure this and the message are all that is returned.
  returned: always
  type: list
  elements: str
  sample: []
checks:
  description: The verdicts.
  returned: when no check failed
  type: list
  elements: dict
  contains:
    name:
      description: Name of the check.
      type: str
      returned: always
    status:
      description: One of V(ok), V(warning), V(failed) and V(skipped).
      type: str
      returned: always
    detail:
      description: What was found.
      type: str
      returned: always
    remedy:
      description: What to do, empty if nothing is wrong.
      type: str
      returned: always
    problems:
      description: The single findings, of which RV(checks[].detail) is made.
      type: list
      elements: str
      returned: always
  sample:
    - name: nodes
      status: ok
      detail: 3 of 3 nodes are Ready
      remedy: ""
      problems: []
nodes:
  description: The nodes of the cluster, with name, host, address, roles, ready, version, runtime, os and gpu.
  returned: when no check failed
  type: list
  elements: dict
seconds:
  description: How long it took.
  returned: when no check failed
  type: float
"""

import contextlib
import os
import signal
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, import_error
from ansible_collections.gshare.cluster.plugins.module_utils._verify import evaluate, rows
from ansible_collections.gshare.cluster.plugins.module_utils._verify_arguments import ARGUMENTS, expectation
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_nodes import has_workers
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_run import GpuPart
from ansible_collections.gshare.cluster.plugins.module_utils._verify_ingress import IngressPart
from ansible_collections.gshare.cluster.plugins.module_utils._verify_look import look, settled
from ansible_collections.gshare.cluster.plugins.module_utils._verify_owner import alive, identity
from ansible_collections.gshare.cluster.plugins.module_utils._verify_registry import RegistryPart
from ansible_collections.gshare.cluster.plugins.module_utils._verify_run import Part, Prober, sweep
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Snapshot,
    skipped,
)


def parts(wanted: Expectation, params: dict[str, t.Any]) -> list[Part]:
    """What is tried beside DNS, pod network and storage."""
    found: list[Part] = []
    if has_workers(wanted):
        found.append(GpuPart(wanted, params["gpu_probe_image"]))
    if wanted.ingress != "none":
        found.append(IngressPart(wanted))
    if wanted.registry.get("address") or wanted.registry.get("mirror"):
        found.append(RegistryPart(wanted))
    return found


def user_objects(api: KubeApi, checks: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """For each of the user's checks the objects it asks for, or why there are none."""
    found: list[dict[str, t.Any]] = []
    for check in checks:
        try:
            found.append({"items": api.objects(check["kind"], check["api_version"], check["namespace"])})
        except ApiError as exc:
            found.append({"error": exc.message})
    return found


def stop(number: int, _frame: t.Any) -> None:
    """A lost connection or a kill ends the run by an exception, so that the probes are removed."""
    for other in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def prove(api: KubeApi, wanted: Expectation, params: dict[str, t.Any]) -> tuple[Snapshot, list[Check]]:
    """The cluster when it has settled, with what the probes see of it, or why they see nothing."""
    owner = identity(os.getpid())
    prober = Prober(api, params["probe_image"], params["timeout"], owner, parts(wanted, params), wanted.partial)
    with prober:
        first = look(api, wanted)
        if first.nodes:
            # The probes come up while the cluster settles. What cannot be made yet is made by `run`.
            with contextlib.suppress(ApiError):
                prober.start(first)
        snapshot = settled(api, wanted, params["timeout"], first)
        if not snapshot.nodes:
            snapshot.no_traffic = "there are no nodes to try DNS, pod network and storage on"
            return snapshot, []
        try:
            sweep(api, alive)
            snapshot.traffic = prober.run(snapshot)
        except ApiError as exc:
            snapshot.no_traffic = exc.message
            remedy = "See kubectl get events -A and the log of kube-apiserver."
            return snapshot, [Check("traffic", "failed", f"the probes could not be run: {exc.message}", remedy)]
    return snapshot, []


def run(module: AnsibleModule, api: KubeApi) -> dict[str, t.Any]:
    """The whole of it with a client that works."""
    wanted = expectation(module.params)
    failures: list[Check] = []
    if module.check_mode:
        snapshot = settled(api, wanted, 0, look(api, wanted))
        snapshot.no_traffic = "check mode creates nothing: DNS, pod network and storage were not tried"
    else:
        snapshot, failures = prove(api, wanted, module.params)
    checks = evaluate(snapshot, wanted) + failures
    objects = user_objects(api, module.params["checks"])
    return {"checks": [check.as_dict() for check in checks], "nodes": rows(snapshot, wanted), "objects": objects}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    start = time.monotonic()
    kubeconfig = module.params["kubeconfig"]
    missing = import_error()
    if module.check_mode and (missing or not os.path.exists(kubeconfig)):
        nothing = skipped("everything", "there is no cluster here yet, so that check mode has nothing to look at")
        module.exit_json(changed=False, checks=[nothing.as_dict()], nodes=[], objects=[], seconds=0.0)
    if not os.path.exists(kubeconfig):
        remedy = "build the cluster first with ansible-playbook gshare.cluster.up"
        module.fail_json(msg=f"There is no {kubeconfig} on this machine: {remedy}.")
    if missing:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=missing)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        result = run(module, KubeApi(kubeconfig))
    except ApiError as exc:
        module.fail_json(msg=f"The cluster cannot be looked at: {exc.message}")
    module.exit_json(changed=False, seconds=round(time.monotonic() - start, 1), **result)


if __name__ == "__main__":
    main()
