#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_token
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Make or delete a bootstrap token on the control plane
description:
  - Makes a token that lives for some minutes, with everything else that a join needs.
  - The token is a Secret that is handed to the API on the standard input of kubectl, so it is in no list of processes;
    and no default route is needed, unlike with C(kubeadm token create).
  - The result holds the token. Set C(no_log) on the task.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  check_mode:
    details:
      - In check mode no token is made and RV(token) is empty.
  diff_mode:
    support: none
  idempotent:
    support: partial
    details:
      - With O(state=present) each call makes a token.
options:
  state:
    description: Whether to make a token or to delete one.
    type: str
    choices: [present, absent]
    default: present
  token_id:
    description:
      - The first part of the token to delete, which is no secret.
      - If empty, all tokens of this module are deleted, also those that a run left which was killed.
    type: str
    default: ''
  minutes:
    description: How long a token lives.
    type: int
    default: 15
"""

EXAMPLES = r"""
- name: Make a token
  gshare.cluster.kubeadm_token:
  register: token
  no_log: true

- name: Delete it
  gshare.cluster.kubeadm_token:
    state: absent
    token_id: "{{ token.token_id }}"
"""

RETURN = r"""
token:
  description: The token.
  type: str
  returned: O(state=present)
token_id:
  description: Its first part, by which it is deleted.
  type: str
  returned: O(state=present)
ca_hash:
  description: The pin of the cluster's CA.
  type: str
  returned: O(state=present)
endpoint:
  description: Address and port of the API server.
  type: str
  returned: O(state=present)
"""

import datetime
import json
import secrets
import string
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine

ALPHABET = string.ascii_lowercase + string.digits


def new_token() -> str:
    return ".".join("".join(secrets.choice(ALPHABET) for _unused in range(length)) for length in (6, 16))


def present(module: AnsibleModule, commands: machine.Commands) -> dict[str, t.Any]:
    endpoint = documents.kubeconfig_value(machine.read("etc/kubernetes/admin.conf"), "server").split("://")[-1]
    if module.check_mode:
        # On a fresh machine there is no cluster yet that could be described.
        ca = machine.read("etc/kubernetes/pki/ca.crt")
        return {"token": "", "token_id": "", "ca_hash": documents.ca_cert_hash(ca) if ca else "", "endpoint": endpoint}
    ca_hash = documents.ca_cert_hash(machine.read("etc/kubernetes/pki/ca.crt"))
    token = new_token()
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=module.params["minutes"])
    secret = documents.token_secret(token, expires.strftime("%Y-%m-%dT%H:%M:%SZ"), "made by gshare.cluster for one run")
    rc, out, err = machine.kubectl(commands, "create", "-f", "-", data=json.dumps(secret), change=True)
    if rc:
        commands.fail("The API does not take a new bootstrap token", out + err)
    return {"token": token, "token_id": token.split(".", maxsplit=1)[0], "ca_hash": ca_hash, "endpoint": endpoint}


def absent(module: AnsibleModule, commands: machine.Commands) -> dict[str, t.Any]:
    if not machine.read("etc/kubernetes/admin.conf"):
        return {"changed": False}  # in check mode, before there is a cluster
    which = [f"bootstrap-token-{module.params['token_id']}"]
    if not module.params["token_id"]:
        which = ["--selector", documents.TOKEN_LABEL]
    words = ["delete", "secret", "-n", "kube-system", *which, "--ignore-not-found", "-o", "name"]
    if module.check_mode:
        words.append("--dry-run=server")
    rc, out, err = machine.kubectl(commands, *words, change=True)
    if rc:
        commands.fail("A token cannot be deleted; it ends by itself", out + err)
    # With a selector that finds nothing kubectl says so in a sentence.
    return {"changed": any(line.startswith("secret/") for line in out.splitlines())}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "token_id": {"type": "str", "default": "", "no_log": False},
            "minutes": {"type": "int", "default": 15},
        },
        supports_check_mode=True,
    )
    commands = machine.Commands(module)
    if module.params["state"] == "absent":
        result = absent(module, commands)
    else:
        result = {"changed": True, **present(module, commands)}
    module.exit_json(commands=commands.run, **result)


if __name__ == "__main__":
    main()
