#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: manifest
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Apply Kubernetes objects by server-side apply
description:
  - Gives objects to M(kubernetes.core.k8s) as this collection applies all, by the server and as one field manager.
  - Runs on the machine that speaks to the API, with the Python package C(kubernetes) on its path.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - The server tells what would change. Objects in a namespace that would only be made now count as a change.
options:
  definition:
    description: The objects.
    type: list
    elements: dict
    required: true
  kubeconfig:
    description: The kubeconfig on the machine.
    type: path
    default: /etc/kubernetes/admin.conf
seealso:
  - module: kubernetes.core.k8s
"""

EXAMPLES = r"""
- name: Apply flannel
  gshare.cluster.manifest:
    definition: "{{ lookup('ansible.builtin.template', 'flannel.yml.j2') | from_yaml_all | list }}"
"""

RETURN = r"""
msg:
  description: What check mode cannot know.
  returned: in check mode, before the namespace of the objects is there
  type: str
"""
