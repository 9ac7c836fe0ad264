#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_drain
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Cordon a node and send its pods elsewhere
description:
  - Looks first. What would be lost is told in one message, and nothing is changed.
  - Pods go by evictions, all together, so that disruption budgets are honoured. Pods of DaemonSets and static pods
    stay.
  - If they are not gone in time, the message names each with the budget or the reason that holds it, and the node is
    uncordoned again if this module had cordoned it.
  - Of a node that is not Ready no pod can be seen to end, so it is cordoned and nothing is waited for.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  node:
    description: Name of the node.
    type: str
    required: true
  by:
    description: Who does it, kept in the annotation C(gshare.io/cordoned-by) of the node.
    type: str
    default: remove_node
  timeout:
    description: Seconds that the pods have, all together.
    type: int
    default: 300
  force:
    description:
      - Whether pods go that nothing makes anew.
      - Pods that a budget still holds when the time is up are deleted then.
    type: bool
    default: false
  delete_local_data:
    description: Whether volumes that can be reached from this node alone may be given up.
    type: bool
    default: false
  keep_cordon:
    description: Whether the node stays cordoned if its pods do not go.
    type: bool
    default: false
  kubeconfig:
    description: The kubeconfig.
    type: path
    default: /etc/kubernetes/admin.conf
seealso:
  - module: gshare.cluster.node_uncordon
  - module: gshare.cluster.node_delete
"""

EXAMPLES = r"""
- name: Send the pods of a node elsewhere
  gshare.cluster.node_drain:
    node: gpu1
"""

RETURN = r"""
summary:
  description: What ran there, for people.
  type: list
  elements: str
  returned: success
pods:
  description: The pods that had to go.
  type: list
  elements: str
  returned: success
gpu_pods:
  description: Those of them with a GPU.
  type: list
  elements: str
  returned: success
claims:
  description: Claims whose data is on this node alone, with C(claim), C(volume), C(size), C(pods).
  type: list
  elements: dict
  returned: success
evicted:
  description: The pods that are gone.
  type: list
  elements: str
  returned: success
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain
from ansible_collections.gshare.cluster.plugins.module_utils._drain_run import Drain, pods_of
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import is_ready

Json = dict[str, t.Any]


def send_away(module: AnsibleModule, api: KubeApi, path: str, node: Json, found: drain.Work) -> list[str]:
    """Cordon and drain; what was evicted. A node that keeps its pods goes back into service."""
    params = module.params
    mine = not drain.cordoned(node) or drain.cordoned_by(node) == params["by"]
    if not drain.cordoned(node):
        api.patch(path, drain.cordon(params["by"]))
    if not is_ready(node):
        return []
    run = Drain(api, params["node"], found.pods)
    try:
        left = run.run(params["timeout"], params["force"])
    except ApiError as exc:
        left = [f"the API answered: {exc.message}"]
    if not left:
        return run.evicted
    state = "It stays cordoned."
    if mine and not params["keep_cordon"]:
        api.patch(path, drain.uncordon())
        state = "It is in service again."
    module.fail_json(
        msg=f"{params['node']} keeps pods after {params['timeout']} s: {'; '.join(left)}. {state} Nothing was removed; "
        "end what holds it and run again, or add -e force=true.",
        evicted=run.evicted,
        left=left,
    )
    raise AssertionError("unreachable")


def run(module: AnsibleModule, api: KubeApi) -> Json:
    params = module.params
    path = f"/api/v1/nodes/{params['node']}"
    node = api.get(path)
    found = drain.work(pods_of(api, params["node"]), api.items("/api/v1/persistentvolumes"), node)
    told = drain.objections(found, force=params["force"], delete_local_data=params["delete_local_data"])
    if told:
        module.fail_json(msg=f"{params['node']} is left as it is. {' '.join(told)}", summary=drain.summary(node, found))
    changed = not drain.cordoned(node) or bool(found.pods and is_ready(node))
    evicted = [] if module.check_mode else send_away(module, api, path, node, found)
    names = [drain.full_name(pod) for pod in found.pods]
    before = [f"{params['node']}: cordoned {str(drain.cordoned(node)).lower()}", *names]
    return {
        "changed": changed,
        "summary": drain.summary(node, found),
        "pods": names,
        "gpu_pods": found.gpu_pods,
        "claims": found.claims,
        "evicted": evicted,
        "diff": {"before": "\n".join([*before, ""]), "after": f"{params['node']}: cordoned true\n"},
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "node": {"type": "str", "required": True},
            "by": {"type": "str", "default": "remove_node"},
            "timeout": {"type": "int", "default": 300},
            "force": {"type": "bool", "default": False},
            "delete_local_data": {"type": "bool", "default": False},
            "keep_cordon": {"type": "bool", "default": False},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        },
        supports_check_mode=True,
    )
    try:
        result = run(module, connect(module))
    except ApiError as exc:
        module.fail_json(msg=f"{module.params['node']} cannot be drained: {exc.message}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
