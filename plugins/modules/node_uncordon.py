#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_uncordon
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Put nodes back into service that a run of this collection had cordoned
description:
  - Of nodes that somebody else has cordoned it keeps away.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  by:
    description: Who had cordoned them, as the annotation C(gshare.io/cordoned-by) says.
    type: list
    elements: str
    required: true
  nodes:
    description: Names of the nodes; all if empty.
    type: list
    elements: str
    default: []
  kubeconfig:
    description: The kubeconfig.
    type: path
    default: /etc/kubernetes/admin.conf
seealso:
  - module: gshare.cluster.node_drain
"""

EXAMPLES = r"""
- name: Put back into service what a run that was killed had cordoned
  gshare.cluster.node_uncordon:
    by: [remove_node]
"""

RETURN = r"""
nodes:
  description: Names of the nodes that are, or would be, in service again.
  type: list
  elements: str
  returned: success
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _drain as drain
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect


def run(module: AnsibleModule, api: KubeApi) -> dict[str, t.Any]:
    params = module.params
    names = [
        node["metadata"]["name"]
        for node in api.items("/api/v1/nodes")
        if drain.cordoned_by(node) in params["by"]
        and (not params["nodes"] or node["metadata"]["name"] in params["nodes"])
    ]
    for name in [] if module.check_mode else names:
        api.patch(f"/api/v1/nodes/{name}", drain.uncordon())
    lines = {state: "".join(f"{name}: cordoned {state}\n" for name in names) for state in ("true", "false")}
    return {"changed": bool(names), "nodes": names, "diff": {"before": lines["true"], "after": lines["false"]}}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "by": {"type": "list", "elements": "str", "required": True},
            "nodes": {"type": "list", "elements": "str", "default": []},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
        },
        supports_check_mode=True,
    )
    try:
        result = run(module, connect(module))
    except ApiError as exc:
        module.fail_json(msg=f"Nodes cannot be put back into service: {exc.message}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
