#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_hosts
short_description: Tell containerd where images of registries come from
version_added: 0.1.0
author:
  - gshare.cluster contributors (@gshare)
description:
  - Writes one folder with C(hosts.toml) for each registry, with the certificates that it names. containerd reads them at
    every pull, so nothing is restarted.
  - The folders are those below the one directory that containerd's effective C(registry.config_path) names.
  - What somebody else wrote stays, unless one of the registries has to stand there. Then the file is kept beside the new
    one under another name; a file to the same effect is left alone.
  - Folders that an earlier run wrote and that are not wished for any more go.
  - Traps in what is there are reported with file, line and remedy, such as a folder that containerd takes instead of the
    wished one.
  - The TOML work is done on the controller; the machine needs nothing but Python.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - Where containerd is not installed, or has no such directory yet, check mode reports a change without details.
options:
  registries:
    description: The registries.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The registry as it stands in the names of images, V(docker.io) or V(HOST:PORT).
        type: str
        required: true
      server:
        description:
          - The address that serves when no endpoint does.
          - If empty, that is V(https://registry-1.docker.io) for V(docker.io), and HTTPS for others.
        type: str
        default: ""
      endpoints:
        description: What is asked first, in this order.
        type: list
        elements: dict
        default: []
        suboptions:
          url:
            description: Its address with C(http://) or C(https://). A path has to hold C(/v2) and is taken as it is.
            type: str
            required: true
          capabilities:
            description: What it is asked for.
            type: list
            elements: str
            choices: [pull, resolve, push]
            default: [pull, resolve]
          ca:
            description: PEM text of the authority of its certificate.
            type: str
            default: ""
          client_certificate:
            description: PEM text of the certificate that containerd shows.
            type: str
            default: ""
          client_key:
            description: PEM text of its key.
            type: str
            default: ""
          username:
            description: The account there.
            type: str
            default: ""
          password:
            description: Its password.
            type: str
            default: ""
  path:
    description: containerd's configuration file.
    type: path
    default: /etc/containerd/config.toml
  service:
    description: The systemd unit of containerd.
    type: str
    default: containerd
  _step:
    description: Private. What the action plugin of this name wants done on the machine.
    type: str
    choices: [read, apply]
    default: read
  _directory:
    description: Private. The directory to read, or to write to.
    type: path
    default: /etc/containerd/certs.d
  _write:
    description: Private. The files to write, each with path, text and mode.
    type: list
    elements: dict
    default: []
  _remove:
    description: Private. The files to remove.
    type: list
    elements: str
    default: []
  _aside:
    description: Private. The files to keep under another name.
    type: list
    elements: str
    default: []
seealso:
  - module: gshare.cluster.containerd_config
"""

EXAMPLES = r"""
- name: Pull what Docker Hub has through a mirror
  gshare.cluster.containerd_hosts:
    registries:
      - name: docker.io
        endpoints:
          - url: http://192.0.2.40:5001
"""

RETURN = r"""
directory:
  description: Where containerd looks for registries.
  returned: when containerd is installed
  type: str
written:
  description: Files that were written, or would be.
  returned: when containerd is installed
  type: list
  elements: str
removed:
  description: Files that were removed, or would be.
  returned: when containerd is installed
  type: list
  elements: str
findings:
  description: Traps in what somebody else has set up, with name, file, line and message.
  returned: when containerd is installed
  type: list
  elements: dict
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node
from ansible_collections.gshare.cluster.plugins.module_utils._files import replace

ASIDE = ".before-gshare"
_LONGEST = 1 << 20
_ENDPOINT = {
    "url": {"type": "str", "required": True},
    "capabilities": {
        "type": "list",
        "elements": "str",
        "choices": ["pull", "resolve", "push"],
        "default": ["pull", "resolve"],
    },
    "ca": {"type": "str", "default": ""},
    "client_certificate": {"type": "str", "default": ""},
    "client_key": {"type": "str", "default": "", "no_log": True},
    "username": {"type": "str", "default": ""},
    "password": {"type": "str", "default": "", "no_log": True},
}
_REGISTRY = {
    "name": {"type": "str", "required": True},
    "server": {"type": "str", "default": ""},
    "endpoints": {"type": "list", "elements": "dict", "default": [], "options": _ENDPOINT},
}


def tree(directory: str) -> dict[str, str]:
    """The files of a directory's folders by their paths below it; of one that is no text, nothing but its name."""
    found = {}
    for folder in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        inside = os.path.join(directory, folder)
        if not os.path.isdir(inside):
            continue
        found[f"{folder}/"] = ""
        for name in sorted(os.listdir(inside)):
            path = os.path.join(inside, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace", newline="") as stream:
                    found[f"{folder}/{name}"] = stream.read(_LONGEST)
    return found


def apply(module: AnsibleModule, directory: str) -> None:
    for path in module.params["_aside"]:
        module.preserved_copy(os.path.join(directory, path), os.path.join(directory, path) + ASIDE)
    # What hosts.toml names is there before it.
    for file in sorted(module.params["_write"], key=lambda file: file["path"].endswith("/hosts.toml")):
        replace(module, os.path.join(directory, file["path"]), file["text"].encode(), int(file["mode"], 8))
    # And goes after it.
    for path in sorted(module.params["_remove"], key=lambda path: not path.endswith("/hosts.toml")):
        os.unlink(os.path.join(directory, path))
    for folder in {os.path.dirname(os.path.join(directory, path)) for path in module.params["_remove"]}:
        if not os.listdir(folder):
            os.rmdir(folder)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "registries": {"type": "list", "elements": "dict", "required": True, "options": _REGISTRY},
            "path": {"type": "path", "default": "/etc/containerd/config.toml"},
            "service": {"type": "str", "default": "containerd"},
            "_step": {"type": "str", "choices": ["read", "apply"], "default": "read"},
            "_directory": {"type": "path", "default": "/etc/containerd/certs.d"},
            "_write": {"type": "list", "elements": "dict", "default": [], "no_log": True},
            "_remove": {"type": "list", "elements": "str", "default": []},
            "_aside": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    directory: str = module.params["_directory"]
    if module.params["_step"] == "apply":
        apply(module, directory)
        module.exit_json(changed=True)
    node = Node(module, module.params["path"], module.params["service"])
    facts: dict[str, t.Any] = {"installed": bool(node.program)}
    if node.program:
        dump, problem = node.dump()
        facts.update(dump=dump, problem=problem, version=node.version() or "", tree=tree(directory))
    module.exit_json(changed=False, **facts)


if __name__ == "__main__":
    main()
