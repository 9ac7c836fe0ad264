#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_report
short_description: Judge what preflight gathered and print one table
version_added: 0.1.0
description:
  - Makes named findings of the inventory and of what M(gshare.cluster.preflight_info) gathered on all machines, prints
    them as one table, each with its remedy, and fails if there is an error that was not accepted.
  - Runs on the controller and connects to nothing. Meant for C(run_once).
  - C(docs/preflight.md) lists all findings.
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes.info_module
options:
  stage:
    description:
      - V(inventory) judges the inventory alone, before any machine is touched, and prints only if something is wrong.
      - V(machines) judges everything.
    type: str
    choices: [inventory, machines]
    default: machines
  settings:
    description:
      - C(kubernetes_version), C(pod_cidr), C(service_cidr), C(api_port), C(accept), C(min_cpus), C(min_memory_mb),
        C(min_free_mb), C(clock_limit), C(ports_control_plane), C(ports_worker), C(systems), C(architectures),
        C(checks), C(registries), C(apt_source), C(docker_source) and
        C(nvidia_sources), as the variables of the role P(gshare.cluster.preflight#role).
    type: dict
    default: {}
  gathered:
    description: The results of M(gshare.cluster.preflight_info) by the machines' names in the inventory.
    type: dict
    default: {}
  json:
    description: File on the controller for the findings as JSON.
    type: path
"""

EXAMPLES = r"""
- name: Judge all machines together
  gshare.cluster.preflight_report:
    settings:
      kubernetes_version: "1.36"
      accept: [cgroup_v1]
    gathered: "{{ dict(ansible_play_hosts_all | zip(ansible_play_hosts_all | map('extract', hostvars, 'gathered'))) }}"
  run_once: true
"""

RETURN = r"""
findings:
  description: All findings, errors first.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name by which it can be accepted.
      type: str
      sample: cgroup_v1
    hosts:
      description: The machines, by their names in the inventory.
      type: list
      elements: str
      sample: [192.0.2.10]
    severity:
      description: V(error) or V(warning).
      type: str
      sample: error
    accepted:
      description: Whether C(gshare_accept) names it.
      type: bool
      sample: false
    text:
      description: What is wrong.
      type: str
      sample: It runs with cgroup v1.
    remedy:
      description: How to put it right.
      type: str
      sample: Boot with systemd.unified_cgroup_hierarchy=1.
"""
