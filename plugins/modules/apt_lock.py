#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: apt_lock
short_description: Wait until no other program holds the locks of apt and dpkg
version_added: 0.1.0
description:
  - Waits while an automatic upgrade, C(cloud-init) or a person at the machine holds one of the locks of apt and dpkg.
  - If the wait runs out, it fails and names the program, its process id and for how long it has been running.
  - The locks are only looked at, never taken, so that other programs are not disturbed.
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - In check mode it reports the holders and does not wait.
  diff_mode:
    support: none
options:
  timeout:
    description: For how many seconds to wait.
    type: int
    default: 600
  paths:
    description: The lock files.
    type: list
    elements: path
    default:
      - /var/lib/dpkg/lock-frontend
      - /var/lib/dpkg/lock
      - /var/lib/apt/lists/lock
      - /var/cache/apt/archives/lock
seealso:
  - module: gshare.cluster.preflight_info
    description: Tells the holders without waiting.
"""

EXAMPLES = r"""
- name: Let an automatic upgrade end
  gshare.cluster.apt_lock:
    timeout: 900
"""

RETURN = r"""
holders:
  description: Who held a lock when the module first looked.
  returned: always
  type: list
  elements: dict
  contains:
    pid:
      description: Process id; V(0) if the process is outside of this container.
      type: int
      sample: 812
    process:
      description: Name of the program.
      type: str
      sample: unattended-upgrade
    seconds:
      description: For how long the program had been running.
      type: int
      sample: 43
    paths:
      description: The locks that it held.
      type: list
      elements: str
      sample: [/var/lib/dpkg/lock-frontend]
package_lists:
  description:
    - Whether apt has any package lists. Fresh machine images often have none, in a folder whose date is new, which
      C(cache_valid_time) takes for lists that are up to date.
  returned: always
  type: bool
  sample: true
interrupted:
  description: Whether a dpkg was cut off, so that apt refuses to work until C(dpkg --configure -a) has finished it.
  returned: always
  type: bool
  sample: false
waited:
  description: Seconds waited.
  returned: always
  type: int
  sample: 12
"""

import glob
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._apt_lock import LOCKS, Holder, holders, spoken
from ansible_collections.gshare.cluster.plugins.module_utils._dpkg import JOURNAL, interrupted
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_PAUSE = 0.5
PACKAGE_LISTS = "/var/lib/apt/lists/*_Packages*"


def names(held: list[Holder]) -> str:
    return " and ".join(str(holder) for holder in held)


def wait(module: AnsibleModule) -> None:
    paths, timeout = module.params["paths"], module.params["timeout"]
    begin = time.monotonic()
    first = held = holders(paths)
    while held and not module.check_mode:
        waited = int(time.monotonic() - begin)
        if waited >= timeout:
            module.fail_json(
                msg=f"{names(held)} still holds {held[0].paths[0]} after {spoken(waited)} of waiting; "
                "let it end (or stop it if it hangs), then run again.",
                holders=[holder._asdict() for holder in first],
                waited=waited,
            )
        time.sleep(_PAUSE)
        held = holders(paths)
    waited = int(time.monotonic() - begin)
    result = {
        "holders": [holder._asdict() for holder in first],
        "waited": waited,
        "package_lists": bool(glob.glob(PACKAGE_LISTS)),
        "interrupted": not held and interrupted(Host().names(JOURNAL)),
    }
    if first and module.check_mode:
        result["msg"] = f"{names(first)} holds {first[0].paths[0]}; a real run waits for up to {spoken(timeout)}."
    elif first:
        result["msg"] = f"Waited {spoken(waited)} for {names(first)}."
    module.exit_json(changed=False, **result)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "timeout": {"type": "int", "default": 600},
            "paths": {"type": "list", "elements": "path", "default": list(LOCKS)},
        },
        supports_check_mode=True,
    )
    wait(module)


if __name__ == "__main__":
    main()
