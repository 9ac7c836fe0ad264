#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_leftovers
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Take away what HAMi or NVIDIA's device plugin leaves when it is uninstalled
description:
  - HAMi leaves annotations on the nodes, the lease of its scheduler, and the certificate of its webhook. A scheduler
    or a monitor that reads the annotations later would believe in cards that nobody hands out.
  - NVIDIA's device plugin leaves the labels of GPU feature discovery.
  - The release itself has to be gone already, because it would write them again.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  kind:
    description: Whose leftovers.
    type: str
    choices: [hami, nvidia]
    required: true
  namespace:
    description: Where HAMi's scheduler was.
    type: str
    default: kube-system
  kubeconfig:
    description: The kubeconfig on the machine.
    type: path
    default: /etc/kubernetes/admin.conf
"""

EXAMPLES = r"""
- name: Take away what HAMi has left
  gshare.cluster.gpu_leftovers:
    kind: hami
"""

RETURN = r"""
removed:
  description: What was, or would be, taken away.
  returned: success
  type: list
  elements: str
  sample: [annotation hami.io/node-handshake of node gpu1]
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_sharing import leftovers
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect

Json = dict[str, t.Any]


def objects(kind: str, namespace: str) -> dict[str, str]:
    """Paths of objects that no release owns, by what they are."""
    if kind != "hami":
        return {}
    return {
        "lease hami-scheduler": f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/hami-scheduler",
        "secret hami-scheduler-tls": f"/api/v1/namespaces/{namespace}/secrets/hami-scheduler-tls",
    }


def there(api: KubeApi, path: str) -> bool:
    try:
        api.get(path)
    except ApiError as exc:
        if exc.status == 404:
            return False
        raise
    return True


def run(api: KubeApi, params: Json, check: bool) -> list[str]:
    removed = []
    for node in api.items("/api/v1/nodes"):
        name, change = node["metadata"]["name"], leftovers(node, params["kind"])
        for what, keys in change.items():
            removed += [f"{what[:-1]} {key} of node {name}" for key in keys]
        if change and not check:
            api.patch(f"/api/v1/nodes/{name}", {"metadata": change})
    for what, path in objects(params["kind"], params["namespace"]).items():
        if there(api, path):
            removed.append(what)
            if not check:
                api.delete(path)
    return removed


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "kind": {"type": "str", "choices": ["hami", "nvidia"], "required": True},
            "namespace": {"type": "str", "default": "kube-system"},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        },
        supports_check_mode=True,
    )
    try:
        removed = run(connect(module), module.params, module.check_mode)
    except ApiError as exc:
        module.fail_json(msg=f"What {module.params['kind']} has left cannot be taken away: {exc.message}")
    before = "".join(f"{line}\n" for line in removed)
    module.exit_json(changed=bool(removed), removed=removed, diff={"before": before, "after": ""})


if __name__ == "__main__":
    main()
