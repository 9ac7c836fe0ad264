#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_config_info
short_description: Show containerd's effective CRI configuration and where each value comes from
version_added: 0.1.0
author:
  - gshare.cluster contributors (@gshare)
description:
  - Reads containerd's configuration file, the files that it imports, and what the daemon's own program makes of them.
  - Names settings that stand in a file but are not in force, and what keeps containerd from serving Kubernetes.
  - The TOML work is done on the controller; the machine needs nothing but Python.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  path:
    description: The configuration file.
    type: path
    default: /etc/containerd/config.toml
  service:
    description: The systemd unit of containerd.
    type: str
    default: containerd
seealso:
  - module: gshare.cluster.containerd_config
"""

EXAMPLES = r"""
- name: Look at containerd
  gshare.cluster.containerd_config_info:
  register: containerd_facts
"""

RETURN = r"""
installed:
  description: Whether there is a containerd on this machine.
  returned: always
  type: bool
version:
  description: The version of the daemon's program.
  returned: when containerd is installed
  type: str
  sample: 2.3.7
schema:
  description: The version of the configuration that this containerd writes itself.
  returned: when containerd is installed and reads its configuration
  type: int
  sample: 4
files:
  description: The configuration file, if it is there, and the files that it imports.
  returned: when containerd is installed
  type: list
  elements: str
problem:
  description: What containerd says if it cannot read its configuration, else empty.
  returned: when containerd is installed
  type: str
settings:
  description: Each effective CRI setting under the name of the newest schema. Secrets are shown as V(********).
  returned: when containerd is installed
  type: list
  elements: dict
  contains:
    setting:
      description: The name.
      type: str
      sample: runtime.containerd.runtimes.runc.options.SystemdCgroup
    value:
      description: The value in force.
      type: raw
    file:
      description: The file that sets it; null for containerd's default.
      type: str
    line:
      description: The line in that file.
      type: int
findings:
  description: What stands in the files without effect, and other traps.
  returned: when containerd is installed
  type: list
  elements: dict
  contains:
    name:
      description:
        - The kind of finding.
        - V(other_daemon) says that another containerd than that of O(service) answers the kubelet.
        - V(no_version), V(newer_drop_in) and V(generated) are about a whole file, V(not_imported) and
          V(missing_import) about imports, V(unknown_key) about the root, V(not_effective), V(shadowed) and
          V(unknown_setting) about single settings, V(registry_list), V(registry_mirrors) and V(registry_tls) about
          registries. V(cri_disabled) says that containerd does not serve Kubernetes at all.
      type: str
      sample: not_effective
    file:
      description: The file.
      type: str
    line:
      description: The line; null where it is about a whole file.
      type: int
    message:
      description: One sentence.
      type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": "/etc/containerd/config.toml"},
            "service": {"type": "str", "default": "containerd"},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **Node(module, module.params["path"], module.params["service"]).facts())


if __name__ == "__main__":
    main()
