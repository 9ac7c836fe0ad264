#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_hosts
short_description: Tell containerd which addresses serve a registry's images
version_added: 0.1.0
author:
  - gshare.cluster contributors (@gshare)
description:
  - Writes a C(hosts.toml) for each registry into the directory that containerd's C(registry.config_path) names, and
    removes those that it wrote earlier and that are not asked for any more. What others wrote stays.
  - A file of ours begins with a comment that says so. Where a file of somebody else's has the place of one of ours, it
    is kept as a copy beside it that containerd does not read.
  - containerd reads these files at every pull, so nothing is restarted.
  - Names what stands in the directory without the effect that its owner expects.
  - Credentials go into the file itself, which only root can read then. They, and keys, are neither in the diff nor in
    a log.
  - The TOML work is done on the controller; the machine needs nothing but Python.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - Where containerd is not installed, or its configuration names no directory yet, check mode takes
        V(/etc/containerd/certs.d) for it.
options:
  registries:
    description: The registries that containerd is to know.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description:
          - The registry as images name it, such as V(docker.io) or V(192.0.2.40:5000).
          - V(_default) stands for every registry that has no entry of its own.
        type: str
        required: true
      plain_http:
        description: Whether the registry itself, which is asked after all endpoints, speaks plain HTTP.
        type: bool
        default: false
      endpoints:
        description:
          - What is asked for its images, in this order. Without any it is the registry itself.
          - The same one twice counts once, as the first.
        type: list
        elements: dict
        default: []
        suboptions:
          url:
            description:
              - Its address, with V(http://) or V(https://).
              - A path is used as it is, so it has to hold V(/v2), as V(https://harbor.example.net/v2/hub) does.
              - containerd 1.x cannot read an IPv6 address here.
            type: str
            required: true
          ca:
            description: Certificates, as PEM text, that prove the endpoint's own.
            type: str
          client_certificate:
            description: Certificate, as PEM text, that the endpoint asks for.
            type: str
          client_key:
            description: Private key of O(registries[].endpoints[].client_certificate), as PEM text.
            type: str
          username:
            description: Name of an account of the endpoint.
            type: str
          password:
            description: Its password or token.
            type: str
          capabilities:
            description: What containerd may ask it for.
            type: list
            elements: str
            choices: [pull, resolve, push]
            default: [pull, resolve]
  directory:
    description:
      - The directory in which containerd looks.
      - Without it, the one that the effective configuration of the daemon names. That has to be a single one, since
        containerd 2.1 and later ignore a list.
    type: path
  service:
    description: The systemd unit of containerd.
    type: str
    default: containerd
  _step:
    description: Private. What the action plugin of this name wants done on the machine.
    type: str
    choices: [read, apply]
    default: read
  _files:
    description: Private. What is written, as JSON.
    type: str
  _remove:
    description: Private. What is removed.
    type: list
    elements: str
    default: []
  _keep:
    description: Private. What is copied before it is written.
    type: list
    elements: str
    default: []
seealso:
  - module: gshare.cluster.containerd_config
"""

EXAMPLES = r"""
- name: Know the registry on the LAN, and ask its mirror for images of Docker Hub
  gshare.cluster.containerd_hosts:
    registries:
      - name: 192.0.2.40:5000
        plain_http: true
        endpoints:
          - url: http://192.0.2.40:5000
            capabilities: [pull, resolve, push]
      - name: docker.io
        endpoints:
          - url: http://192.0.2.40:5001

- name: Ask Harbor for images of quay.io
  gshare.cluster.containerd_hosts:
    registries:
      - name: quay.io
        endpoints:
          - url: https://harbor.example.net/v2/quay
            ca: "{{ lookup('ansible.builtin.file', 'harbor-ca.pem') }}"
            username: robot
            password: "{{ vault_harbor_password }}"
"""

RETURN = r"""
directory:
  description: The directory in which containerd looks.
  returned: when containerd is installed
  type: str
  sample: /etc/containerd/certs.d
written:
  description: Files that were, or would be, written.
  returned: when containerd is installed
  type: list
  elements: str
removed:
  description: Files that were, or would be, removed.
  returned: when containerd is installed
  type: list
  elements: str
backup_files:
  description: Copies of files of others that one of ours took the place of.
  returned: when there are some
  type: list
  elements: str
findings:
  description: What stands in the directory without the effect that its owner expects. The same are warnings.
  returned: when containerd is installed
  type: list
  elements: dict
  contains:
    name:
      description: The kind of finding.
      type: str
      sample: shadowed
    file:
      description: The file or directory.
      type: str
    line:
      description: The line; null where it is no line's fault.
      type: int
    message:
      description: One sentence with file, line and remedy.
      type: str
commands:
  description: The commands that were run on the machine.
  returned: always
  type: list
  elements: str
"""

import json
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _registry_tree
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_files import done
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node

SPEC: dict[str, t.Any] = {
    "registries": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "plain_http": {"type": "bool", "default": False},
            "endpoints": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "url": {"type": "str", "required": True},
                    "ca": {"type": "str"},
                    "client_certificate": {"type": "str"},
                    "client_key": {"type": "str", "no_log": True},
                    "username": {"type": "str"},
                    "password": {"type": "str", "no_log": True},
                    "capabilities": {
                        "type": "list",
                        "elements": "str",
                        "choices": ["pull", "resolve", "push"],
                        "default": ["pull", "resolve"],
                    },
                },
            },
        },
    },
    "directory": {"type": "path"},
    "service": {"type": "str", "default": "containerd"},
}
_PRIVATE: dict[str, t.Any] = {
    # Between the action plugin and this file only.
    "_step": {"type": "str", "choices": ["read", "apply"], "default": "read"},
    # One text, because the log of the machine would get a list with the passwords and keys in it. Without a default,
    # which would be hidden wherever else it stands.
    "_files": {"type": "str", "no_log": True},
    "_remove": {"type": "list", "elements": "str", "default": []},
    "_keep": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    module = AnsibleModule(argument_spec={**SPEC, **_PRIVATE}, supports_check_mode=True)
    directory = module.params["directory"]
    result: dict[str, t.Any] = {}
    if module.params["_step"] == "read":
        node = Node(module, "/etc/containerd/config.toml", module.params["service"])
        # The daemon says itself which file it reads.
        node.path = node.unit.config or node.path
        facts = node.facts()
        wanted = ("installed", "version", "dump", "dump_problem")
        result = {name: facts[name] for name in wanted if name in facts}
        result.update(tree=_registry_tree.read(directory), commands=done(node)["commands"])
    elif not module.check_mode:
        params = (json.loads(module.params["_files"] or "[]"), module.params["_remove"], module.params["_keep"])
        result = {"backup_files": _registry_tree.apply(module, directory, *params)}
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
