#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: image_copy
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Have an image in a registry
description:
  - Copies an image from another registry, or out of an archive, into a registry, with skopeo or else docker.
  - The digest of the image's configuration in both places says whether there is something to do. Of an image for
    several platforms, the one for linux/amd64 is meant.
  - Made for the machine that Ansible runs on; it needs no root.
extends_documentation_fragment:
  - gshare.cluster._attributes
requirements:
  - skopeo or docker
options:
  source:
    description:
      - The image, such as V(docker.io/library/busybox:1.37), or an archive (C(.tar), C(.tar.gz), C(.tgz)) with one
        image, as C(docker save) writes it, or skopeo in either form.
      - Whoever has to log in for it does so with C(skopeo login) or C(docker login).
    type: str
    required: true
  name:
    description:
      - Repository and tag in the registry, such as V(team/train:3).
      - Empty for what follows the registry in the image's own name, without C(library/).
    type: str
    default: ""
  registry:
    description: The registry, as C(HOST:PORT).
    type: str
    required: true
  tls:
    description: Whether it speaks TLS.
    type: bool
    default: false
  ca:
    description: PEM text of the authority that proves its certificate; empty for those that the machine trusts.
    type: str
    default: ""
  username:
    description: An account of the registry; empty where none is needed.
    type: str
    default: ""
  password:
    description: Its password. It stands on no command line.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Have busybox in the registry on the LAN
  gshare.cluster.image_copy:
    source: docker.io/library/busybox:1.37
    registry: 192.0.2.40:5000
  delegate_to: localhost
  become: false
"""

RETURN = r"""
image:
  description: The image's name in the registry.
  returned: success
  type: str
  sample: 192.0.2.40:5000/busybox:1.37
config:
  description: The digest of its configuration.
  returned: success
  type: str
  sample: sha256:3f3d1e7a5a4c0f4b6c2bb3a1fd1c7ee1f9b7f6d1bb5bb8a0a2f5d3f5f0e1c9ab
"""

import os
import shutil
import tempfile
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _image_archive, _image_name
from ansible_collections.gshare.cluster.plugins.module_utils._image_push import (
    Destination,
    Docker,
    PushError,
    Skopeo,
    account_file,
)
from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import Registry, RegistryError


class Image:
    """What is to be in the registry, and where it comes from."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.given = str(module.params["source"])
        self.transport = ""
        self.config = ""
        if _image_name.is_archive(self.given):
            self.source, own = self.given, self._archive()
        else:
            self.source, own = self._registry()
        wanted = module.params["name"] or own
        target = _image_name.parse_target(wanted)
        if target is None:
            told = f"{wanted!r} is no name for it in a registry" if wanted else "it has no name and tag"
            module.fail_json(msg=f"{self.given}: {told}; give one without the registry, as in name: team/train:3.")
        self.repository, self.tag = target

    def _registry(self) -> tuple[str, str]:
        """How to ask for it, and its name in the other registry."""
        parsed = _image_name.parse(self.given)
        if parsed is None:
            self.module.fail_json(
                msg=f"{self.given!r} is no name of an image; write it as docker.io/library/busybox:1.37."
            )
        return parsed.exact, parsed.target

    def _archive(self) -> str:
        try:
            found = _image_archive.read(self.given)
        except _image_archive.ArchiveError as exc:
            self.module.fail_json(msg=f"The archive {self.given} cannot be used: {exc}.")
        self.transport, self.config = found.transport, found.config
        parsed = _image_name.parse(found.name)
        return parsed.target if parsed else ""


def program(module: AnsibleModule) -> Skopeo | Docker:
    def run(argv: t.Sequence[str]) -> tuple[int, bytes, bytes]:
        status, output, errors = module.run_command(list(argv), encoding=None)
        return status, output, errors

    for name, kind in (("skopeo", Skopeo), ("docker", Docker)):
        found = module.get_bin_path(name)
        if found:
            return kind(found, run)
    module.fail_json(
        msg="Neither skopeo nor docker is on the machine that Ansible runs on; install one, as with apt install skopeo."
    )


def keep_docker(folder: str, account: tuple[str, str, str]) -> None:
    """What docker reads of its user, with the account: another folder hides its contexts, too."""
    own = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    config = own / "config.json"
    keep(folder, "config.json", account_file(*account, config.read_text("utf-8") if config.is_file() else ""))
    if (own / "contexts").is_dir():
        os.symlink(own / "contexts", os.path.join(folder, "contexts"))


def keep(folder: str, name: str, text: str) -> None:
    with os.fdopen(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def push(module: AnsibleModule, tool: Skopeo | Docker, image: Image, name: str) -> None:
    given = module.params
    folder = tempfile.mkdtemp(dir=module.tmpdir)
    try:
        if given["username"]:
            account = (given["registry"], given["username"], given["password"])
            keep(folder, "auth.json", account_file(*account))
            keep_docker(folder, account)
        if given["ca"]:
            keep(folder, "ca.crt", given["ca"])
        to = Destination(name, given["tls"], folder, bool(given["username"]), bool(given["tls"] and given["ca"]))
        tool.push(image.source, image.transport, to)
    finally:
        shutil.rmtree(folder)


def in_registry(module: AnsibleModule, image: Image) -> str:
    given = module.params
    registry = Registry(given["registry"], given["tls"], given["ca"], given["username"], given["password"])
    try:
        return registry.config_digest(image.repository, image.tag)
    except RegistryError as exc:
        module.fail_json(
            msg=f"The registry {given['registry']} does not serve this machine: {exc}. See that it runs, and that "
            "gshare_local_registry, gshare_registry_tls, gshare_registry_ca_file and gshare_registry_username fit it."
        )


def run(module: AnsibleModule) -> dict[str, t.Any]:
    image = Image(module)
    tool = program(module)
    name = f"{module.params['registry']}/{image.repository}:{image.tag}"
    before = in_registry(module, image)
    try:
        wanted = image.config or tool.config(image.source)
    except PushError as exc:
        module.fail_json(msg=f"{image.given} cannot be read: {exc}. See that its name is right and you may read it.")
    result = {"changed": before != wanted, "image": name, "config": wanted}
    if module._diff and result["changed"]:
        line = {"before": f"{before}\n" if before else "", "after": f"{wanted}\n"}
        result["diff"] = [{"before_header": name, "after_header": name, **line}]
    if result["changed"] and not module.check_mode:
        try:
            push(module, tool, image, name)
        except PushError as exc:
            module.fail_json(msg=f"{image.given} cannot be pushed as {name}: {exc}.")
    return result


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "source": {"type": "str", "required": True},
            "name": {"type": "str", "default": ""},
            "registry": {"type": "str", "required": True},
            "tls": {"type": "bool", "default": False},
            "ca": {"type": "str", "default": ""},
            "username": {"type": "str", "default": ""},
            "password": {"type": "str", "default": "", "no_log": True},
        },
        supports_check_mode=True,
    )
    module.run_command_environ_update = {"LC_ALL": "C"}
    module.exit_json(**run(module))


if __name__ == "__main__":
    main()
