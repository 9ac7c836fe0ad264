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
    whatever way. A lock that nobody has spoken for is taken over.
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
      - Whether a machine that cannot be asked is an error.
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
owner:
  description: Whose lock it is.
  type: dict
  returned: when it is another run's
"""

import fcntl
import json
import os
import tempfile
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

Json = dict[str, t.Any]
# Seconds after which nobody speaks for a lock, and for which that is looked at, since clocks jump.
STALE = 45.0
DOUBT = 12.0


def read(path: str) -> Json:
    """Owner, and seconds since the lock was spoken for; empty if there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            owner = json.load(file)
            heard = os.fstat(file.fileno()).st_mtime
    except (FileNotFoundError, ValueError):
        return {}
    return {**owner, "heard": heard, "silent": max(0.0, time.time() - heard)} if isinstance(owner, dict) else {}


def alive(path: str, owner: Json) -> bool:
    """Whether somebody speaks for it. One that looks silent is watched for longer than a heartbeat takes."""
    if owner["silent"] < STALE:
        return True
    time.sleep(DOUBT)
    return bool(read(path).get("heard", owner["heard"]) != owner["heard"])


def write(path: str, owner: Json) -> None:
    """Whole or not at all."""
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".gshare-")
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(owner, file)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def take(path: str, mine: Json, dead: t.Container[str]) -> Json:
    """C(new) tells whether it was not this run's before."""
    with open(f"{path}.guard", "a", encoding="utf-8") as guard:  # locked, and never written to
        fcntl.flock(guard, fcntl.LOCK_EX)
        owner = read(path)
        if owner.get("id") == mine["id"]:
            return {"taken": True, "new": False}
        if owner and owner.get("id") not in dead and alive(path, owner):
            return {"taken": False, "owner": owner}
        write(path, {**mine, "since": time.time()})
        return {"taken": True, "new": True}


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
    module.exit_json(changed=False, now=time.time(), **result)


if __name__ == "__main__":
    main()
