#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_blacklist
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Keep nouveau and NovaCore from NVIDIA's cards at the next boot
description:
  - Writes C(/etc/modprobe.d/gshare-nvidia.conf) and rebuilds the initramfs, which has a copy of it.
  - The initramfs is rebuilt only if one of its images is older than the file, so also after a run that was killed.
extends_documentation_fragment:
  - gshare.cluster._attributes
options: {}
"""

EXAMPLES = r"""
- name: Keep other drivers from the cards
  gshare.cluster.gpu_blacklist:
"""

RETURN = r"""
rebuilt:
  description: Whether the initramfs was rebuilt, or would be.
  returned: success
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_blacklist as blacklist
from ansible_collections.gshare.cluster.plugins.module_utils._files import replace
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_SBIN = ["/usr/sbin", "/sbin"]


def rebuild(module: AnsibleModule) -> None:
    program = module.get_bin_path("update-initramfs", opt_dirs=_SBIN)
    command = (
        [program, "-u", "-k", "all"]
        if program
        else [
            module.get_bin_path("dracut", required=True, opt_dirs=_SBIN),
            "--regenerate-all",
            "--force",
        ]
    )
    rc, out, err = module.run_command(command, environ_update={"LC_ALL": "C"})
    if rc:
        module.fail_json(
            msg=f"`{' '.join(command)}` failed, nouveau would still be loaded early: {(err or out).strip()}"
        )


def main(root: str = "/") -> None:
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    host = Host(root)
    before = host.text(blacklist.FILE)
    state = blacklist.state(host)
    images = any(name.startswith("initrd.img-") for name in host.names("/boot"))
    if not module.check_mode and not state["file"]:
        replace(module, str(host.path(blacklist.FILE)), blacklist.TEXT.encode(), 0o644)
    if not module.check_mode and images and not state["complete"]:
        rebuild(module)
    module.exit_json(
        changed=not state["complete"],
        rebuilt=images and not state["complete"],
        diff={
            "before_header": blacklist.FILE,
            "after_header": blacklist.FILE,
            "before": before,
            "after": blacklist.TEXT,
        },
    )


if __name__ == "__main__":
    main()
