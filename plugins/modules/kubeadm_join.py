#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_join
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Join this machine to a cluster as a worker
description:
  - A machine that the API lists and that has a certificate of this cluster is left alone.
  - What a join that was cut off left behind, or an earlier cluster of the same control plane, is reset first. With it
    go the links C(cni0) and C(flannel.1), which would keep the pods on the old range.
  - A machine of another cluster, a control plane, and a host name that another machine has in the cluster are refused.
  - The token is handed to kubeadm in a file on tmpfs that only root can read and that is removed afterwards.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
    details:
      - What would be done is told in RV(action).
options:
  endpoint:
    description: Address and port of the API server.
    type: str
    required: true
  token:
    description: A bootstrap token. May be empty in check mode.
    type: str
    required: true
  ca_hash:
    description: The pin of the cluster's CA, C(sha256:...).
    type: str
    required: true
  address:
    description: The address of this machine in the cluster; kubelet gets it as its node address.
    type: str
    required: true
  nodes:
    description: The nodes that the API lists, as M(gshare.cluster.kubeadm_init) returns them.
    type: list
    elements: dict
    default: []
  ignore_preflight_errors:
    description: Names of preflight checks of kubeadm whose errors are taken as warnings.
    type: list
    elements: str
    default: []
  config:
    description: Settings by kind (V(JoinConfiguration)), merged into what this module writes.
    type: dict
    default: {}
  timeout:
    description: Seconds that C(kubeadm join) may take.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Join the cluster
  gshare.cluster.kubeadm_join:
    endpoint: 192.0.2.10:6443
    token: "{{ token.token }}"
    ca_hash: "{{ token.ca_hash }}"
    address: 192.0.2.11
"""

RETURN = r"""
action:
  description: What was done, or would be done in check mode; V(none), V(start), V(join), or V(reset) before a join.
  type: str
  returned: success
reason:
  description: Why.
  type: str
  returned: success
node_name:
  description: The name of this machine in the cluster.
  type: str
  returned: success
removed:
  description: What a reset took away.
  type: list
  elements: str
  returned: success
commands:
  description: The commands that were run.
  type: list
  elements: str
  returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_cleanup as cleanup
from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset


def stale_links(commands: machine.Commands) -> list[str]:
    """Links of an earlier cluster on a machine that is in none now."""
    _rc, out, _err = commands(["ip", "-j", "link"], change=False)
    return cleanup.links_to_delete(out)


def join(module: AnsibleModule, commands: machine.Commands) -> None:
    text = documents.to_text(documents.join_documents(module.params))
    with machine.secret_file(text, "join-") as name:
        rc, out, err = commands(["kubeadm", "join", "--config", name], timeout=module.params["timeout"])
    if rc:
        commands.fail(f"kubeadm join to {module.params['endpoint']} failed", out + err)


def act(module: AnsibleModule, commands: machine.Commands, action: str) -> list[str]:
    removed: list[str] = []
    if action == "start":
        rc, _unused, err = commands(["systemctl", "start", "kubelet"])
        if rc:
            commands.fail("kubelet does not start", err)
        return removed
    if action == "reset":
        removed, warnings = node_reset.reset(commands, user=None)
        for text in warnings:
            module.warn(text)
    links = stale_links(commands)
    node_reset.remove_links(commands, links)
    join(module, commands)
    return removed + [f"link {name}" for name in links]


def run(module: AnsibleModule) -> None:
    commands = machine.Commands(module)
    facts = machine.worker_facts(commands)
    action, reason = kubeadm.join_action(facts, module.params, module.params["nodes"])
    if action == "refuse":
        module.fail_json(msg=reason, commands=commands.run)
    removed: list[str] = []
    if action in ("join", "reset") and not module.check_mode:
        # kubeadm would try for minutes and then not say what to do.
        why = machine.unreachable(module.params["endpoint"])
        if why:
            text = kubeadm.not_reached(module.params["endpoint"], why)
            module.fail_json(msg=f"Nothing was changed, for {text}.", commands=commands.run)
    if action != "none" and not module.check_mode:
        removed = act(module, commands, action)
    module.exit_json(
        changed=action != "none",
        action=action,
        reason=reason,
        node_name=facts["node_name"],
        removed=removed,
        commands=commands.run,
    )


def argument_spec() -> dict[str, t.Any]:
    return {
        "endpoint": {"type": "str", "required": True},
        "token": {"type": "str", "required": True, "no_log": True},
        "ca_hash": {"type": "str", "required": True},
        "address": {"type": "str", "required": True},
        "nodes": {"type": "list", "elements": "dict", "default": []},
        "ignore_preflight_errors": {"type": "list", "elements": "str", "default": []},
        "config": {"type": "dict", "default": {}},
        "timeout": {"type": "int", "default": 300},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=argument_spec(), supports_check_mode=True)
    if module.check_mode:
        run(module)
    with machine.only_one(module, module.params["timeout"]):
        run(module)


if __name__ == "__main__":
    main()
