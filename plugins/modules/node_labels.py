#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_labels
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Set labels and taints of all nodes in one call
description:
  - Nodes are found by their InternalIP, never by a guessed name.
  - A machine that is no node is left out, P(gshare.cluster.verify#module) tells of it.
  - Only labels and taints that are wished for, or that are named as managed, are touched.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - kubernetes
options:
  nodes:
    description: The nodes.
    type: list
    elements: dict
    required: true
    suboptions:
      address:
        description: The InternalIP of the node.
        type: str
        required: true
      labels:
        description: Labels that the node is to have.
        type: dict
        default: {}
      taints:
        description: Taints that the node is to have.
        type: list
        elements: dict
        default: []
        suboptions:
          key:
            description: Key of the taint.
            type: str
            required: true
          value:
            description: Its value.
            type: str
            default: ''
          effect:
            description: Its effect.
            type: str
            choices: [NoSchedule, PreferNoSchedule, NoExecute]
            required: true
  managed_labels:
    description: Labels that are taken away from a node of the list that is not to have them.
    type: list
    elements: str
    default: []
  managed_taints:
    description: Keys of taints that are taken away from a node of the list that is not to have them.
    type: list
    elements: str
    default: []
  kubeconfig:
    description: The kubeconfig.
    type: path
    default: /etc/kubernetes/admin.conf
"""

EXAMPLES = r"""
- name: Label the nodes
  gshare.cluster.node_labels:
    nodes:
      - address: 192.0.2.11
        labels:
          gshare.io/node-type: cpu
"""

RETURN = r"""
nodes:
  description: Names of the nodes that changed, or would change.
  type: list
  elements: str
  returned: success
missing:
  description: Addresses that no node has.
  type: list
  elements: str
  returned: success
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _node_labels as rules
from ansible_collections.gshare.cluster.plugins.module_utils._kube_api import ApiError, KubeApi, connect


def plan(nodes: list[dict[str, t.Any]], params: dict[str, t.Any]) -> tuple[list[t.Any], list[str]]:
    """Changes by node, and addresses that the API does not know."""
    known = rules.by_address(nodes)
    missing = [wish["address"] for wish in params["nodes"] if wish["address"] not in known]
    managed = {key: params[key] for key in ("managed_labels", "managed_taints")}
    changes = []
    for wish in params["nodes"]:
        node = known.get(wish["address"])
        change = rules.patch(node, {**wish, **managed}) if node else {}
        if node and change:
            changes.append((node, change))
    return changes, missing


def argument_spec() -> dict[str, t.Any]:
    taint = {
        "key": {"type": "str", "required": True, "no_log": False},
        "value": {"type": "str", "default": ""},
        "effect": {"type": "str", "choices": ["NoSchedule", "PreferNoSchedule", "NoExecute"], "required": True},
    }
    node = {
        "address": {"type": "str", "required": True},
        "labels": {"type": "dict", "default": {}},
        "taints": {"type": "list", "elements": "dict", "default": [], "options": taint},
    }
    return {
        "nodes": {"type": "list", "elements": "dict", "required": True, "options": node},
        "managed_labels": {"type": "list", "elements": "str", "default": []},
        "managed_taints": {"type": "list", "elements": "str", "default": []},
        "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
    }


def run(module: AnsibleModule, api: KubeApi) -> dict[str, t.Any]:
    changes, missing = plan(api.items("/api/v1/nodes"), module.params)
    before: list[str] = []
    after: list[str] = []
    for node, change in changes:
        if not module.check_mode:
            # A merge patch replaces the list of taints as a whole, which is meant.
            api.patch(f"/api/v1/nodes/{node['metadata']['name']}", change)
        lines = rules.describe(node, change)
        before.extend(lines[0])
        after.extend(lines[1])
    return {
        "changed": bool(changes),
        "nodes": [node["metadata"]["name"] for node, _unused in changes],
        "missing": missing,
        "diff": {"before": "\n".join([*before, ""]), "after": "\n".join([*after, ""])},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=argument_spec(), supports_check_mode=True)
    try:
        result = run(module, connect(module))
    except ApiError as exc:
        module.fail_json(msg=f"The nodes cannot be labelled: {exc.message}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
