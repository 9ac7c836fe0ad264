#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_config
short_description: Set values in containerd's configuration and bring them into force
version_added: 0.1.0
author:
  - gshare.cluster contributors (@gshare)
description:
  - Sets values of containerd's CRI plugins in its configuration file. The file is edited in place; comments, order,
    blank lines, quoting and line endings stay as they are. It is never written anew from options.
  - What counts is the effective configuration, which C(containerd config dump) prints with imports resolved. A value
    that is in force already is not written. A value that would not come into force is an error, and the file stays as
    it was.
  - The daemon's own program validates the new text before it replaces the old file. containerd is restarted only if the
    effective configuration of the running daemon differs from the wanted one. If it does not come up with a working CRI
    plugin, the old file is put back, containerd restarted, and the journal's last lines are in the error.
  - Whether a restart is needed is read from the machine, not remembered from this run, so a run that was killed between
    writing and restarting is repaired by the next one. A record in C(/run/gshare) holds a fingerprint of the effective
    configuration and the systemd invocation id of the daemon that started with it. Without a record for the running
    invocation, files that are older than the daemon's start are what it read; otherwise containerd is restarted.
  - Where C(/etc/environment) sets a proxy, containerd gets it from a systemd drop-in, because services do not read that
    file. C(NO_PROXY) is completed by O(no_proxy). Without a proxy there the drop-in is removed. containerd is restarted
    if the environment of the running daemon is not the one that the drop-in gives. A proxy that another file of the
    unit sets stays, and there is no drop-in then.
  - The service is started where it does not run, and at every boot.
  - The TOML work is done on the controller; the machine needs nothing but Python.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - The new text is validated by containerd in check mode too, on a copy in the temporary folder of the task.
      - Where containerd is not installed, check mode reports a change without details.
options:
  path:
    description: The configuration file. It must be the one that the service reads.
    type: path
    default: /etc/containerd/config.toml
  settings:
    description:
      - The wanted values, under the names of the newest schema. Schema 2, 3 and 4 are written as the file needs it.
      - The CRI plugin is taken out of C(disabled_plugins) in any case.
    type: dict
    default: {}
    suboptions:
      runtime:
        description:
          - What belongs to C(io.containerd.cri.v1.runtime).
          - V(cni.bin_dirs) is C(bin_dir) in schema 2.
        type: dict
        default: {}
      images:
        description:
          - What belongs to C(io.containerd.cri.v1.images).
          - V(pinned_images.sandbox) is C(sandbox_image) in schema 2.
        type: dict
        default: {}
  registry_directory:
    description:
      - The directory in which containerd is to look for the C(hosts.toml) of registries, if it does not look in a
        single directory already. An owner's own one stays; where C(registry.config_path) is empty, or a list of
        directories, of which containerd 2.1 and later read none, this one is set.
      - Without this option C(registry.config_path) is left as it is.
    type: path
  no_proxy:
    description:
      - Addresses, ranges, hosts and C(.domains) that containerd reaches without the proxy of C(/etc/environment). The
        port of V(HOST:PORT) is taken off.
      - What C(no_proxy) there has stays, and what it covers already is not added.
      - Without this option the proxy is left as it is.
    type: list
    elements: str
  backup:
    description: Keep a copy of the old file beside it, with a time in its name.
    type: bool
    default: true
  service:
    description: The systemd unit of containerd.
    type: str
    default: containerd
  timeout:
    description: Seconds to wait for a working CRI plugin after a restart.
    type: int
    default: 60
  absorb:
    description:
      - Names of imported drop-ins that other tools generate, such as V(99-nvidia.toml) of C(nvidia-ctk).
      - What such a file brings into force and the configuration file does not say goes into the configuration file, so
        that nothing of it is lost; where the configuration file says something itself, that counts. The drop-in is
        kept as a copy that nothing imports.
    type: list
    elements: str
    default: []
  never_default:
    description: Runtimes that must not be the default one. Where one of them is, V(runc) becomes it.
    type: list
    elements: str
    default: []
  keep_gpu_work:
    description:
      - Where containerd would have to be restarted and a pod or process uses a GPU of the machine, leave everything as
        it is and say so.
    type: bool
    default: false
  _step:
    description: Private. What the action plugin of this name wants done on the machine.
    type: str
    choices: [read, probe, use, apply]
    default: read
  _content:
    description: Private. The text that the action plugin has made.
    type: str
  _folders:
    description: Private. The directories whose entries are wanted.
    type: list
    elements: str
    default: []
  _drop_in:
    description: Private. The text of the drop-in, empty for none.
    type: str
  _absorbed:
    description: Private. The drop-ins that go away.
    type: list
    elements: str
    default: []
  _digest:
    description: Private. A hash of the text that the action plugin has read.
    type: str
    default: ""
seealso:
  - module: gshare.cluster.containerd_config_info
"""

EXAMPLES = r"""
- name: Use systemd's cgroups and a pause image of one's own
  gshare.cluster.containerd_config:
    settings:
      runtime:
        containerd:
          runtimes:
            runc:
              options:
                SystemdCgroup: true
      images:
        pinned_images:
          sandbox: registry.example.net/pause:3.10.2

- name: Have one directory for the hosts.toml of registries
  gshare.cluster.containerd_config:
    registry_directory: /etc/containerd/certs.d
  register: containerd_result

- name: Reach the machines and a registry without the proxy
  gshare.cluster.containerd_config:
    no_proxy:
      - 192.0.2.0/24
      - registry.example.net:5000
"""

RETURN = r"""
path:
  description: The configuration file.
  returned: always
  type: str
schema:
  description: The version of containerd's own schema.
  returned: when containerd is installed
  type: int
written:
  description: Whether the file is, or would be, changed.
  returned: success
  type: bool
registry_directory:
  description:
    - The single directory in which containerd looks, or would look, for the C(hosts.toml) of registries after this run.
    - Null where there is none, or a list of them.
  returned: success
  type: str
  sample: /etc/containerd/certs.d
proxy_written:
  description: Whether the drop-in with the proxy is, or would be, written or removed.
  returned: when containerd is installed
  type: bool
restarted:
  description: Whether containerd was, or would be, restarted.
  returned: success
  type: bool
reason:
  description: Why containerd is restarted or not.
  returned: when containerd is installed
  type: str
absorbed:
  description: Drop-ins that were, or would be, taken into the file.
  returned: when containerd is installed
  type: list
  elements: str
held_back:
  description: What was left undone, and why.
  returned: when O(keep_gpu_work=true) and that is so
  type: list
  elements: str
backup_file:
  description: The copy of the old file.
  returned: when a file was replaced and O(backup=true)
  type: str
commands:
  description: The commands that were run on the machine.
  returned: always
  type: list
  elements: str
"""

import os
import tempfile
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import fingerprint
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_drop_in import DropIn
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_files import (
    digest,
    done,
    enable,
    put_back,
    replace,
    roll_back,
    set_aside,
    temporary,
    validate,
)
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node, unlink, write_file
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_service import reload, restart
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_use import gpu_use
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host


def read(module: AnsibleModule, node: Node, drop_in: DropIn) -> dict[str, t.Any]:
    """First step: everything that the controller needs to decide."""
    facts = node.facts()
    if not facts["installed"]:
        return facts
    decision = node.decide(facts["dump"])
    if not module.check_mode:
        unlink(temporary(node))
        drop_in.clean()
        if decision.running is not None:
            node.write_record(decision.running)
    found = digest(node.content())
    verdict = {"restart": decision.restart, "reason": decision.reason}
    return {**facts, **verdict, "digest": found, "proxy": drop_in.facts()}


def probe(node: Node, content: str, folders: list[str]) -> dict[str, t.Any]:
    """Second step: what containerd makes of the new text. It lies in a mirror of the folder, for relative imports."""
    entries = {folder: sorted(os.listdir(folder)) for folder in folders if os.path.isdir(folder)}
    home, name = os.path.split(node.path)
    with tempfile.TemporaryDirectory(prefix="gshare-") as folder:
        for other in os.listdir(home) if os.path.isdir(home) else []:
            if other != name:
                os.symlink(os.path.join(home, other), os.path.join(folder, other))
        candidate = os.path.join(folder, name)
        write_file(candidate, content.encode("utf-8"))
        dump, problem = validate(node, candidate)
    if problem:
        return {"problem": problem}
    decision = node.decide(node.dump()[0], dump)
    verdict = {"restart": decision.restart, "reason": decision.reason}
    return {"problem": "", "dump": dump, "entries": entries, **verdict}


def apply(module: AnsibleModule, node: Node, drop_in: DropIn) -> dict[str, t.Any]:
    """Third step: replace the files that have a new text, restart if needed, go back if that fails.

    Whatever the moment of a kill: each file is the old or the new one. The record tells the next run which
    configuration the daemon started with, its environment tells which proxy.
    """
    content, proxy = module.params["_content"], module.params["_drop_in"]
    old, old_proxy = node.content(), drop_in.text()
    if digest(old) != module.params["_digest"]:
        module.fail_json(msg=f"{node.path} was changed by someone else during this task; nothing was done, run again.")
    result: dict[str, t.Any] = {}
    undo: dict[str, t.Callable[[], None]] = {}
    _prepare(module, node)
    if content is not None:
        result["backup_file"] = replace(module, node, content.encode("utf-8"))
        undo[node.path] = lambda: put_back(module, node, old)
    for path in module.params["_absorbed"]:
        # After the file, which has by now what the drop-in says: a run that is killed here loses nothing.
        undo[path] = set_aside(module, node, path)
    if proxy is not None and (proxy or None) != old_proxy:
        drop_in.put(proxy or None)
        undo[drop_in.path] = lambda: drop_in.put(old_proxy)
    dump = node.dump()[0]
    decision = node.decide(dump)
    result.update(restart=decision.restart, reason=decision.reason)
    if not decision.restart and drop_in.differs():
        result.update(restart=True, reason="the running daemon has another proxy")
    if result["restart"]:
        problem = restart(node, dump) or _without_proxy(drop_in)
        if problem:
            roll_back(module, node, undo, problem, result)
        node.write_record(fingerprint(dump))
    elif drop_in.path in undo:
        reload(node)
    return result


def _prepare(module: AnsibleModule, node: Node) -> None:
    if not node.unit.at_boot:
        enable(module, node)
    running = node.decide(node.dump()[0]).running
    if running is not None:
        node.write_record(running)


def _without_proxy(drop_in: DropIn) -> str:
    if not drop_in.differs():
        return ""
    return f"it has another proxy than {drop_in.path} gives (see systemctl cat {drop_in.unit})"


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": "/etc/containerd/config.toml"},
            "settings": {
                "type": "dict",
                "default": {},
                "options": {
                    "runtime": {"type": "dict", "default": {}},
                    "images": {"type": "dict", "default": {}},
                },
            },
            "registry_directory": {"type": "path"},
            "no_proxy": {"type": "list", "elements": "str"},
            "backup": {"type": "bool", "default": True},
            "service": {"type": "str", "default": "containerd"},
            "timeout": {"type": "int", "default": 60},
            "absorb": {"type": "list", "elements": "str", "default": []},
            "never_default": {"type": "list", "elements": "str", "default": []},
            "keep_gpu_work": {"type": "bool", "default": False},
            # Between the action plugin and this file only.
            "_step": {"type": "str", "choices": ["read", "probe", "use", "apply"], "default": "read"},
            "_content": {"type": "str"},
            "_folders": {"type": "list", "elements": "str", "default": []},
            # A proxy's address may hold a password, which must not get into the log of the machine.
            "_drop_in": {"type": "str", "no_log": True},
            "_absorbed": {"type": "list", "elements": "str", "default": []},
            "_digest": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    node = Node(module, module.params["path"], module.params["service"])
    drop_in = DropIn(node)
    if module.params["_step"] == "read":
        result = read(module, node, drop_in)
    elif module.params["_step"] == "probe":
        result = probe(node, module.params["_content"], module.params["_folders"])
    elif module.params["_step"] == "use":
        result = {"gpu_use": gpu_use(Host())}
    elif module.check_mode:
        result = {}
    else:
        result = apply(module, node, drop_in)
    module.exit_json(changed=False, **result, **done(node))


if __name__ == "__main__":
    main()
