#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_package_info
short_description: Tell which package containerd is or should be installed from
version_added: 0.1.0
author:
  - gshare.cluster contributors (@gshare)
description:
  - Asks apt what is installed and on offer, and decides between the distribution's package C(containerd) and Docker's
    C(containerd.io). What is installed and new enough stays.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  minimum:
    description: The oldest version that will do.
    type: str
    default: "1.7"
  repository_file:
    description: The file of Docker's repository that the caller manages. Where it exists, it goes on being managed.
    type: path
    required: true
"""

EXAMPLES = r"""
- name: Find out where containerd comes from
  gshare.cluster.containerd_package_info:
    repository_file: /etc/apt/sources.list.d/gshare-docker.sources
  register: containerd_package
"""

RETURN = r"""
package:
  description: The package's name.
  returned: always
  type: str
  sample: containerd.io
wish:
  description: What to ask apt for, with a version where an installed package is too old.
  returned: always
  type: str
version:
  description: The version that is installed or on offer, null if apt offers none yet.
  returned: always
  type: str
installed:
  description: Whether a version that will do is installed.
  returned: always
  type: bool
source:
  description:
    - V(distribution) if apt has it from what is configured, V(docker) if Docker's repository is needed,
      V(refresh) if apt has no package lists yet.
  returned: always
  type: str
reason:
  description: Why.
  returned: always
  type: str
distribution:
  description: The system's id, as os-release has it.
  returned: always
  type: str
codename:
  description: The system's code name, as os-release has it.
  returned: always
  type: str
"""

import glob
import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd_package import (
    DISTRIBUTION,
    DOCKER,
    choose,
    parse_os_release,
    parse_policy,
)

OS_RELEASE = "/etc/os-release"
LISTS = "/var/lib/apt/lists/*Packages*"


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "minimum": {"type": "str", "default": "1.7"},
            "repository_file": {"type": "path", "required": True},
        },
        supports_check_mode=True,
    )
    command = ["apt-cache", "policy", DISTRIBUTION, DOCKER]
    _code, out, _err = module.run_command(command, environ_update={"LC_ALL": "C"}, check_rc=True)
    choice = choose(
        parse_policy(out),
        module.params["minimum"],
        lists=bool(glob.glob(LISTS)),
        own_repository=os.path.exists(module.params["repository_file"]),
    )
    with open(OS_RELEASE, encoding="utf-8") as stream:
        distribution, codename = parse_os_release(stream.read())
    module.exit_json(changed=False, distribution=distribution, codename=codename, **choice)


if __name__ == "__main__":
    main()
