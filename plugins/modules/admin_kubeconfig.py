#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: admin_kubeconfig
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Give the login user of the control plane a kubeconfig
description:
  - Copies C(/etc/kubernetes/admin.conf) to C(~/.kube/config) of the login user, mode 0600.
  - A file that holds this cluster's administrator already, as after the user has added other clusters to it, is left as
    it is. A file for another cluster, or for others too, is kept as a backup beside the new one.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: partial
    details:
      - The content is a secret, so only the address of the cluster is shown.
options:
  user:
    description: The login user. The default is the account that logged in.
    type: str
    default: ''
"""

EXAMPLES = r"""
- name: Give the login user a kubeconfig
  gshare.cluster.admin_kubeconfig:
"""

RETURN = r"""
path:
  description: The file.
  type: str
  returned: always
backup_file:
  description: Where the former file went.
  type: str
  returned: when it was not for this cluster alone
"""

import os
import tempfile
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset


def write(module: AnsibleModule, target: str, text: str, uid: int, gid: int) -> None:
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o750)
        os.chown(folder, uid, gid)
    handle, temporary = tempfile.mkstemp(dir=folder)
    module.add_cleanup_file(temporary)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chown(temporary, uid, gid)
    module.atomic_move(temporary, target, keep_dest_attrs=False)
    # atomic_move gives a new file the usual mode.
    os.chmod(target, 0o600)
    os.chown(target, uid, gid)


def main() -> None:
    module = AnsibleModule(argument_spec={"user": {"type": "str", "default": ""}}, supports_check_mode=True)
    try:
        account = node_reset.login_user(module.params["user"])
    except KeyError:
        module.fail_json(msg=f"There is no account {module.params['user']} on this machine: correct the option user.")
    name = os.path.join(account.pw_dir, ".kube/config")
    target, present = machine.path(name), machine.read(name)
    admin = machine.read("etc/kubernetes/admin.conf")
    if not admin and not module.check_mode:
        module.fail_json(
            msg="/etc/kubernetes/admin.conf is missing: `kubeadm init phase kubeconfig admin` makes it again."
        )
    content, owned = documents.kubeconfig_wish(admin, present), True
    if content is None and present:
        info = os.stat(target)
        owned = info.st_uid == account.pw_uid and info.st_mode & 0o077 == 0
    result: dict[str, t.Any] = {"path": target, "changed": content is not None or not owned}
    result["diff"] = {
        "before": documents.kubeconfig_value(present, "server") + "\n",
        "after": documents.kubeconfig_value(present if content is None else content, "server") + "\n",
    }
    if not module.check_mode and content is not None:
        if present and not documents.nothing_else(admin, present):
            result["backup_file"] = module.backup_local(target)
            os.chmod(result["backup_file"], 0o600)
        write(module, target, content, account.pw_uid, account.pw_gid)
    elif not module.check_mode and not owned:
        os.chmod(target, 0o600)
        os.chown(target, account.pw_uid, account.pw_gid)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
