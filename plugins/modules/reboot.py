#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reboot
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Reboot machines that need it for their GPU driver, all at the same time
description:
  - One task with O(phase=ask) asks all machines to reboot, a second one with O(phase=wait) waits for them, so that they
    reboot together whatever C(forks) is set to.
  - A machine is rebooted only if M(gshare.cluster.gpu_info) says that a reboot repairs its driver.
  - One that is in use is not rebooted unless O(disrupt) names it; RV(held_back) says why.
  - It is back when its boot id is well formed, another one than before, and the same in two reads over connections of
    their own. Then its driver has to work.
  - Each machine's way is shown while it is waited for, as V(asked to reboot), V(down), V(back) and V(driver works). A
    failure says how far it came, after how many seconds, and shows the lines of the kernel's log that explain it.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - In check mode it says what it would reboot.
  diff_mode:
    support: none
options:
  phase:
    description: Whether to ask for the reboot, or to wait for its end.
    type: str
    choices: [ask, wait]
    required: true
  gpu:
    description: What M(gshare.cluster.gpu_info) returned before the reboot.
    type: dict
    required: true
  disrupt:
    description: Inventory names of machines that may be rebooted while GPU work runs, as a list or with commas.
    type: raw
    default: []
  asked:
    description: What the task with O(phase=ask) returned.
    type: dict
    default: {}
  tries:
    description: The time limit in steps of 5 seconds, counted from when the machine was asked.
    type: int
    default: 120
  driver_timeout:
    description: Seconds for the driver to work after the machine is back.
    type: int
    default: 120
  smi_timeout:
    description: Seconds for one call of C(nvidia-smi).
    type: int
    default: 120
seealso:
  - module: gshare.cluster.gpu_info
"""

EXAMPLES = r"""
- name: Look at cards and driver
  gshare.cluster.gpu_info:
  register: gpu

- name: Ask those for a reboot that need it
  gshare.cluster.reboot:
    phase: ask
    gpu: "{{ gpu }}"
  register: asked

- name: Wait for them
  gshare.cluster.reboot:
    phase: wait
    gpu: "{{ gpu }}"
    asked: "{{ asked }}"
"""

RETURN = r"""
asked:
  description: Whether the machine was asked to reboot.
  returned: with O(phase=ask)
  type: bool
boot_id:
  description: Its boot id before.
  returned: with O(phase=ask)
  type: str
held_back:
  description: Why the machine was left alone, a sentence each.
  returned: with O(phase=ask)
  type: list
  elements: str
phase:
  description: How far the machine came, empty for one that was not asked.
  returned: with O(phase=wait)
  type: str
  sample: driver works
seconds:
  description: Seconds from asking until the driver worked.
  returned: with O(phase=wait)
  type: int
gpu:
  description: What M(gshare.cluster.gpu_info) returned after the reboot, or O(gpu) for a machine that was not asked.
  returned: with O(phase=wait)
  type: dict
"""
