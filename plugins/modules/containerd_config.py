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
  - The service is started where it does not run.
  - The TOML work is done on the controller; the machine needs nothing but Python.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    support: full
    details:
      - The new text is validated by containerd in check mode too, on a copy in the temporary folder of the task.
      - Where containerd is not installed, check mode reports a change without details.
  diff_mode:
    support: full
  idempotent:
    support: full
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
  _step:
    description: Private. What the action plugin of this name wants done on the machine.
    type: str
    choices: [read, probe, apply]
    default: read
  _content:
    description: Private. The text that the action plugin has made.
    type: str
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
restarted:
  description: Whether containerd was, or would be, restarted.
  returned: success
  type: bool
reason:
  description: Why containerd is restarted or not.
  returned: when containerd is installed
  type: str
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

import glob
import hashlib
import os
import shlex
import socket
import tempfile
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import (
    cri_ready,
    fingerprint,
    reasons,
    socket_of,
)
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node

# One name, so that what a killed run left behind is overwritten; no import pattern ends like this.
TEMPORARY = ".config.toml.new~"
PAUSE = 0.5


def read(module: AnsibleModule, node: Node) -> dict[str, t.Any]:
    """First step: everything that the controller needs to decide."""
    facts = node.facts()
    if not facts["installed"]:
        return facts
    decision = node.decide(facts["dump"])
    if not module.check_mode:
        _unlink(_temporary(node))
        if decision.running is not None:
            node.write_record(decision.running)
    digest = _digest(node.content())
    return {**facts, "digest": digest, "restart": decision.restart, "reason": decision.reason}


def probe(node: Node, content: str) -> dict[str, t.Any]:
    """Second step: what containerd makes of the new text. It lies in a mirror of the folder, for relative imports."""
    home, name = os.path.split(node.path)
    with tempfile.TemporaryDirectory(prefix="gshare-") as folder:
        for other in os.listdir(home) if os.path.isdir(home) else []:
            if other != name:
                os.symlink(os.path.join(home, other), os.path.join(folder, other))
        candidate = os.path.join(folder, name)
        _write(candidate, content.encode("utf-8"))
        dump, problem = _validate(node, candidate)
    if problem:
        return {"problem": problem}
    decision = node.decide(node.dump()[0], dump)
    return {"problem": "", "dump": dump, "restart": decision.restart, "reason": decision.reason}


def apply(module: AnsibleModule, node: Node, content: str | None, digest: str) -> dict[str, t.Any]:
    """Third step: replace the file if there is a new text, restart if needed, go back if that fails.

    Whatever the moment of a kill: the file is the old or the new one, and the record tells the next run what the
    daemon started with.
    """
    old = node.content()
    if _digest(old) != digest:
        module.fail_json(msg=f"{node.path} was changed by someone else during this task; nothing was done, run again.")
    result: dict[str, t.Any] = {}
    running = node.decide(node.dump()[0]).running
    if running is not None:
        node.write_record(running)
    if content is not None:
        result["backup_file"] = _replace(module, node, content.encode("utf-8"))
    dump = node.dump()[0]
    decision = node.decide(dump)
    result.update(restart=decision.restart, reason=decision.reason)
    if decision.restart:
        problem = _restart(module, node, dump)
        if problem:
            _roll_back(module, node, (old,) if content is not None else (), problem, result)
        node.write_record(fingerprint(dump))
    return result


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _temporary(node: Node) -> str:
    return os.path.join(os.path.dirname(node.path), TEMPORARY)


def _unlink(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _write(path: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o644), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _validate(node: Node, candidate: str) -> tuple[str, str]:
    dump, problem = node.dump(candidate)
    if not problem and node.next_program:
        problem = node.dump(candidate, node.next_program)[1]
    return dump, problem.replace(candidate, node.path)


def _put(module: AnsibleModule, node: Node, content: bytes) -> None:
    """Write beside the file, let containerd read it, then rename: there is never half a file."""
    os.makedirs(os.path.dirname(node.path), mode=0o755, exist_ok=True)
    temporary = _temporary(node)
    module.add_cleanup_file(temporary)
    _write(temporary, content)
    problem = _validate(node, temporary)[1]
    if problem:
        module.fail_json(msg=f"containerd refuses the new {node.path}, which was not changed: {problem}")
    module.atomic_move(temporary, node.path)


def _replace(module: AnsibleModule, node: Node, content: bytes) -> str | None:
    backup = None
    if module.params["backup"] and os.path.exists(node.path):
        backup = module.backup_local(node.path)
    _put(module, node, content)
    return backup


def _restart(module: AnsibleModule, node: Node, dump: str) -> str:
    """Restart and wait until the CRI works. The answer is what went wrong."""
    begin = int(time.time())
    code, out, err = node.run(["systemctl", "restart", node.service])
    problem = (err or out).strip() or f"systemctl restart ended with {code}" if code else _wait(module, node, dump)
    return f"{problem}: {_journal(node, begin)}" if problem else ""


def _wait(module: AnsibleModule, node: Node, dump: str) -> str:
    deadline = time.monotonic() + module.params["timeout"]
    while True:
        node.refresh()
        final, problem = _answer(module, node, socket_of(dump))
        if not problem or final:
            return problem
        if time.monotonic() > deadline:
            return f"after {module.params['timeout']} seconds {problem}"
        time.sleep(PAUSE)


def _answer(module: AnsibleModule, node: Node, address: str) -> tuple[bool, str]:
    """Whether this answer is final, and what is wrong."""
    if not node.unit.active:
        return node.unit.state == "failed", f"the service is {node.unit.state}"
    client = module.get_bin_path("ctr")
    if client:
        code, out, err = node.run([client, "--address", address, "plugins", "ls"])
        if code:
            return False, (err or out).strip()
        ready, detail = cri_ready(out)
        return True, "" if ready else detail
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(address)
    except OSError as exc:
        return False, f"{address} does not answer ({exc})"
    return True, ""


def _journal(node: Node, begin: int) -> str:
    command = ["journalctl", f"--unit={node.service}", f"--since=@{begin}", "--no-pager", "--output=cat"]
    return reasons(node.run(command)[1])


def _roll_back(
    module: AnsibleModule, node: Node, old: tuple[bytes | None, ...], problem: str, result: dict[str, t.Any]
) -> t.NoReturn:
    """Put the old file back if it was replaced, and let containerd run with it again."""
    if not old:
        backups = sorted(glob.glob(f"{glob.escape(node.path)}.*~"), key=os.path.getmtime)
        hint = f" The newest copy of an earlier file is {backups[-1]}." if backups else ""
        module.fail_json(msg=f"containerd does not come up with {node.path} as it is: {problem}.{hint}", **_done(node))
    if old[0] is None:
        os.unlink(node.path)
    else:
        _write(_temporary(node), old[0])
        module.atomic_move(_temporary(node), node.path)
    if result.get("backup_file"):
        _unlink(result["backup_file"])
    dump = node.dump()[0]
    node.run(["systemctl", "reset-failed", node.service])
    again = _restart(module, node, dump)
    if not again:
        node.write_record(fingerprint(dump))
    state = f"containerd does not run with that either ({again})" if again else "containerd runs with it again"
    module.fail_json(
        msg=f"containerd did not come up with the new {node.path}, the old file is back and {state}: {problem}.",
        rolled_back=True,
        **_done(node),
    )


def _done(node: Node) -> dict[str, t.Any]:
    return {"commands": [shlex.join(command) for command in node.commands]}


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
            "backup": {"type": "bool", "default": True},
            "service": {"type": "str", "default": "containerd"},
            "timeout": {"type": "int", "default": 60},
            # Between the action plugin and this file only.
            "_step": {"type": "str", "choices": ["read", "probe", "apply"], "default": "read"},
            "_content": {"type": "str"},
            "_digest": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    node = Node(module, module.params["path"], module.params["service"])
    content = module.params["_content"]
    if module.params["_step"] == "read":
        result = read(module, node)
    elif module.params["_step"] == "probe":
        result = probe(node, content)
    elif module.check_mode:
        result = {}
    else:
        result = apply(module, node, content, module.params["_digest"])
    module.exit_json(changed=False, **result, **_done(node))


if __name__ == "__main__":
    main()
