#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_delete
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Take a node out of a cluster
description:
  - Deletes the node. A node that is not there is no error.
  - A node that is not Ready gets the taint C(node.kubernetes.io/out-of-service) first, so that its pods and volumes
    can go elsewhere.
  - Looks afterwards whether the node comes back by itself, which a kubelet that still runs brings about.
  - The last control plane is refused.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  node:
    description: Name of the node.
    type: str
    required: true
  out_of_service:
    description: Whether its machine is known to be off, so that pods and volumes may be taken from it.
    type: bool
    default: false
  timeout:
    description: Seconds for pods and volumes to go from a machine that is off.
    type: int
    default: 120
  settle:
    description: Seconds for which the node must stay away.
    type: int
    default: 10
  kubeconfig:
    description: The kubeconfig.
    type: path
    default: /etc/kubernetes/admin.conf
seealso:
  - module: gshare.cluster.node_drain
"""

EXAMPLES = r"""
- name: Take the node out
  gshare.cluster.node_delete:
    node: gpu1
"""

RETURN = r"""
left:
  description: What of the node is still in the cluster, with what can be done, a sentence each.
  type: list
  elements: str
  returned: success
"""

import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain
from ansible_collections.gshare.cluster.plugins.module_utils import _node_left as left
from ansible_collections.gshare.cluster.plugins.module_utils._drain_run import pods_of
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import is_ready

Json = dict[str, t.Any]


def find(api: KubeApi, path: str) -> Json:
    """The node; empty if there is none."""
    try:
        return api.get(path)
    except ApiError as exc:
        if exc.status != 404:
            raise
        return {}


def free(module: AnsibleModule, api: KubeApi, path: str, node: Json) -> None:
    """Have the cluster take pods and volumes from a machine that is off."""
    api.patch(path, left.out_of_service(node))
    deadline = time.monotonic() + module.params["timeout"]
    name = module.params["node"]
    while time.monotonic() < deadline:
        going = drain.work(pods_of(api, name), [], node).pods
        if not going and not left.attachments(api.items("/apis/storage.k8s.io/v1/volumeattachments"), name):
            return
        time.sleep(2)


def stays_away(module: AnsibleModule, api: KubeApi, path: str) -> None:
    deadline = time.monotonic() + module.params["settle"]
    while time.monotonic() < deadline:
        if find(api, path):
            module.fail_json(
                msg=f"{module.params['node']} has registered again after it was deleted: its kubelet still runs. Stop "
                "it there (systemctl disable --now kubelet), then run again."
            )
        time.sleep(2)


def run(module: AnsibleModule, api: KubeApi) -> Json:
    params = module.params
    path = f"/api/v1/nodes/{params['node']}"
    node = find(api, path)
    if node and left.last_control_plane(api.items("/api/v1/nodes"), params["node"]):
        module.fail_json(
            msg=f"{params['node']} is the last control plane, and the cluster ends with it: see the playbook reset."
        )
    if node and params["out_of_service"] and is_ready(node):
        module.fail_json(
            msg=f"{params['node']} is Ready, so its machine is not off and its pods run: nothing was changed. See why "
            "it does not answer over SSH; if it was just switched off, wait a minute and run again."
        )
    if node and not module.check_mode:
        if params["out_of_service"]:
            free(module, api, path, node)
        # One of that name that was made in the meantime is another node.
        api.delete(path, preconditions={"uid": node["metadata"]["uid"]})
        stays_away(module, api, path)
    remains = left.remains(
        api.items("/apis/storage.k8s.io/v1/volumeattachments"), api.items("/api/v1/persistentvolumes"), params["node"]
    )
    return {
        "changed": bool(node),
        "left": remains,
        "diff": {"before": f"node {params['node']}\n" if node else "", "after": ""},
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "node": {"type": "str", "required": True},
            "out_of_service": {"type": "bool", "default": False},
            "timeout": {"type": "int", "default": 120},
            "settle": {"type": "int", "default": 10},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        },
        supports_check_mode=True,
    )
    try:
        result = run(module, connect(module))
    except ApiError as exc:
        module.fail_json(msg=f"{module.params['node']} cannot be taken out: {exc.message}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
