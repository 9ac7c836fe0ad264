# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gathers everything about the cards of this machine and their driver. Reads and asks, changes nothing.

Note that this module util is **PRIVATE** to the collection. The parsing is in _gpu_pci, _gpu_driver and _gpu_smi.
"""

from __future__ import annotations

import os
import platform
import time
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import (
    _dpkg,
    _gpu_blacklist,
    _gpu_command,
    _gpu_driver,
    _gpu_pci,
    _gpu_smi,
    _gpu_use,
    _gpu_verdict,
)
from ansible_collections.gshare.cluster.plugins.module_utils._preflight import assignments

if t.TYPE_CHECKING:
    from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

_PCI = "/sys/bus/pci/devices"
_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
# For programs that answer from files.
_QUICK = 60


def devices(host: Host) -> list[_gpu_pci.Device]:
    """NVIDIA's functions on the PCI bus."""
    found = []
    for address in host.names(_PCI):
        folder = f"{_PCI}/{address}"
        vendor = host.text(f"{folder}/vendor", 32).strip()
        if _gpu_pci.number(vendor) == _gpu_pci.NVIDIA:
            device, kind = (host.text(f"{folder}/{name}", 32).strip() for name in ("device", "class"))
            found.append(_gpu_pci.Device(address, vendor, device, kind, link(host, f"{folder}/driver")))
    return found


def link(host: Host, name: str) -> str:
    """The last part of where a link leads."""
    try:
        return os.path.basename(os.readlink(host.path(name)))
    except OSError:
        return ""


def secure_boot(host: Host) -> str:
    return _gpu_driver.secure_boot(host.data(_SECURE_BOOT, 16), host.exists("/sys/firmware/efi"))


class Gather:
    def __init__(
        self,
        host: Host,
        smi_timeout: float = 120,
        ask: _gpu_command.Ask = _gpu_command.ask,
        running: str = "",
    ) -> None:
        self.host = host
        self.smi_timeout = smi_timeout
        self.ask = ask
        self.running = running or platform.release()

    def facts(self, driver: str = "auto") -> dict[str, t.Any]:
        """All facts with the verdict."""
        found = devices(self.host)
        cards, switches = _gpu_pci.cards(found), _gpu_pci.switches(found)
        # Asking loads the module where it can be loaded, so what is loaded is looked at after.
        smi = _gpu_smi.data(self.ask(_gpu_smi.QUERY, self.smi_timeout))
        newest = self.newest()
        modules, module_time = self.modules(newest)
        packages = self.packages()
        facts: dict[str, t.Any] = {
            "cards": cards,
            "nvswitches": switches,
            "needs": _gpu_pci.needs(cards),
            "kernel": {"running": self.running, "newest": newest},
            "modules": modules,
            "module_time": module_time,
            "headers": self.headers(),
            "loaded": self.loaded(),
            "library": self.library(),
            "packages": packages,
            "smi": smi,
            "smi_timeout": int(self.smi_timeout),
            "secure_boot": secure_boot(self.host),
            "fabric_manager": self.fabric_manager(bool(switches), packages),
            "persistence": self.persistence(),
            "system": self.system(),
            "blacklist": _gpu_blacklist.state(self.host),
            "booted": self.booted(),
            "driver": driver,
        }
        facts["processes"] = _gpu_use.processes(self.host, self.smi_timeout, self._after(smi))
        facts["pods"] = _gpu_use.pods(self.host)
        facts["in_use"] = _gpu_use.sentences(facts["processes"], facts["pods"], self.host)
        return {**facts, **_gpu_verdict.judge(facts)._asdict()}

    def _after(self, smi: t.Mapping[str, t.Any]) -> _gpu_command.Ask:
        """One that failed is not asked again, it might take its whole time limit once more."""
        failed = _gpu_command.Answer(smi["status"], smi["message"], timed_out=smi["timed_out"])
        return self.ask if smi["status"] == 0 else lambda argv, timeout: failed

    def newest(self) -> str:
        """Kernels that can boot: a folder of modules that removed packages left behind holds no list of them."""
        names = self.host.names("/lib/modules")
        there = [
            name
            for name in names
            if self.host.exists(f"/boot/vmlinuz-{name}")
            or (self.host.exists(f"/lib/modules/{name}/modules.builtin") and not self.host.names("/boot", self.running))
        ]
        return _gpu_driver.newest(there, self.running)

    def modules(self, newest: str) -> tuple[list[dict[str, t.Any]], float]:
        """The module for the running and for the newest kernel, and since when the running one's is there."""
        found, since = [], 0.0
        for kernel in dict.fromkeys((self.running, newest)):
            answer = self.ask(("modinfo", "-k", kernel, "nvidia"), _QUICK)
            if answer.status != 0:
                continue
            module = _gpu_driver.module(kernel, answer.text)
            path = module.pop("file")
            if kernel == self.running:
                since = self.changed(path)
            found.append(module)
        return found, since

    def changed(self, path: str) -> float:
        """When a file came here. Its own date is that of the package's making."""
        try:
            return os.stat(self.host.path(path)).st_ctime if path else 0.0
        except OSError:
            return 0.0

    def headers(self) -> list[str]:
        return [
            name for name in self.host.names("/lib/modules") if self.host.path(f"/lib/modules/{name}/build").exists()
        ]

    def loaded(self) -> dict[str, t.Any]:
        version = _gpu_driver.loaded_version(self.host.text("/proc/driver/nvidia/version", 4096))
        return {
            "nvidia": version,
            "nouveau": self.host.exists("/sys/module/nouveau"),
            "nova_core": self.host.exists("/sys/module/nova_core"),
        }

    def library(self) -> str:
        """Where the link that programs use leads; a file that no link names does not count beside it."""
        names: list[str] = []
        for folder in _LIBRARIES:
            target = link(self.host, f"{folder}/libnvidia-ml.so.1")
            if target:
                return _gpu_driver.library_version([target]) or _gpu_driver.library_version(
                    [os.path.basename(self.host.real(f"{folder}/libnvidia-ml.so.1"))]
                )
            names += [name for name in self.host.names(folder) if name.startswith("libnvidia-ml.so.")]
        return _gpu_driver.library_version(names)

    def packages(self) -> list[dict[str, t.Any]]:
        return _gpu_driver.packages(self.ask(_dpkg.query(_gpu_driver.PACKAGES), _QUICK).text)

    def fabric_manager(self, needed: bool, packages: list[dict[str, t.Any]]) -> dict[str, t.Any]:
        versions = [one["version"] for one in packages if one["name"].startswith("nvidia-fabricmanager")]
        active = bool(needed and self.ask(("systemctl", "is-active", "nvidia-fabricmanager"), _QUICK).status == 0)
        version = versions[0].rpartition(":")[2].partition("-")[0] if versions else ""
        return {"needed": needed, "version": version, "active": active}

    def persistence(self) -> str:
        """State of the daemon that keeps cards ready; empty where it is not installed."""
        if not self.host.unit_file("nvidia-persistenced.service"):
            return ""
        return self.ask(("systemctl", "is-active", "nvidia-persistenced"), _QUICK).text.strip()

    def system(self) -> str:
        """As NVIDIA names systems in its repositories: debian12/x86_64."""
        release = assignments(self.host.text("/etc/os-release"))
        name = release.get("ID", "") + release.get("VERSION_ID", "").replace(".", "")
        return f"{name}/{'sbsa' if platform.machine() == 'aarch64' else platform.machine()}"

    def booted(self) -> float:
        stat, uptime = self.host.text("/proc/1/stat", 4096), self.host.text("/proc/uptime", 64)
        return _gpu_driver.started(stat, uptime, os.sysconf("SC_CLK_TCK"), time.time())
