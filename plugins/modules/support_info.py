#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: support_info
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Gather what somebody needs who is to help with a machine
description:
  - Versions, configurations, the ends of journals, and on a control plane what the API says of nodes and pods.
  - Secrets are taken out on the machine, before anything is sent. Secrets of the API are not asked for.
  - What is not there or cannot be read is told of in RV(problems); nothing of that is an error.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  limit:
    description: Bytes of one file; of a longer one the end is taken.
    type: int
    default: 200000
  total:
    description: Bytes of all files; what comes after is left out and told of.
    type: int
    default: 8000000
  timeout:
    description: Seconds for one command.
    type: int
    default: 30
"""

EXAMPLES = r"""
- name: Gather what there is
  gshare.cluster.support_info:
  become: true
"""

RETURN = r"""
files:
  description: Texts by the names that they have in the archive.
  type: dict
  returned: success
problems:
  description: What is missing or not whole, by the name of the file, with the reason.
  type: dict
  returned: success
  sample: {"containerd/version": "there is no containerd", "api/pods": "it ended with status 1"}
"""

import glob
import json
import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Ask, ask
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_gather import Gather
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.module_utils._redact import redact
from ansible_collections.gshare.cluster.plugins.module_utils._support import API, COMMANDS, FILES, tail


class Told:
    """Texts without secrets, and what is missing of them."""

    def __init__(self, limit: int, total: int) -> None:
        self.limit = limit
        self.left = total
        self.files: dict[str, str] = {}
        self.problems: dict[str, str] = {}

    def add(self, name: str, text: str) -> None:
        """Secrets are taken out of the whole text: in its end alone, a key might have lost the line that tells it."""
        shown = tail(redact(text), self.limit)
        size = len(shown.encode())
        if size > self.left:
            self.problems[name] = "it was left out, since all files together are too large"
            return
        self.left -= size
        self.files[name] = shown

    def read(self, root: str) -> None:
        for pattern in FILES:
            for path in sorted(glob.glob(os.path.join(root, pattern))):
                name = os.path.relpath(path, root)
                try:
                    with open(path, "rb") as file:
                        self.add(name, file.read().decode("utf-8", "replace"))
                except IsADirectoryError:
                    continue
                except OSError as exc:
                    self.problems[name] = f"it cannot be read: {exc.strerror}"

    def run(self, commands: t.Mapping[str, t.Sequence[str]], timeout: int, asked: Ask) -> None:
        """Ask programs, of which one kind that hangs is not asked again."""
        hung = set()
        for name, command in commands.items():
            if command[0] in hung:
                self.problems[name] = f"{command[0]} was not asked again"
                continue
            answer = asked(command, timeout)
            if not answer.present:
                self.problems[name] = f"there is no {command[0]}"
                continue
            if answer.timed_out:
                hung.add(command[0])
                self.problems[name] = f"{command[0]} did not end in {timeout} s"
            elif answer.status:
                self.problems[name] = f"{command[0]} ended with status {answer.status}"
            self.add(name, answer.text)


def main(root: str = "/", asked: Ask = ask) -> None:
    module = AnsibleModule(
        argument_spec={
            "limit": {"type": "int", "default": 200000},
            "total": {"type": "int", "default": 8000000},
            "timeout": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    timeout = module.params["timeout"]
    told = Told(module.params["limit"], module.params["total"])
    told.read(root)
    told.run(COMMANDS, timeout, asked)
    told.add("gpu/verdict.json", json.dumps(Gather(Host(root), timeout, asked).facts(), indent=2) + "\n")
    if os.path.exists(os.path.join(root, "etc/kubernetes/admin.conf")):
        told.run(API, timeout, asked)
    module.exit_json(changed=False, files=told.files, problems=told.problems)


if __name__ == "__main__":
    main()
