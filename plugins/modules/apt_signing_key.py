#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: apt_signing_key
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Have the key of a package repository, by its fingerprint
description:
  - Fetches a key into a file for C(Signed-By) if the file does not hold the key of that fingerprint.
  - A file with another key, or an empty one from a run that broke off, is replaced. One with the key stays.
  - It needs no C(gpg).
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
options:
  url:
    description: Where the key is.
    type: str
    required: true
  path:
    description: The file, armoured keys in one that ends in C(.asc).
    type: path
    required: true
  fingerprint:
    description: Its fingerprint, with or without blanks. Empty for any key, a file with one is then left alone.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Have the key of NVIDIA's repository
  gshare.cluster.apt_signing_key:
    url: https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/3bf863cc.pub
    path: /etc/apt/keyrings/gshare-nvidia.asc
    fingerprint: EB693B3035CD5710E231E123A4B469963BF863CC
"""

RETURN = r"""
fingerprints:
  description: Those of the keys in the file.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import fetch_url

from ansible_collections.gshare.cluster.plugins.module_utils._files import replace
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host
from ansible_collections.gshare.cluster.plugins.module_utils._openpgp import fingerprints, normal


def fetch(module: AnsibleModule) -> bytes:
    url = module.params["url"]
    response, info = fetch_url(module, url, timeout=30)
    if response is None or info["status"] not in (200, -1, None):
        module.fail_json(msg=f"The key {url} cannot be fetched: {info.get('msg')}.")
    data: bytes = response.read()
    return data


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "path": {"type": "path", "required": True},
            "fingerprint": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    path, wanted = module.params["path"], normal(module.params["fingerprint"])
    found = fingerprints(Host().data(path))
    # One key alone: apt would trust whatever else is in the file.
    right = found == [wanted] if wanted else bool(found)
    if not right and not module.check_mode:
        data = fetch(module)
        found = fingerprints(data)
        if not found or (wanted and found != [wanted]):
            has = f"has the fingerprint {', '.join(found)}" if found else "is no key"
            module.fail_json(
                msg=f"What {module.params['url']} sends {has}, and {wanted or 'a key'} is wanted: it is not used. "
                "See who changed it, a proxy or the owner of the repository."
            )
        replace(module, path, data, 0o644)
    module.exit_json(changed=not right, fingerprints=found)


if __name__ == "__main__":
    main()
