# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_info
short_description: Hosts, groups and settings of a cluster from one cluster-info file
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
description:
  - Reads a file that names the machines of a cluster and its settings in lines of the form C(KEY=VALUE).
    The file is read as bash reads it (quotes, escapes, comments, C(export)) but never run, so a command or a variable
    in it is an error.
  - The file can be the inventory itself, if it is called C(cluster-info), C(NAME.cluster-info) or C(cluster-info.NAME),
    or an inventory in YAML can name it. The YAML file's name has to end in C(cluster_info.yml).
  - A host is called by its address. C(MASTER_NODE=user@address) is in the group C(kube_control_plane),
    C(WORKER_NODES=user@address:mode,...) are in C(gpu_exclusive) or C(gpu_fractional), which is the mode that holds
    if none is given, C(CPU_WORKERS=user@address,...) are in C(cpu_node),
    and C(STORAGE_NODE=user@address:/dev/disk) is in C(storage_node).
    C(gpu_node) holds both kinds of GPU workers, C(kube_worker) all but the control plane, C(kube_cluster) all.
    All groups exist, also the empty ones.
  - The user of an entry becomes the host variable C(ansible_user), the device C(gshare_storage_device).
    The mode becomes C(gshare_gpu_mode), a variable of the two groups.
    C(SSH_OPTS) becomes connection variables of the group C(kube_cluster), and each other key a variable C(gshare_*)
    of C(all), so that C(group_vars) beside the file wins over them.
  - All mistakes of the file are reported at once, each with its line and how to put it right. The run then ends,
    whatever other inventory plugins are enabled, and no host is touched.
  - The page C(docs/cluster-info.md) of the collection lists every key.
notes:
  - The plugin has to be enabled, in front of the others, by C(enable_plugins) in the section C([inventory]) of
    C(ansible.cfg). C(ansible.builtin.ini) takes nearly every text for a list of hosts, this file too.
  - Values are data. They are never templates.
options:
  plugin:
    description: Marks the YAML file as one for this plugin.
    type: str
    required: true
    choices:
      - gshare.cluster.cluster_info
  file:
    description: Path of the cluster-info file. A relative one begins in the folder of the YAML file.
    type: str
    default: cluster-info
extends_documentation_fragment:
  - ansible.builtin.constructed
seealso:
  - plugin: ansible.builtin.constructed
    plugin_type: inventory
    description: Make further groups and variables out of any inventory.
"""

EXAMPLES = r"""
# cluster-info, used as it stands: ansible-playbook gshare.cluster.up -i cluster-info
#
#   MASTER_NODE=ubuntu@10.0.0.10
#   WORKER_NODES=ubuntu@10.0.0.20:exclusive,ubuntu@10.0.0.21:fractional
#   CPU_WORKERS=ubuntu@10.0.0.30
#   STORAGE_NODE=ubuntu@10.0.0.40:/dev/vdb
#   SSH_OPTS="-i ~/.ssh/id_ed25519 -o StrictHostKeyChecking=accept-new"

# site.cluster_info.yml, which adds to it: ansible-playbook gshare.cluster.up -i site.cluster_info.yml
plugin: gshare.cluster.cluster_info
file: cluster-info
strict: true
compose:
  # All machines are reached through another name than their address.
  ansible_host: inventory_hostname | replace('10.0.0.', 'node-')
groups:
  # A group out of a condition.
  rack_two: inventory_hostname is search('[.]2[0-9]$')
keyed_groups:
  # The groups mode_exclusive, mode_fractional and mode_none.
  - key: gshare_gpu_mode | default('none')
    prefix: mode
"""

import os
import re
import typing as t
from pathlib import Path

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import trust_as_template

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import (
    GROUPS,
    Cluster,
    ClusterInfoError,
    decode,
    parse,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_text import Problem

if t.TYPE_CHECKING:
    from ansible.inventory.data import InventoryData
    from ansible.parsing.dataloader import DataLoader

_PLAIN = re.compile(r"(?:.+\.)?cluster-info|cluster-info\.(?!(?:ya?ml|json|ini|toml|cfg|py|sh)$).+")
_YAML = re.compile(r".*cluster[_-]info\.ya?ml")


class _LastError(AnsibleParserError):
    """An error that ends the run.

    After an ordinary one the inventory manager tries the next plugin, and ini takes the lines of a broken
    cluster-info for hosts: the run would go on with these, or with none. The first thing that the manager does with
    an error is to look at its origin, and an error that comes up there is one that it does not catch.
    """

    @property
    def obj(self) -> t.Any:
        raise AnsibleParserError(self._original_message) from None

    @obj.setter
    def obj(self, value: t.Any) -> None:
        pass


class InventoryModule(BaseInventoryPlugin, Constructable):
    NAME = "gshare.cluster.cluster_info"

    def verify_file(self, path: str) -> bool:
        name = os.path.basename(path)
        return bool(_PLAIN.fullmatch(name) or _YAML.fullmatch(name)) and super().verify_file(path)

    def parse(self, inventory: InventoryData, loader: DataLoader, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        in_yaml = bool(_YAML.fullmatch(os.path.basename(path)))
        file = path
        if in_yaml:
            # A file of that name can belong to another plugin, so this may fail and the next plugin may have it.
            self._read_config_data(path)
            file = os.path.join(os.path.dirname(path), os.path.expanduser(self.get_option("file")))
        cluster = _read(file)
        _refuse_second(inventory, cluster, file)
        for warning in (*cluster.warnings, *_missing_key(cluster)):
            self.display.warning(warning.sentence(_shown(file)))
        _populate(inventory, cluster)
        if in_yaml:
            try:
                self._construct(inventory, cluster)
            except AnsibleError as error:
                raise _LastError(f"{_shown(path)}: {error}; correct it, or set strict to false") from error

    def _construct(self, inventory: InventoryData, cluster: Cluster) -> None:
        strict = self.get_option("strict")
        of_groups = cluster.group_variables()
        for node in cluster.nodes:
            variables = dict(of_groups["all"])
            for found in (of_groups["kube_cluster"], of_groups.get(node.group, {})):
                variables.update(found)
            variables.update(inventory.hosts[node.address].get_vars())
            self._set_composite_vars(self.get_option("compose"), variables, node.address, strict=strict)
            self._add_host_to_composed_groups(self.get_option("groups"), variables, node.address, strict=strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, node.address, strict=strict)


def _refuse_second(inventory: InventoryData, cluster: Cluster, file: str) -> None:
    """Two files in one folder, such as an example beside the real one, must not become one cluster."""
    there = inventory.groups.get("kube_control_plane")
    ours = [node.address for node in cluster.nodes if node.group == "kube_control_plane"]
    others = [host.name for host in there.get_hosts() if host.name not in ours] if there else []
    if others:
        raise _LastError(
            f"{_shown(file)}: MASTER_NODE: the control plane is {ours[0]}, but {others[0]} in another inventory; "
            "give one of the files with -i, or move the other out of the folder"
        )


def _missing_key(cluster: Cluster) -> list[Problem]:
    """Say so if the private key is not there: ssh goes on without it, and the machine refuses the login."""
    path = cluster.connection.get("ansible_ssh_private_key_file", "")
    if not os.path.isabs(path) or re.search(r"%|\$\{", path) or os.path.exists(path):
        return []
    line = cluster.assignments["SSH_OPTS"].line
    return [Problem(line, "SSH_OPTS", path, f"the key '{path}' is not there", "correct the path, or remove it")]


def _populate(inventory: InventoryData, cluster: Cluster) -> None:
    for group, children in GROUPS.items():
        inventory.add_group(group)
        for child in children:
            inventory.add_group(child)
            inventory.add_child(group, child)
    for group, variables in cluster.group_variables().items():
        for variable, value in variables.items():
            inventory.set_variable(group, variable, _marked(value))
    for node in cluster.nodes:
        inventory.add_host(node.address, node.group)
        for variable, value in node.variables().items():
            inventory.set_variable(node.address, variable, _marked(value))


def _marked(value: t.Any) -> t.Any:
    """Mark a text that cannot be a template as harmless.

    It makes no difference to a run. But ansible-inventory writes others as {"__ansible_unsafe": "text"}, and what reads
    its output, such as testinfra, does not know that.
    """
    return trust_as_template(value) if isinstance(value, str) and "{" not in value else value


def _read(file: str) -> Cluster:
    try:
        text = decode(Path(file).read_bytes())
        return parse(text, folder=os.path.dirname(os.path.abspath(file)))
    except OSError as error:
        what = f"{_shown(file)}: the file cannot be read: {error.strerror}"
        raise _LastError(f"{what}; give the path of a cluster-info file") from error
    except ClusterInfoError as error:
        raise _LastError(error.report(_shown(file))) from error


def _shown(file: str) -> str:
    """Give the path as it can be opened from here, and short if the file is below this folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative
