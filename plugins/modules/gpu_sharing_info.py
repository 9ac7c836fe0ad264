#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_sharing_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Who hands out the cards of a cluster, and whether all of them are handed out
description:
  - Tells which of HAMi and NVIDIA's device plugin are there, by their releases and by what they leave on nodes, and
    which have to go for the chosen one. Both claim C(nvidia.com/gpu).
  - Refuses a change under GPU pods that run, except on machines that may be disturbed, and a device plugin beside the
    chosen one that is of no release of ours.
  - With O(timeout) it waits until every GPU worker offers its cards, and with HAMi until its scheduler leads and knows
    them; if they do not, it says what is lacking.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
requirements:
  - kubernetes
options:
  kind:
    description: Who is to hand out the cards.
    type: str
    choices: [hami, nvidia, none]
    required: true
  workers:
    description: The GPU workers, as P(gshare.cluster.gpu_workers#filter) tells.
    type: list
    elements: dict
    required: true
    suboptions:
      host:
        description: Name in the inventory.
        type: str
        required: true
      address:
        description: The InternalIP of the node.
        type: str
        required: true
      labels:
        description: Labels that the node is to have.
        type: dict
        default: {}
      disrupt:
        description: Whether it may be disturbed although a GPU is in use there.
        type: bool
        default: false
  split:
    description: By how many pods a card is shared; V(0) for what the device plugin says.
    type: int
    default: 0
  timeout:
    description: Seconds to wait for the cards; V(0) does not wait and does not ask for them.
    type: int
    default: 0
  kubeconfig:
    description: The kubeconfig on the machine.
    type: path
    default: /etc/kubernetes/admin.conf
"""

EXAMPLES = r"""
- name: Wait until HAMi hands out all cards
  gshare.cluster.gpu_sharing_info:
    kind: hami
    workers: "{{ groups | gshare.cluster.gpu_workers(hostvars) }}"
    timeout: 300
"""

RETURN = r"""
remove:
  description: Which of V(hami) and V(nvidia) have to go first.
  returned: success
  type: list
  elements: str
nodes:
  description: The names of the nodes by the address of the machine.
  returned: success
  type: dict
  sample: {192.0.2.11: gpu1}
scheduler_tag:
  description: Tag of the kube-scheduler image that fits the cluster.
  returned: success
  type: str
  sample: v1.36.3
"""

import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_sharing as sharing
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_look import look_gpu, look_logs
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Expectation, Snapshot

PAUSE = 2.0
Json = dict[str, t.Any]
_WORKER = {
    "host": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "labels": {"type": "dict", "default": {}},
    "disrupt": {"type": "bool", "default": False},
}


def look(api: KubeApi, wanted: Expectation) -> Snapshot:
    snapshot = Snapshot(now=time.time())
    snapshot.nodes = api.items("/api/v1/nodes")
    snapshot.gpu = look_gpu(api, wanted)
    return snapshot


def found(api: KubeApi, snapshot: Snapshot) -> sharing.Found:
    secrets = api.items("/api/v1/secrets?labelSelector=owner%3Dhelm")
    return sharing.Found(
        releases=sorted({secret["metadata"].get("labels", {}).get("name", "") for secret in secrets}),
        daemonsets=api.items("/apis/apps/v1/daemonsets"),
        nodes=snapshot.nodes,
        pods=api.items("/api/v1/pods"),
    )


def wait(module: AnsibleModule, api: KubeApi, wanted: Expectation, snapshot: Snapshot) -> None:
    seconds = module.params["timeout"]
    deadline = time.monotonic() + seconds
    problems = sharing.lacking(snapshot, wanted)
    while problems and time.monotonic() < deadline:
        time.sleep(PAUSE)
        snapshot = look(api, wanted)
        problems = sharing.lacking(snapshot, wanted)
    if problems:
        look_logs(api, snapshot, wanted)
        told = " ".join(f"{problem.text}. {problem.remedy}" for problem in sharing.lacking(snapshot, wanted))
        module.fail_json(msg=f"The cards are not handed out after {seconds} seconds: {told}")


def run(module: AnsibleModule, api: KubeApi) -> Json:
    params: Json = module.params
    wanted = Expectation(hosts=tuple(params["workers"]), gpu_sharing=params["kind"], gpu_split=params["split"])
    snapshot, remove = look(api, wanted), []
    if not params["timeout"]:
        state = found(api, snapshot)
        refusals = sharing.refusals(state, params["kind"], params["workers"])
        if refusals:
            module.fail_json(msg=" ".join(refusals))
        remove = sharing.to_remove(state, params["kind"])
    elif not module.check_mode and params["kind"] != "none":
        wait(module, api, wanted, snapshot)
    return {
        "remove": remove,
        "nodes": sharing.names(snapshot.nodes, params["workers"]),
        "scheduler_tag": sharing.image_tag(api.get("/version").get("gitVersion", "")),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "kind": {"type": "str", "choices": ["hami", "nvidia", "none"], "required": True},
            "workers": {"type": "list", "elements": "dict", "options": _WORKER, "required": True},
            "split": {"type": "int", "default": 0},
            "timeout": {"type": "int", "default": 0},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        },
        supports_check_mode=True,
    )
    try:
        result = run(module, connect(module))
    except ApiError as exc:
        module.fail_json(msg=f"The cluster cannot be asked about its cards: {exc.message}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
