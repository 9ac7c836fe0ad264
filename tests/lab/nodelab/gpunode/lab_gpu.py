#!/usr/bin/python3
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plays a machine with NVIDIA cards, inside a node of the lab: what its kernel would show, from the file /etc/lab/gpu.

It is the kernel and the firmware of that machine: it shows the cards below /sys/bus/pci/devices, which module holds
them, Secure Boot, and "loads" the nvidia module that a package has put on the disk. It does not: drive anything, have
interrupts, resources or config space of a card, write to the kernel's log (what the kernel would say is in the journal
of lab-gpu.service).
"""

from __future__ import annotations

import argparse
import fcntl
import struct
import sys
from pathlib import Path

import lab_gpu_kernel as machine

MODULES = Path("/lib/modules")
MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d")
SIGNED = b"~Module signature appended~\n"
CARD_KEYS = ("bus", "name", "uuid", "memory", "minor", "device", "class", "mig", "health", "xid")


class Refused(Exception):
    """The module does not load; the text is what modprobe says of it."""


def write_setting(key: str, value: str | None) -> None:
    """Change one line of the file, or take it out; the file stays the same file, which containers may have mounted."""
    lines = machine.SETTINGS.read_text(encoding="utf-8").splitlines()
    at = [index for index, line in enumerate(lines) if line.partition("=")[0].strip() == key]
    new = [] if value is None else [f"{key}={value}"]
    if at:
        lines[at[0] : at[0] + 1] = new
    else:
        lines += new
    machine.put(machine.SETTINGS, "\n".join(lines) + "\n")


def check_key(key: str) -> None:
    """End with a sentence for a key that means nothing."""
    card, _dot, rest = key.partition(".")
    if key in machine.DEFAULTS or (key.startswith("process") and key[7:].isdigit()):
        return
    if card.startswith("card") and card[4:].isdigit() and rest in CARD_KEYS:
        return
    known = ", ".join([*machine.DEFAULTS, "processN", *(f"cardN.{name}" for name in CARD_KEYS)])
    sys.exit(f"lab-gpu: there is no setting '{key}'; the settings are {known}.")


def module_file(name: str = "nvidia") -> Path:
    """Return where a driver package puts its module for the running kernel."""
    return MODULES / machine.release() / "updates" / "dkms" / f"{name}.ko"


def module_info(path: Path) -> dict[str, str]:
    """Return the fields of a module file that come from its .modinfo section, the first of each name."""
    found: dict[str, str] = {}
    for part in path.read_bytes().split(b"\0"):
        name, sign, value = part.partition(b"=")
        if sign and name.isalpha() and value.isascii():
            found.setdefault(name.decode(), value.decode().strip())
    return found


def is_signed(path: Path) -> bool:
    """Say whether a signature is appended."""
    return path.read_bytes().endswith(SIGNED)


def blacklisted(name: str) -> bool:
    """Say whether modprobe's configuration keeps a module from being loaded by itself."""
    names = {name, name.replace("_", "-")}
    for folder in MODPROBE:
        for path in sorted(Path(folder).glob("*.conf")):
            words = [line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
            if any(line[:1] == ["blacklist"] and line[1:2] and line[1] in names for line in words):
                return True
    return False


def boot() -> None:
    """Do what a kernel does when the machine starts: find the cards, give them to whoever takes them first."""
    machine.mount_farms()
    settings = machine.read_settings()
    taken = settings["holder"]
    if taken != "none" and settings["holder_stays"] != "yes" and blacklisted(taken):
        print(f"{taken} is blacklisted and does not take the cards")
        taken = "none"
    machine.put(machine.STATE / "holder.asked", settings["holder"])
    machine.put(machine.HOLDER, taken)
    if module_file().exists():
        try:
            load()
        except Refused as refused:
            print(refused)
    machine.show()


def load() -> None:
    """Load the module of the running kernel, if it can be loaded here."""
    settings = machine.read_settings()
    path = module_file()
    error = "modprobe: ERROR: could not insert 'nvidia': "
    if not path.exists():
        raise Refused(f"modprobe: FATAL: Module nvidia not found in directory {MODULES / machine.release()}")
    if settings["secure_boot"] == "enabled" and not is_signed(path):
        raise Refused(f"kernel: Loading of unsigned module is rejected\n{error}Key was rejected by service")
    if settings["module"] != "loads":
        raise Refused(f"kernel: NVRM: {settings['module']}\n{error}No such device")
    if machine.holder() != "none":
        count = len(machine.cards(settings))
        raise Refused(
            f"kernel: NVRM: The NVIDIA probe routine was not called for {count} device(s).\n"
            "kernel: NVRM: This can occur when another driver was loaded and obtained ownership of the NVIDIA "
            f"device(s): {machine.holder()}\nkernel: NVRM: No NVIDIA devices probed.\n{error}No such device"
        )
    if not machine.cards(settings):
        raise Refused(f"kernel: NVRM: No NVIDIA GPU found.\n{error}No such device")
    info = module_info(path)
    is_open = info.get("license", "") != "NVIDIA"
    if settings["needs"] == "open" and not is_open:
        raise Refused(
            "kernel: NVRM: The NVIDIA GPU installed in this system requires use of the NVIDIA open kernel modules.\n"
            f"{error}No such device"
        )
    if settings["needs"] == "closed" and is_open:
        raise Refused(
            "kernel: NVRM: The NVIDIA GPU is not supported by open nvidia.ko because it does not include the required "
            f"GPU System Processor (GSP).\n{error}No such device"
        )
    machine.put(machine.LOADED, f"loaded={info['version']}\n")
    if is_open:
        (machine.STATE / "closed").unlink(missing_ok=True)
    else:
        machine.put(machine.STATE / "closed", "")
    print(f"kernel: nvidia {info['version']} loaded")


def load_now() -> None:
    """Load the module on a running machine, which most settings of `load` refuse: a reboot is needed."""
    if machine.loaded():
        return
    if module_file().exists() and machine.read_settings()["load"] != "any":
        sys.exit("modprobe: ERROR: could not insert 'nvidia': No such device")
    try:
        load()
    except Refused as refused:
        sys.exit(str(refused))
    machine.show()


def unload() -> None:
    """Take the module away again."""
    if machine.read_settings()["load"] != "any" or any(key.startswith("process") for key in machine.read_settings()):
        sys.exit("modprobe: FATAL: Module nvidia is in use.")
    machine.LOADED.unlink(missing_ok=True)
    machine.show()


def sign(signer: str) -> None:
    """Append a signature to the modules on the disk, in the kernel's oldest form, which carries the signer's name."""
    for path in sorted(module_file().parent.glob("nvidia*.ko")):
        data = path.read_bytes()
        if data.endswith(SIGNED):
            continue
        name, key, signature = signer.encode(), bytes(range(20)), bytes(256)
        trailer = struct.pack(">BBBBB3xI", 1, 4, 1, len(name), len(key), len(signature))
        path.write_bytes(data + name + key + signature + trailer + SIGNED)


def add_kernel(name: str, *, headers: bool) -> None:
    """Put another kernel beside the running one, as an upgrade does; nothing can boot it."""
    folder = MODULES / name
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
        (folder / part).touch()
    Path("/boot", f"vmlinuz-{name}").touch()
    if headers:
        Path("/usr/src", f"linux-headers-{name}").mkdir(parents=True, exist_ok=True)
        if not (folder / "build").is_symlink():
            (folder / "build").symlink_to(f"/usr/src/linux-headers-{name}")
        for hook in sorted(Path("/etc/kernel/header_postinst.d").glob("*")):
            machine.run(str(hook), name)
    machine.run("depmod", name)


def main() -> None:
    """Understand the command line."""
    parser = argparse.ArgumentParser(prog="lab-gpu", description="The pretended cards of this node: docs/lab.md")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("boot", "refresh", "load", "unload", "show"):
        commands.add_parser(name)
    command = commands.add_parser("set")
    command.add_argument("key")
    command.add_argument("value", nargs="+")
    commands.add_parser("unset").add_argument("key")
    commands.add_parser("sign").add_argument("signer", nargs="?", default="lab signing key")
    command = commands.add_parser("kernel")
    command.add_argument("name")
    command.add_argument("--headers", action="store_true")
    arguments = parser.parse_args()
    if not machine.SETTINGS.exists():
        sys.exit(f"lab-gpu: this node has no cards: there is no {machine.SETTINGS}.")
    machine.STATE.mkdir(exist_ok=True)
    with open(machine.STATE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        obey(arguments)


def obey(arguments: argparse.Namespace) -> None:
    """Do what was asked for."""
    if arguments.command in ("set", "unset"):
        check_key(arguments.key)
        write_setting(arguments.key, " ".join(arguments.value) if arguments.command == "set" else None)
        machine.show()
    elif arguments.command == "show":
        state = f"# loaded: {machine.loaded() or 'nothing'}; held by: {machine.holder()}"
        print(machine.SETTINGS.read_text(encoding="utf-8") + state)
    elif arguments.command == "sign":
        sign(arguments.signer)
    elif arguments.command == "kernel":
        add_kernel(arguments.name, headers=arguments.headers)
    else:
        {"boot": boot, "refresh": machine.show, "load": load_now, "unload": unload}[arguments.command]()


if __name__ == "__main__":
    main()
