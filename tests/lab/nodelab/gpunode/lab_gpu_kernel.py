# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the kernel of a machine with NVIDIA cards shows, put where it shows it: mounts, files, device nodes."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

SETTINGS = Path("/etc/lab/gpu")
STATE = Path("/run/lab-gpu")
LOADED = STATE / "loaded"
HOLDER = STATE / "holder"
REAL = STATE / "real"
FARMS = {
    "pci": Path("/sys/bus/pci/devices"),
    "module": Path("/sys/module"),
    "firmware": Path("/sys/firmware"),
    "driver": Path("/proc/driver"),
}
SECURE_BOOT = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MODULES = Path("/lib/modules")
CHARACTER_MAJOR, UVM_MAJOR = 195, 511
OWN_MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm", "nouveau", "nova_core")
DEFAULTS = {
    "holder": "none",
    "holder_stays": "no",
    "secure_boot": "unsupported",
    "module": "loads",
    "load": "boot",
    "needs": "any",
    "nvswitches": "0",
    "smi": "ok",
    "nvml": "0",
}


def read_settings() -> dict[str, str]:
    """Return the settings of the file with the defaults of those that it lacks."""
    found = dict(DEFAULTS)
    for line in SETTINGS.read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found[key.strip()] = value.strip()
    return found


def cards(settings: dict[str, str]) -> list[dict[str, str]]:
    """Return the cards in their order."""
    numbers = sorted({int(key[4:].partition(".")[0]) for key in settings if key.startswith("card") and "." in key})
    wanted = []
    for number in numbers:
        prefix = f"card{number}."
        card = {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
        wanted.append({"class": "0302", "device": "20b0", "minor": str(number), "memory": "0", **card})
    return wanted


def put(path: Path, text: str) -> None:
    """Write a file in place, made with its folder if it is absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+", encoding="utf-8") as stream:
        stream.truncate(0)
        stream.write(text)


def release() -> str:
    """Return the running kernel's name."""
    return os.uname().release


def loaded() -> str:
    """Return the version of the loaded module, empty if none is."""
    return LOADED.read_text(encoding="utf-8").strip().partition("=")[2] if LOADED.exists() else ""


def mount_farms() -> None:
    """Put a folder of the lab over each of the kernel's that shows something of a card; the real one is kept below."""
    for name, place in FARMS.items():
        real = REAL / name
        if real.is_dir() or not place.is_dir():
            continue
        real.mkdir(parents=True)
        run("mount", "--bind", str(place), str(real))
        # Else what is mounted over the one covers the other too.
        run("mount", "--make-private", str(real))
        run("mount", "-t", "tmpfs", "-o", "mode=755,size=4m", "lab-gpu", str(place))
        for entry in sorted(real.iterdir()):
            target = os.readlink(entry) if entry.is_symlink() else str(entry)
            (place / entry.name).symlink_to(target)


def show_device(address: str, fields: dict[str, str], driver: str) -> None:
    """Show one PCI function."""
    place = FARMS["pci"] / address
    place.mkdir()
    for name, value in fields.items():
        (place / name).write_text(f"{value}\n", encoding="ascii")
    if driver:
        (place / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")
        (place / "driver_override").write_text("(null)\n", encoding="ascii")


def pci_fields(device: str, kind: str) -> dict[str, str]:
    """Return what sysfs says of one of NVIDIA's functions; ``kind`` is its class, six digits."""
    alias = f"pci:v000010DEd0000{device.upper()}sv000010DEsd0000134Fbc{kind[:2]}sc{kind[2:4]}i{kind[4:]}"
    return {
        "vendor": "0x10de",
        "device": f"0x{device.lower()}",
        "class": f"0x{kind}",
        "subsystem_vendor": "0x10de",
        "subsystem_device": "0x134f",
        "revision": "0xa1",
        "numa_node": "0",
        "enable": "1",
        "modalias": alias,
    }


def show_pci(settings: dict[str, str]) -> None:
    """Show the cards and switches, bound to whatever holds them."""
    for entry in FARMS["pci"].iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
    driver = {"nova_core": "NovaCore", "none": ""}.get(holder(), holder())
    for card in cards(settings):
        show_device(card["bus"], pci_fields(card["device"], f"{card['class']}00"), "nvidia" if loaded() else driver)
    for number in range(int(settings["nvswitches"])):
        show_device(
            f"0000:{0xC5 + number:02x}:00.0", pci_fields("1af1", "068000"), "nvidia-nvswitch" if loaded() else ""
        )


def holder() -> str:
    """Return the module that holds the cards since boot, or none."""
    return HOLDER.read_text(encoding="utf-8").strip() if HOLDER.exists() else "none"


def show_modules() -> None:
    """Show which of the modules that matter are loaded."""
    place = FARMS["module"]
    for name in OWN_MODULES:
        if (place / name).is_dir() and not (place / name).is_symlink():
            shutil.rmtree(place / name)
    names = [holder()] if holder() != "none" else []
    if loaded():
        names += ["nvidia", "nvidia_uvm", "nvidia_modeset"]
    for name in names:
        (place / name).mkdir(exist_ok=True)
        put(place / name / "initstate", "live\n")
        put(place / name / "refcnt", "0\n")
        if name.startswith("nvidia"):
            put(place / name / "version", f"{loaded()}\n")


def show_firmware(settings: dict[str, str]) -> None:
    """Show whether UEFI started this machine, and its Secure Boot variable: four bytes of attributes, the value."""
    place = FARMS["firmware"] / "efi"
    if place.is_symlink():
        place.unlink()
    shutil.rmtree(place, ignore_errors=True)
    if settings["secure_boot"] == "unsupported":
        return
    (place / "efivars").mkdir(parents=True)
    (place / "fw_platform_size").write_text("64\n", encoding="ascii")
    enabled = settings["secure_boot"] == "enabled"
    (place / "efivars" / SECURE_BOOT).write_bytes(struct.pack("<IB", 6, enabled))


def show_proc(settings: dict[str, str]) -> None:
    """Show what the loaded module has in /proc/driver/nvidia."""
    place = FARMS["driver"] / "nvidia"
    shutil.rmtree(place, ignore_errors=True)
    if not loaded():
        return
    kind = (
        "x86_64 Kernel Module  {}"
        if (STATE / "closed").exists()
        else "Open Kernel Module for x86_64  {}  Release Build"
    )
    text = f"NVRM version: NVIDIA UNIX {kind.format(loaded())}  (dvs-builder@lab)  Tue Sep 23 10:11:16 UTC 2025\n"
    put(place / "version", f"{text}GCC version:  gcc version 12.2.0 (Debian 12.2.0-14+deb12u1) \n")
    put(place / "params", "EnableMSI: 1\n")
    for card in cards(settings):
        put(
            place / "gpus" / card["bus"] / "information",
            f"Model: \t\t {card.get('name', '')}\nIRQ:   \t\t 0\nGPU UUID: \t {card.get('uuid', '')}\n"
            f"Video BIOS: \t 92.00.45.00.03\nBus Type: \t PCIe\nBus Location: \t {card['bus']}\n"
            f"Device Minor: \t {card['minor']}\nGPU Firmware: \t {loaded()}\n",
        )


def show_devices(settings: dict[str, str]) -> None:
    """Make the device nodes of the cards, or take them away."""
    wanted = {}
    if loaded():
        wanted = {f"nvidia{card['minor']}": (CHARACTER_MAJOR, int(card["minor"])) for card in cards(settings)}
        wanted |= {"nvidiactl": (CHARACTER_MAJOR, 255), "nvidia-modeset": (CHARACTER_MAJOR, 254)}
        wanted |= {"nvidia-uvm": (UVM_MAJOR, 0), "nvidia-uvm-tools": (UVM_MAJOR, 1)}
    for path in Path("/dev").glob("nvidia*"):
        if path.name not in wanted and path.is_char_device():
            path.unlink()
    for name, (major, minor) in wanted.items():
        path = Path("/dev", name)
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
            path.chmod(0o666)


def show_containers() -> None:
    """Copy the settings to where containers get to see them: files that count as the driver's firmware."""
    text = SETTINGS.read_text(encoding="utf-8") + (f"loaded={loaded()}\n" if loaded() else "")
    for path in Path("/lib/firmware/nvidia").glob("*/gsp_ga10x.bin"):
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
            put(path, text)


def show() -> None:
    """Bring everything in line with the file."""
    settings = read_settings()
    last = STATE / "holder.asked"
    if not last.exists() or last.read_text(encoding="utf-8") != settings["holder"]:
        put(last, settings["holder"])
        put(HOLDER, settings["holder"])
    show_pci(settings)
    show_modules()
    show_firmware(settings)
    show_proc(settings)
    show_devices(settings)
    show_containers()


def run(*argv: str) -> None:
    """Run a command; end with what it says if it fails."""
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"lab-gpu: {' '.join(argv)}: {done.stderr.strip()}")
