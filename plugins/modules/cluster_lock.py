#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_lock
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Let one run at a time work on a cluster
description:
  - Takes a lock on the control plane for the run of C(ansible-playbook) that it is part of. A second run fails with the
    name of the first one's owner.
  - A process beside the run says every 10 seconds that it lives, and gives the lock back when the run has ended, in
    whatever way. A lock that nobody has spoken for in 45 seconds is taken over, and at once that of a run on the same
    controller that has ended. Seconds are those of the control plane's uptime, so that no clock matters.
  - Taking it again in the same run changes nothing. It is a state of the run and not of the machine, so it never counts
    as a change.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - Check mode changes nothing, so it takes no lock.
  diff_mode:
    support: none
options:
  required:
    description:
      - Whether it is an error that the machine cannot be asked, such as without a connection or a password for sudo.
        A lock of another run always is.
      - A run that looks at all machines afterwards tells better what is wrong with this one.
    type: bool
    default: true
  path:
    description: The lock on the machine. It has to be on a file system that a reboot empties.
    type: path
    default: /run/gshare-cluster.lock
  owner:
    description: Whose lock it is to be. The action plugin fills this in.
    type: dict
    default: {}
  dead:
    description: Owners that are known to have ended. The action plugin fills this in.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Be the only run
  gshare.cluster.cluster_lock:
  delegate_to: "{{ groups['kube_control_plane'] | first }}"
  run_once: true
"""

RETURN = r"""
taken:
  description: Whether the lock is this run's.
  type: bool
  returned: success
new:
  description: Whether it was not this run's before.
  type: bool
  returned: when it is this run's
taken_over:
  description: Whose lock it was, of a run that has ended or that nobody speaks for.
  type: dict
  returned: when it was another run's
owner:
  description: Whose lock it is.
  type: dict
  returned: when it is another run's
now:
  description: The machine's uptime in seconds, by which C(since) of owners counts.
  type: float
  returned: success
"""

import fcntl
import json
import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

Json = dict[str, t.Any]
STALE = 45.0  # seconds after which nobody speaks for a lock


def uptime() -> float:
    """Seconds since the machine's start, which no change of its clock moves."""
    with open("/proc/uptime", encoding="ascii") as file:
        return float(file.read().split()[0])


def read(path: str) -> Json:
    """Owner, and seconds since the lock was spoken for; empty if there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            owner = json.load(file)
            heard = os.fstat(file.fileno()).st_mtime  # by uptime, see write
    except (FileNotFoundError, ValueError):
        return {}
    return {**owner, "silent": uptime() - heard} if isinstance(owner, dict) and "id" in owner else {}


def write(path: str, owner: Json) -> None:
    """Whole or not at all. Its time is the machine's uptime, and so are those of the heartbeats (touch) that follow."""
    now = uptime()
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({**owner, "since": now}, file)
    os.chmod(temporary, 0o644)
    os.utime(temporary, (now, now))
    os.replace(temporary, path)


def take(path: str, mine: Json, dead: t.Container[str]) -> Json:
    """C(new) tells whether it was not this run's before."""
    # The guard is locked and never written to. Who can open it can hold it, so nobody else can.
    with open(f"{path}.guard", "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        owner = read(path)
        if owner.get("id") == mine["id"]:
            return {"taken": True, "new": False}
        if owner and owner["id"] not in dead and 0 <= owner["silent"] < STALE:
            return {"taken": False, "owner": owner}
        write(path, mine)
        return {"taken": True, "new": True, **({"taken_over": owner} if owner else {})}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "required": {"type": "bool", "default": True},
            "path": {"type": "path", "default": "/run/gshare-cluster.lock"},
            "owner": {"type": "dict", "default": {}},
            "dead": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    params = module.params
    if module.check_mode:
        module.exit_json(changed=False, taken=False)
    try:
        result = take(params["path"], params["owner"], params["dead"])
    except OSError as exc:
        module.fail_json(msg=f"The lock {params['path']} cannot be taken: {exc.strerror}.")
    module.exit_json(changed=False, now=uptime(), **result)


if __name__ == "__main__":
    main()
