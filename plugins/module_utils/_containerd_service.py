# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""Restarts containerd and waits until it serves Kubernetes."""

from __future__ import annotations

import socket
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import cri_ready, reasons, socket_of
from ansible_collections.gshare.cluster.plugins.module_utils._containerd_node import Node

PAUSE = 0.5


def reload(node: Node) -> None:
    """Let systemd read its files."""
    code, out, err = node.run(["systemctl", "daemon-reload"])
    if code:
        node.module.fail_json(msg=f"systemd does not read its files: {(err or out).strip()}")


def restart(node: Node, dump: str) -> str:
    """Restart and wait until the CRI works. The answer is what went wrong."""
    begin = int(time.time())
    reload(node)  # always: a run that was killed may have left files that systemd has not read
    code, out, err = node.run(["systemctl", "restart", node.service])
    problem = (err or out).strip() or f"systemctl restart ended with {code}" if code else wait(node, dump)
    return f"{problem}: {_journal(node, begin)}" if problem else ""


def wait(node: Node, dump: str) -> str:
    seconds = node.module.params["timeout"]
    deadline = time.monotonic() + seconds
    while True:
        node.refresh()
        final, problem = _answer(node.module, node, socket_of(dump))
        if not problem or final:
            return problem
        if time.monotonic() > deadline:
            return f"after {seconds} seconds {problem}"
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
