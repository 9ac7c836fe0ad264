#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: support_archive
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Write what machines have told into one archive
description:
  - Works on the controller, and adds what is of use there, with secrets taken out.
  - The archive is for the user alone. It never counts as a change.
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  path:
    description: The archive; if empty, C(gshare-support-CLUSTER-DATE.tar.gz) in the current folder.
    type: str
    default: ''
  cluster:
    description: How the cluster is called in the name of the archive and of its folder.
    type: str
    default: cluster
  gathered:
    description: Results of P(gshare.cluster.support_info#module) by the name of the machine.
    type: dict
    required: true
  inventory:
    description: Files of the inventory that go into the archive.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Write it down
  gshare.cluster.support_archive:
    cluster: 192.0.2.10
    gathered: {"192.0.2.10": {"files": {"system/uptime": "up 3 days"}}}
"""

RETURN = r"""
path:
  description: The archive.
  type: str
  returned: success
silent:
  description: Machines that told nothing, with the reason.
  type: dict
  returned: success
"""
