# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which packages a machine's driver comes from. What apt and ubuntu-drivers know in, packages out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_driver as driver
from ansible_collections.gshare.cluster.plugins.module_utils import _gpu_pci as pci

# The last branch that serves cards before Turing.
LAST_CLOSED = "580"
_LINE = re.compile(r"^(nvidia-driver-(\d+)(-server)?(-open)?)\s*,?\s*(?:\(.*?provided by ([\w.+-]+)\))?", re.M)
_BRANCH = re.compile(r"-(\d{3,})(-server)?(-open)?$")


class Offer(t.NamedTuple):
    """A line of ubuntu-drivers; C(modules) is the package with the kernel modules."""

    name: str
    branch: int
    server: bool
    is_open: bool
    modules: str


class Machine(t.NamedTuple):
    """What the choice depends on; C(installed) are the names of driver packages that are there."""

    distribution: str
    kernel: str
    needs: str = pci.EITHER
    switches: bool = False
    installed: t.Sequence[str] = ()
    # Whether those of the running kernel are there.
    headers: bool = False
    # Whether apt has fetched package lists; a machine whose apt knows nothing yet gives no answer.
    lists: bool = True
    # Of the driver that is there, to complete it and not to change it.
    version: str = ""


class Choice(t.NamedTuple):
    """C(name) is for people; C(pin) is the version that apt is held to; C(signed) is whether Secure Boot lets it in."""

    name: str
    packages: list[str]
    pin: str
    signed: bool
    problem: str = ""


# Check mode on a machine that does not have Ubuntu's own tool yet.
UNKNOWN = Choice("what ubuntu-drivers will recommend", [], "", signed=True)


def skipped(problems: t.Sequence[str]) -> Choice:
    """Nobody is to install one."""
    text = "NVIDIA_DRIVER is skip, so no driver is installed: install one yourself, or set it to auto."
    return Choice("", [], "", signed=False, problem=" ".join([*problems, text]))


def offers(text: str) -> list[Offer]:
    """The lines of C(ubuntu-drivers list --gpgpu)."""
    return [Offer(hit[1], int(hit[2]), bool(hit[3]), bool(hit[4]), hit[5] or "") for hit in _LINE.finditer(text)]


def best(found: t.Iterable[Offer], needs: str) -> Offer | None:
    """Ubuntu's server branch, the newest that suits the cards; open modules where both do, prebuilt before DKMS."""
    fit = [
        one
        for one in found
        if one.server
        and (needs == pci.EITHER or one.is_open == (needs == pci.OPEN))
        and (needs != pci.CLOSED or one.branch <= int(LAST_CLOSED))
    ]
    return max(fit, key=lambda one: (one.modules.startswith("linux-modules-"), one.branch, one.is_open), default=None)


def headers(machine: Machine, offered: t.Container[str]) -> list[str]:
    """For the running kernel, and the package that brings those of later ones."""
    meta = f"linux-headers-{driver.flavour(machine.kernel)}"
    own = [] if machine.headers else [f"linux-headers-{machine.kernel}"]
    return own + ([meta] if meta in offered else [])


def no_headers(machine: Machine, packages: t.Sequence[str], offered: t.Container[str]) -> str:
    """DKMS needs the headers of the running kernel, and repositories drop those of old ones."""
    name = f"linux-headers-{machine.kernel}"
    if not machine.lists or name not in packages or name in offered:
        return ""
    return (
        f"apt has no package {name}, without which no module can be built for the running kernel: upgrade the kernel, "
        "reboot, and run again."
    )


def prebuilt(kernel: str, suffix: str) -> str:
    """Ubuntu's package with the signed modules of a branch for one kernel."""
    return f"linux-modules-nvidia-{suffix}-{kernel}"


def choose(machine: Machine, wish: str, version: str, listing: str, offered: t.Container[str]) -> Choice:
    """C(offered) are the packages that apt could install; asked for only where a choice hangs on it."""
    if not machine.needs:
        return Choice("", [], "", False, "The cards are of generations that no driver serves together.")
    if machine.distribution == "ubuntu":
        found = _ubuntu(machine, wish, version, listing, offered)
    else:
        found = _debian(machine, wish, version, offered)
    packages = [versioned(name, version) for name in found.packages]
    return found._replace(packages=packages, problem=found.problem or no_headers(machine, found.packages, offered))


def versioned(name: str, version: str) -> str:
    """As apt takes it, so that an installed package of another version is changed; modules follow the kernel."""
    return f"{name}={version}*" if version and re.match(r"nvidia-|libnvidia-|cuda-drivers", name) else name


def _debian(machine: Machine, wish: str, version: str, offered: t.Container[str]) -> Choice:
    """NVIDIA's repository: the part for computing without the one for displays, and modules that DKMS builds."""
    modules = "nvidia-kernel-dkms" if machine.needs == pci.CLOSED else "nvidia-kernel-open-dkms"
    pin = version or machine.version or (f"{LAST_CLOSED}." if machine.needs == pci.CLOSED else "")
    if wish == "auto":
        packages, name = ["nvidia-driver-cuda", modules], f"nvidia-driver-cuda with {modules}"
    else:
        packages, name = [wish], wish
        if wish.startswith("nvidia-driver"):
            packages.append(modules)
    if pin:
        name += f", version {pin.rstrip('.')}"
    if machine.switches:
        packages.append("nvidia-fabricmanager")
    return Choice(name, [*packages, "nvidia-persistenced", *headers(machine, offered)], pin, signed=False)


def _ubuntu(machine: Machine, wish: str, version: str, listing: str, offered: t.Container[str]) -> Choice:
    pin = version or machine.version
    suffix = _installed_suffix(machine) if wish == "auto" and not version else ""
    meta = ""
    if wish != "auto":
        hit = _BRANCH.search(wish)
        suffix = "".join(part or "" for part in hit.groups()) if hit else ""
        if not suffix:
            # A package of the user's own: all that it needs is its own business.
            return Choice(wish, [wish, *headers(machine, offered)], pin, signed=False)
    elif not suffix:
        found = [one for one in offers(listing) if not version or one.branch == int(version.partition(".")[0])]
        one = best(found, machine.needs)
        if not one:
            return Choice("", [], "", False, _nothing(listing, machine.needs))
        suffix, meta = one.name[len("nvidia-driver-") :], one.modules
    return _ubuntu_packages(machine, wish, suffix, meta, pin, offered)


def _ubuntu_packages(
    machine: Machine, wish: str, suffix: str, meta: str, pin: str, offered: t.Container[str]
) -> Choice:
    ready = prebuilt(machine.kernel, suffix)
    signed = ready in offered
    main = wish if wish != "auto" else f"nvidia-headless-no-dkms-{suffix}"
    if signed:
        meta = meta if meta.startswith("linux-modules-") else prebuilt(driver.flavour(machine.kernel), suffix)
        modules = [ready, *([meta] if meta in offered else [])]
    else:
        modules = [f"nvidia-dkms-{suffix}", *headers(machine, offered)]
    branch = suffix[: -len("-open")] if suffix.endswith("-open") else suffix
    packages = [main, f"nvidia-utils-{branch}", *modules]
    if machine.switches:
        number = branch.partition("-")[0]
        packages += [f"nvidia-fabricmanager-{number}", f"libnvidia-nscq-{number}"]
    kind = "signed modules" if signed else "modules that DKMS builds"
    return Choice(f"nvidia-driver-{suffix} ({kind})", packages, pin, signed)


def _installed_suffix(machine: Machine) -> str:
    """The branch that is there, for a driver that only lacks a part; none if its modules are of the wrong kind."""
    for start in ("nvidia-driver-", "nvidia-headless-no-dkms-", "nvidia-headless-", "linux-modules-nvidia-"):
        for name in machine.installed:
            hit = re.match(rf"{start}(\d{{3,}}(?:-server)?(?:-open)?)(?:-|$)", name)
            if hit and machine.needs in (pci.EITHER, pci.OPEN if hit[1].endswith("-open") else pci.CLOSED):
                return hit[1]
    return ""


def _nothing(listing: str, needs: str) -> str:
    seen = ", ".join(dict.fromkeys(one.name for one in offers(listing)))
    kind = "" if needs == pci.EITHER else f" with {needs} kernel modules"
    found = f"it lists {seen}" if seen else "it lists nothing"
    return (
        f"ubuntu-drivers finds no server driver{kind} for this machine ({found}); name the package yourself, as in "
        "NVIDIA_DRIVER=nvidia-driver-580-server."
    )
