#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_reset
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Take the cluster off this machine
description:
  - Runs C(kubeadm reset) and then removes what it leaves, namely the links C(cni0) and C(flannel.1), the rules and
    chains of kube-proxy, kubelet and flannel in iptables and nft, flannel's CNI configuration and binary, mounts below
    C(/var/lib/kubelet), keys, manifests, kubeconfigs, logs of pods and etcd's data.
  - Everything else stays, in particular other rules and other CNI configurations, containerd and its images, packages,
    and the data of local volumes in C(/opt/local-path-provisioner).
  - C(~/.kube/config) of the login user goes if it is for this cluster alone.
extends_documentation_fragment:
  - gshare.cluster._attributes
options:
  user:
    description: The login user. The default is the account that logged in.
    type: str
    default: ''
  timeout:
    description: Seconds that C(kubeadm reset) may take.
    type: int
    default: 180
"""

EXAMPLES = r"""
- name: Take the cluster off the machine
  gshare.cluster.kubeadm_reset:
"""

RETURN = r"""
removed:
  description: What was removed, or would be in check mode.
  type: list
  elements: str
  returned: success
commands:
  description: The commands that were run.
  type: list
  elements: str
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "user": {"type": "str", "default": ""},
            "timeout": {"type": "int", "default": 180},
        },
        supports_check_mode=True,
    )
    commands = machine.Commands(module)
    user = module.params["user"]
    if module.check_mode:
        removed = node_reset.find(commands, user).listed()
    else:
        with machine.only_one(module, module.params["timeout"]):
            removed, warnings = node_reset.reset(commands, user=user, timeout=module.params["timeout"])
        for text in warnings:
            module.warn(text)
    module.exit_json(
        changed=bool(removed),
        removed=removed,
        commands=commands.run,
        diff={"before": "".join(f"{name}\n" for name in removed), "after": ""},
    )


if __name__ == "__main__":
    main()
