# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a GPU node without a card needs: the file that describes its cards, and the programs of its pretended driver."""

from __future__ import annotations

import os
import shutil
import typing as t
import uuid
from pathlib import Path

from nodelab import gobuild, process, versions
from nodelab.gpunode.lab_gpu_kernel import DEFAULTS
from nodelab.paths import LAB_DIR

SOURCES = LAB_DIR / "gpusrc"
TOOLKIT_SOURCES = LAB_DIR / "gotoolkit"
TOOLKIT_MODULE = "github.com/NVIDIA/nvidia-container-toolkit"
TOOLKIT_PROGRAMS = ["nvidia-cdi-hook", "nvidia-container-runtime", "nvidia-container-runtime-hook", "nvidia-ctk"]
TOOLKIT_UNITS = ["systemd/nvidia-cdi-refresh.path", "systemd/nvidia-cdi-refresh.service"]
TOOLKIT_FILES = [*TOOLKIT_UNITS, "systemd/nvidia-cdi-refresh.env", "systemd/10-container-engines.conf"]

# Libraries that NVIDIA's CDI specification looks for; all but the first do nothing.
NVML = "libnvidia-ml"
STUBS = {"libcuda": "libcuda.so.1", "libnvidia-ptxjitcompiler": "libnvidia-ptxjitcompiler.so.1"}
STUBS |= {"libnvidia-nvvm": "libnvidia-nvvm.so.4", "libnvidia-cfg": "libnvidia-cfg.so.1"}
STUBS |= {"libnvidia-nscq": "libnvidia-nscq.so.2"}
MODULES = ["nvidia", "nvidia-drm", "nvidia-modeset", "nvidia-uvm"]
LICENCES = {"open": "Dual MIT/GPL", "closed": "NVIDIA"}

NODE = Path(__file__).resolve().parent / "gpunode"
UNITS = "etc/systemd/system"
NODE_FILES = {
    "lab_gpu.py": ("usr/local/lib/lab-gpu/lab_gpu.py", 0o755),
    "lab_gpu_kernel.py": ("usr/local/lib/lab-gpu/lab_gpu_kernel.py", 0o644),
    "lab-gpu.conf": ("etc/modprobe.d/lab-gpu.conf", 0o644),
    "lab-gpu.service": (f"{UNITS}/lab-gpu.service", 0o644),
    "lab-gpu-edited.path": (f"{UNITS}/lab-gpu-edited.path", 0o644),
    "lab-gpu-edited.service": (f"{UNITS}/lab-gpu-edited.service", 0o644),
}

_CARDS = (("0000:07:00.0", 0), ("0000:0f:00.0", 1))


def furnish(root: Path, lab: str, node: str) -> None:
    """Put what plays the cards into the disk of a node."""
    for name, (place, mode) in NODE_FILES.items():
        write(root / place, (NODE / name).read_text(encoding="utf-8"), mode)
    command = root / "usr/local/sbin/lab-gpu"
    command.parent.mkdir(parents=True)
    command.symlink_to("../lib/lab-gpu/lab_gpu.py")
    for unit, target in (("lab-gpu.service", "sysinit.target"), ("lab-gpu-edited.path", "multi-user.target")):
        wants = root / UNITS / f"{target}.wants"
        wants.mkdir(parents=True)
        (wants / unit).symlink_to(f"/{UNITS}/{unit}")
    write(root / "etc/lab/gpu", settings(lab, node), 0o644)


def write(path: Path, text: str, mode: int) -> None:
    """Write a file and the folders above it, readable for all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def settings(lab: str, node: str) -> str:
    """Return the text of /etc/lab/gpu of a node just installed: two cards, nothing wrong."""
    lines = [
        "# The cards of this node and what is wrong with them; docs/lab.md explains the keys.",
        "# `lab-gpu set KEY VALUE` changes a line and what the node shows of it at once.",
    ]
    for bus, number in _CARDS:
        card = {
            "bus": bus,
            "name": "NVIDIA A100-SXM4-40GB",
            "uuid": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{number}.{node}.{lab}.lab.invalid')}",
            "memory": "40960",
            "minor": str(number),
            "device": "20b0",
            "class": "0302",
            "mig": "disabled",
            "health": "ok",
            "xid": "0",
        }
        lines += [f"card{number}.{key}={value}" for key, value in card.items()]
    return "\n".join([*lines, *(f"{key}={value}" for key, value in DEFAULTS.items())]) + "\n"


def compile_drivers(folder: Path) -> None:
    """Compile each version of the driver into ``folder``/VERSION."""
    for version, cuda in versions.NVIDIA_DRIVERS.items():
        (folder / version).mkdir()
        compile_driver(folder / version, version, cuda)


def compile_driver(target: Path, version: str, cuda: int) -> None:
    """Compile NVML, nvidia-smi, the other libraries and the modules of one version into ``target``."""
    flags = ["-O1", "-s", f'-DVERSION="{version}"', f"-DCUDA={cuda}"]
    shared = [*flags, "-shared", "-fPIC"]
    nvml = target / f"{NVML}.so.{version}"
    _gcc(*shared, f"-Wl,-soname,{NVML}.so.1", "-o", nvml, SOURCES / "nvml.c", SOURCES / "unsupported.c")
    for name, soname in STUBS.items():
        _gcc(*shared, f"-Wl,-soname,{soname}", "-o", target / f"{name}.so.{version}", SOURCES / "stub.c")
    _gcc(*flags, "-o", target / "nvidia-smi", SOURCES / "nvidia-smi.c", "-ldl")
    for kind, licence in LICENCES.items():
        (target / kind).mkdir()
        for name in MODULES:
            strings = [f'-DNAME="{name.replace("-", "_")}"', f'-DLICENSE="{licence}"', f'-DVERSION="{version}"']
            main = ["-DMAIN"] if name == "nvidia" else []
            _gcc("-c", *strings, *main, "-o", target / kind / f"{name}.ko", SOURCES / "module.c")


def build_toolkit(folder: Path, go: Path, cache: Path, on_package: t.Callable[[str], None]) -> None:
    """Build NVIDIA's container toolkit from its module into ``folder``/bin and copy its units beside them."""
    work = folder / "work"
    shutil.copytree(TOOLKIT_SOURCES, work)
    env = {
        **gobuild.GO_ENV,
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": "-O1 -Wno-deprecated-declarations",
        "GOCACHE": str(cache / "go/build"),
        "GOMODCACHE": str(cache / "go/mod"),
    }
    info = f"{TOOLKIT_MODULE}/internal/info.version={versions.NVIDIA_TOOLKIT}"
    (folder / "bin").mkdir()
    process.run(
        [
            *(go, "build", "-v", "-trimpath", "-gcflags=all=-dwarf=false"),
            # NVML is looked up when it is used, so its functions may be absent when the program starts.
            *("-ldflags", f"-s -w -extldflags=-Wl,-z,lazy -X {info}", "-o", f"{folder / 'bin'}{os.sep}"),
            *(f"{TOOLKIT_MODULE}/cmd/{name}" for name in TOOLKIT_PROGRAMS),
        ],
        cwd=work,
        env=env,
        on_line=on_package,
    )
    module = process.run([go, "list", "-m", "-f", "{{.Dir}}", TOOLKIT_MODULE], cwd=work, env=env).strip()
    for name in TOOLKIT_FILES:
        shutil.copyfile(Path(module, "deployments", name), folder / Path(name).name)
    shutil.rmtree(work)


def _gcc(*arguments: str | Path) -> None:
    process.run(["gcc", *arguments])
