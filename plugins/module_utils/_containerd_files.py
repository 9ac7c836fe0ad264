# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""Puts files of containerd's configuration in place, and back."""

from __future__ import annotations

import glob
import hashlib
import os
import shlex
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import fingerprint
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import (
    Node,
    replace_file,
    unlink,
    write_file,
)
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_service import restart

# One name, so that what a killed run left behind is overwritten; no import pattern ends like this.
TEMPORARY = ".config.toml.new~"


def digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def temporary(node: Node) -> str:
    return os.path.join(os.path.dirname(node.path), TEMPORARY)


def validate(node: Node, candidate: str) -> tuple[str, str]:
    dump, problem = node.dump(candidate)
    if not problem and node.next_program:
        problem = node.dump(candidate, node.next_program)[1]
    folders = os.path.dirname(candidate), os.path.dirname(node.path)
    return dump, problem.replace(candidate, node.path).replace(*folders)


def _put(module: AnsibleModule, node: Node, content: bytes) -> None:
    """Write beside the file, let containerd read it, then rename: there is never half a file."""
    os.makedirs(os.path.dirname(node.path), mode=0o755, exist_ok=True)
    new = temporary(node)
    module.add_cleanup_file(new)
    write_file(new, content)
    problem = validate(node, new)[1]
    if problem:
        module.fail_json(msg=f"containerd refuses the new {node.path}, which was not changed: {problem}")
    module.atomic_move(new, node.path)


def replace(module: AnsibleModule, node: Node, content: bytes) -> str | None:
    backup = None
    if module.params["backup"] and os.path.exists(node.path):
        backup = module.backup_local(node.path)
    _put(module, node, content)
    return backup


def set_aside(module: AnsibleModule, node: Node, path: str) -> t.Callable[[], None]:
    """Keep a drop-in under a name that no import pattern matches; the answer puts it back."""
    aside = module.backup_local(path)
    unlink(path)

    def back() -> None:
        module.atomic_move(aside, path)

    return back


def enable(module: AnsibleModule, node: Node) -> None:
    code, out, err = node.run(["systemctl", "enable", node.service])
    if code:
        module.fail_json(msg=f"{node.service} cannot be made to start at boot: {(err or out).strip()}", **done(node))


def put_back(module: AnsibleModule, node: Node, old: bytes | None) -> None:
    if old is None:
        os.unlink(node.path)
    else:
        replace_file(module, temporary(node), node.path, old)


def roll_back(
    module: AnsibleModule,
    node: Node,
    undo: dict[str, t.Callable[[], None]],
    problem: str,
    result: dict[str, t.Any],
) -> t.NoReturn:
    """Put back what was replaced, and let containerd run with it again."""
    if not undo:
        backups = sorted(glob.glob(f"{glob.escape(node.path)}.*~"), key=os.path.getmtime)
        hint = f" The newest copy of an earlier file is {backups[-1]}." if backups else ""
        module.fail_json(msg=f"containerd does not come up with {node.path} as it is: {problem}.{hint}", **done(node))
    for back in undo.values():
        back()
    if result.get("backup_file"):
        unlink(result["backup_file"])
    dump = node.dump()[0]
    node.run(["systemctl", "reset-failed", node.service])
    again = restart(node, dump)
    if not again:
        node.write_record(fingerprint(dump))
    state = f"containerd does not run with that either ({again})" if again else "containerd runs with it again"
    new = " and ".join(undo)
    module.fail_json(
        msg=f"containerd did not come up with the new {new}, what was there is back and {state}: {problem}.",
        rolled_back=True,
        **done(node),
    )


def done(node: Node) -> dict[str, t.Any]:
    return {"commands": [shlex.join(command) for command in node.commands]}
