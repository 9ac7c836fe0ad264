#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kernel_settings
short_description: Kernel modules and sysctl values, now and after every reboot
version_added: 0.1.0
description:
  - Loads modules first and sets sysctl values then, so that values that come with a module (C(net.bridge.*)) work in
    the first run.
  - A module that is built into the kernel counts as loaded.
  - Values are written only where they differ. A value that cannot be written is no error if it is right already.
  - Everything is kept for the next boot in C(/etc/modules-load.d/NAME.conf) and C(/etc/sysctl.d/NAME.conf).
author: gshare.cluster contributors (@gshare)
extends_documentation_fragment:
  - gshare.cluster._attributes
options:
  name:
    description:
      - Name of the two files, without C(.conf).
      - C(sysctl.d) is read in the order of names, the last one wins. A name that begins with C(zz) comes after
        C(99-sysctl.conf).
    type: str
    required: true
  modules:
    description: Kernel modules.
    type: list
    elements: str
    default: []
  sysctls:
    description: Values by key.
    type: dict
    default: {}
seealso:
  - module: gshare.cluster.preflight_info
    description: Tells which modules are there without loading any.
"""

EXAMPLES = r"""
- name: What Kubernetes networking needs
  gshare.cluster.kernel_settings:
    name: zz-kubernetes
    modules: [overlay, br_netfilter]
    sysctls:
      net.bridge.bridge-nf-call-iptables: 1
      net.ipv4.ip_forward: 1
"""

RETURN = r"""
loaded:
  description: Modules that were loaded.
  returned: always
  type: list
  elements: str
  sample: [br_netfilter]
written:
  description: Keys of the values that were set.
  returned: always
  type: list
  elements: str
  sample: [net.ipv4.ip_forward]
"""

import os
import platform
import re
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kernel
from ansible_collections.gshare.cluster.plugins.module_utils._files import replace
from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def present(host: Host, name: str) -> bool:
    """Loaded, built in, or there under another sign."""
    key = _kernel.module_key(name)
    return (
        host.exists("/sys/module/" + key)
        or _kernel.is_filesystem(key, host.text("/proc/filesystems"))
        or (key in _kernel.FEATURES and host.exists(_kernel.FEATURES[key]))
        or _kernel.is_builtin(key, host.text(f"/lib/modules/{platform.release()}/modules.builtin"))
    )


class Settings:
    def __init__(self, module: AnsibleModule, host: Host) -> None:
        self.module = module
        self.host = host
        self.diffs: list[dict[str, str]] = []

    def load(self, names: list[str]) -> list[str]:
        missing = [name for name in names if not present(self.host, name)]
        for name in missing:
            self._diff(f"module {name}", "absent\n", "loaded\n")
            if self.module.check_mode:
                continue
            command = [self.module.get_bin_path("modprobe", True, ["/sbin", "/usr/sbin"]), "--", name]
            rc, out, err = self.module.run_command(command, environ_update={"LC_ALL": "C"})
            if rc and not present(self.host, name):
                self.module.fail_json(
                    msg=f"Kernel module {name} cannot be loaded into {platform.release()}: {(err or out).strip()} "
                    "(after a kernel upgrade reboot the machine; on small cloud kernels install the package with the "
                    "extra modules of that kernel)."
                )
        return missing

    def set(self, values: dict[str, str]) -> list[str]:
        written = []
        for key, value in values.items():
            path = _kernel.sysctl_path(key)
            before = _kernel.normal(self.host.text(path))
            if before == _kernel.normal(value):
                continue
            written.append(key)
            self._diff(key, before + "\n" if before else "absent\n", value + "\n")
            if not self.module.check_mode:
                self._write_value(key, path, value)
        return written

    def _write_value(self, key: str, path: str, value: str) -> None:
        try:
            fd = os.open(self.host.path(path), os.O_WRONLY)
            try:
                os.write(fd, value.encode() + b"\n")
            finally:
                os.close(fd)
        except OSError as exc:
            self.module.fail_json(msg=f"{key} cannot be set to {value}: {exc.strerror} ({path}).")

    def keep(self, path: str, text: str, wanted: bool) -> bool:
        """The file for the next boot; an absent one and nothing to say is right."""
        before = self.host.text(path)
        if before == text or (not wanted and not self.host.exists(path)):
            return False
        self._diff(path, before, text)
        if not self.module.check_mode:
            replace(self.module, str(self.host.path(path)), text.encode(), 0o644)
        return True

    def warn_overridden(self, name: str, values: dict[str, str]) -> None:
        """Somebody else's file that undoes a value at the next boot."""
        folder = "/etc/sysctl.d"
        files = {entry: self.host.text(f"{folder}/{entry}") for entry in self.host.names(folder, ".conf")}
        for key, value in values.items():
            other = _kernel.overriding(key, value, f"{name}.conf", files)
            if other:
                self.module.warn(f"{folder}/{other} sets {key} to another value at the next boot; remove that line.")

    def _diff(self, header: str, before: str, after: str) -> None:
        self.diffs.append({"before_header": header, "after_header": header, "before": before, "after": after})


def run(module: AnsibleModule, host: Host) -> dict[str, t.Any]:
    name = module.params["name"]
    if not _NAME.fullmatch(name):
        module.fail_json(
            msg=f"name: {name!r} cannot be the name of a file in /etc/sysctl.d; use letters, digits, dot, dash."
        )
    values = {key: str(value) for key, value in module.params["sysctls"].items()}
    settings = Settings(module, host)
    modules = module.params["modules"]
    changed = settings.keep(f"/etc/modules-load.d/{name}.conf", _kernel.modules_text(modules), bool(modules))
    changed |= settings.keep(f"/etc/sysctl.d/{name}.conf", _kernel.sysctl_text(values), bool(values))
    result: dict[str, t.Any] = {"loaded": settings.load(modules), "written": settings.set(values)}
    settings.warn_overridden(name, values)
    result["changed"] = bool(changed or result["loaded"] or result["written"])
    if module._diff:
        result["diff"] = settings.diffs
    return result


def main(root: str = "/") -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "modules": {"type": "list", "elements": "str", "default": []},
            "sysctls": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    module.exit_json(**run(module, Host(root)))


if __name__ == "__main__":
    main()
