#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cri_images
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Have images on a node before a pod needs them
description:
  - Pulls images as the kubelet does, through the container runtime interface, so that mirrors and accounts of
    containerd count. What is there already is not pulled again, even if its tag has moved since.
  - All images are tried; those that cannot be pulled are told together, each with the reason.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  images:
    description: Names of images, as pods write them.
    type: list
    elements: str
    required: true
  endpoint:
    description: The runtime's socket.
    type: str
    default: unix:///run/containerd/containerd.sock
  timeout:
    description: Seconds that the pull of one image may take.
    type: int
    default: 3600
"""

EXAMPLES = r"""
- name: Have the image of the training there
  gshare.cluster.cri_images:
    images: ["192.0.2.40:5000/team/train:3"]
"""

RETURN = r"""
pulled:
  description: The images that were pulled, or would be.
  returned: success
  type: list
  elements: str
  sample: ["192.0.2.40:5000/team/train:3"]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._go_log import cause
from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import ask
from ansible_collections.gshare.cluster.plugins.module_utils._kubeadm import CRI_SOCKET

# For a question that the runtime answers at once, unless it hangs.
_SECONDS = 60


class CriError(Exception):
    """Why an image is not there."""


class Runtime:
    def __init__(self, endpoint: str, timeout: int) -> None:
        self._start = ("crictl", "--runtime-endpoint", endpoint)
        self._timeout = timeout

    def has(self, image: str) -> bool:
        answer = ask((*self._start, "inspecti", "-q", image), _SECONDS)
        if answer.status == 0:
            return True
        if not answer.present or "no such image" in answer.text:
            return False
        raise CriError(f"containerd does not answer within {_SECONDS} s" if answer.timed_out else cause(answer.text))

    def pull(self, image: str) -> None:
        answer = ask((*self._start, "pull", image), self._timeout)
        if not answer.present:
            raise CriError("crictl is not installed; run gshare.cluster.up first")
        if answer.timed_out:
            raise CriError(f"it did not come within {self._timeout} s; raise images_timeout, or see the network")
        if answer.status != 0:
            raise CriError(cause(answer.text))


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "images": {"type": "list", "elements": "str", "required": True},
            "endpoint": {"type": "str", "default": CRI_SOCKET},
            "timeout": {"type": "int", "default": 3600},
        },
        supports_check_mode=True,
    )
    runtime = Runtime(module.params["endpoint"], module.params["timeout"])
    pulled, failed = [], []
    for image in module.params["images"]:
        try:
            if runtime.has(image):
                continue
            if not module.check_mode:
                runtime.pull(image)
            pulled.append(image)
        except CriError as exc:
            failed.append(f"{image} cannot be pulled: {exc}.")
    if failed:
        module.fail_json(msg=" ".join(failed), changed=bool(pulled), pulled=pulled)
    module.exit_json(changed=bool(pulled), pulled=pulled)


if __name__ == "__main__":
    main()
