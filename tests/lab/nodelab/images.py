# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The images that a cluster of the lab pulls, each from the programs that the lab built or that Debian has."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

from nodelab import process, versions
from nodelab.errors import LabError
from nodelab.oci import Image, Layer, Registry

XTABLES = "/usr/sbin/xtables-nft-multi"
XTABLES_NAMES = [f"{family}{suffix}" for family in ("iptables", "ip6tables") for suffix in ("", "-save", "-restore")]
NETWORK_TOOLS = [XTABLES, "/usr/sbin/nft", "/usr/sbin/conntrack"]

BASE = Layer(
    texts=(
        ("/etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"),
        ("/etc/group", "root:x:0:\nnobody:x:65534:\n"),
        ("/etc/nsswitch.conf", "hosts: files dns\n"),
    ),
    folders=(("/tmp", 0o1777), ("/root", 0o700), ("/run", 0o755), ("/var", 0o755), ("/etc", 0o755)),
)
"""What every image has below its program."""


STANDINS = "/opt/standins"
INGRESS_NGINX = "registry.k8s.io/ingress-nginx/controller"
INGRESS_NGINX_CERTGEN = "registry.k8s.io/ingress-nginx/kube-webhook-certgen"


@dataclasses.dataclass(frozen=True)
class Parts:
    """What images are made from: folders of programs, single programs, the unpacked packages of Debian, and the
    certificate of the lab's authority.
    """

    binaries: Path
    pause: Path
    debian: Path
    standins: Path
    nvidia: Path
    authority: Path


def program_files(program: str | Path, path: str | None = None) -> list[tuple[Path, str]]:
    """Return a program of this machine and the libraries it loads, as (source, path in the image)."""
    source = Path(program).resolve()
    if not source.exists():
        raise LabError(f"{program} is not on this machine; `lab build` installs the package it comes from.")
    files = [(source, path or str(program))]
    answer = subprocess.run(["ldd", source], capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        files += [(Path(name).resolve(), name) for name in loaded_libraries(answer.stdout)]
    return files


def loaded_libraries(ldd_output: str) -> list[str]:
    """Return the absolute paths among what ldd prints, one for each line."""
    found = []
    for line in ldd_output.splitlines():
        paths = [word for word in line.split() if word.startswith("/")]
        found += paths[:1]
    return found


def busybox_layer(program: Path) -> Layer:
    """Return busybox and its libraries as /bin/busybox with a link in /bin for each applet.

    It is not the static one: that cannot look up a host name in a container, which has no libraries to load for it.
    """
    applets = process.run([program, "--list"]).split()
    links = tuple((f"/bin/{name}", "busybox") for name in sorted(set(applets) - {"busybox"}))
    return Layer(files=tuple(program_files(program, "/bin/busybox")), links=links)


def network_layer() -> Layer:
    """Return iptables (nft), nft and conntrack of this machine, with their libraries and extensions."""
    files = {path: source for tool in NETWORK_TOOLS for source, path in program_files(tool)}
    extensions = _xtables_folder()
    for extension in sorted(extensions.glob("*.so")):
        files.update({path: source for source, path in program_files(extension)})
    links = tuple((f"/usr/sbin/{name}", os.path.basename(XTABLES)) for name in XTABLES_NAMES)
    return Layer(files=tuple((source, path) for path, source in sorted(files.items())), links=links)


def debian_layer(unpacked: Path) -> Layer:
    """Return a small Debian: busybox for its tools and the whole C library, in a file system with /usr merged.

    ``unpacked`` holds the contents of the packages busybox and libc6.
    """
    libraries = [folder for folder in unpacked.glob("**/x86_64-linux-gnu") if (folder / "libc.so.6").is_file()]
    if not libraries:
        raise LabError(f"The package libc6 in {unpacked} has no libc.so.6 for amd64.")
    target = "/usr/lib/x86_64-linux-gnu"
    files = [(file.resolve(), f"{target}/{file.name}") for file in sorted(libraries[0].glob("*.so*"))]
    files += [
        (unpacked / "bin/busybox", "/usr/bin/busybox"),
        (libraries[0] / "ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2"),
    ]
    applets = process.run([unpacked / "bin/busybox", "--list"]).split()
    links = [(f"/usr/bin/{name}", "busybox") for name in sorted(set(applets) - {"busybox"})]
    links += [(f"/{name}", f"usr/{name}") for name in ("bin", "sbin", "lib", "lib64")]
    release = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n'
    return Layer(
        files=tuple(files),
        links=tuple(links),
        texts=(
            ("/etc/os-release", release),
            ("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
            ("/etc/ld.so.conf.d/x86_64-linux-gnu.conf", f"/lib/x86_64-linux-gnu\n{target}\n"),
        ),
    )


def standin_layer(programs: Path, *names: str) -> Layer:
    """Return the program of the stand-ins under the names that choose its parts."""
    return Layer(files=((programs / "standins", STANDINS),), links=tuple((name, STANDINS) for name in names))


def gpu_images(parts: Parts) -> list[Image]:
    """Return what GPU workers and the ingress need."""
    debian = (BASE, debian_layer(parts.debian))
    hami = ("/usr/bin/nvidia-device-plugin", "/usr/bin/scheduler", "/usr/bin/vGPUmonitor")
    certgen = "/kube-webhook-certgen"
    gpus = ("NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=utility")
    events = Layer(files=((parts.standins / "gpu-events", "/usr/bin/gpu-events"),))
    plugin = Layer(files=tuple((program, f"/usr/bin/{program.name}") for program in sorted(parts.nvidia.iterdir())))
    images = [
        Image(
            repository="registry-1.docker.io/library/debian",
            tag=versions.DEBIAN_TAG,
            layers=debian,
            command=("bash",),
            labels=_labels("Debian's packages busybox and libc6 only: no bash, no apt, no other packages"),
        ),
        Image(
            repository="registry-1.docker.io/projecthami/hami",
            tag=f"v{versions.HAMI}",
            layers=(*debian, standin_layer(parts.standins, *hami), events),
            labels=_labels("tests/lab/standins, a stand-in for HAMi that limits nothing"),
            env=gpus,
        ),
        Image(
            repository="nvcr.io/nvidia/k8s-device-plugin",
            tag=f"v{versions.NVIDIA_PLUGIN}",
            layers=(*debian, plugin),
            entrypoint=("nvidia-device-plugin",),
            labels=_labels(f"github.com/NVIDIA/k8s-device-plugin v{versions.NVIDIA_PLUGIN}"),
            env=("NVIDIA_DISABLE_REQUIRE=true", *gpus),
        ),
    ]
    for repository, tag, name in (
        (INGRESS_NGINX, versions.INGRESS_NGINX, "/nginx-ingress-controller"),
        ("registry-1.docker.io/library/traefik", versions.TRAEFIK, "/usr/local/bin/traefik"),
        (INGRESS_NGINX_CERTGEN, versions.INGRESS_NGINX_CERTGEN, certgen),
        ("registry-1.docker.io/liangjw/kube-webhook-certgen", versions.HAMI_CERTGEN, certgen),
    ):
        images.append(
            Image(
                repository=repository,
                tag=tag,
                layers=(BASE, standin_layer(parts.standins, name)),
                # The real controller starts below an init program, which its chart's arguments follow.
                entrypoint=() if repository == INGRESS_NGINX else (name,),
                labels=_labels("tests/lab/standins, a stand-in"),
            )
        )
    return images


def registry_image(parts: Parts, below: tuple[Layer, ...]) -> Image:
    """Return the registry; as a mirror it fetches from the lab's upstream, whose authority it has to trust."""
    return Image(
        repository="registry-1.docker.io/library/registry",
        tag=versions.REGISTRY,
        layers=(
            *below,
            Layer(
                files=tuple(program_files("/usr/bin/docker-registry", "/bin/registry")),
                texts=(("/etc/ssl/certs/ca-certificates.crt", parts.authority.read_text(encoding="utf-8")),),
            ),
        ),
        entrypoint=("registry",),
        command=("serve", "/etc/distribution/config.yml"),
        labels=_labels("Debian's package docker-registry, which is older than the image it stands in for"),
    )


def all_images(parts: Parts) -> list[Image]:
    """Return every image of the lab's registry."""
    binaries, pause = parts.binaries, parts.pause
    tools = (BASE, busybox_layer(parts.debian / "bin/busybox"), network_layer())
    kubernetes = f"v{versions.KUBERNETES}"
    images = [
        _program_image(f"registry.k8s.io/{name}", kubernetes, binaries / name, f"k8s.io/kubernetes {kubernetes}")
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ]
    return [
        *images,
        _program_image(
            "registry.k8s.io/kube-proxy",
            kubernetes,
            binaries / "kube-proxy",
            f"k8s.io/kubernetes {kubernetes}",
            below=tools,
        ),
        _program_image(
            "registry.k8s.io/etcd",
            versions.ETCD_TAG,
            binaries / "etcd",
            f"go.etcd.io/etcd/server/v3 v{versions.ETCD_SOURCE}",
        ),
        _program_image(
            "registry.k8s.io/coredns/coredns",
            versions.COREDNS_TAG,
            binaries / "coredns",
            f"github.com/coredns/coredns v{versions.COREDNS_SOURCE}, plugins of kubeadm's Corefile only",
            path="/coredns",
        ),
        _program_image(
            "registry.k8s.io/pause", versions.PAUSE_TAG, pause, f"k8s.io/kubernetes {kubernetes}", path="/pause"
        ),
        _program_image(
            "ghcr.io/flannel-io/flannel",
            f"v{versions.FLANNEL}",
            binaries / "flanneld",
            f"github.com/flannel-io/flannel v{versions.FLANNEL} without the backends udp (amd64) and tencentvpc",
            path="/opt/bin/flanneld",
            below=tools,
        ),
        _program_image(
            "ghcr.io/flannel-io/flannel-cni-plugin",
            versions.FLANNEL_CNI_TAG,
            binaries / "cni-flannel",
            f"github.com/containernetworking/plugins v{versions.FLANNEL_CNI}, meta/flannel",
            path="/flannel",
            below=tools[:2],
        ),
        _program_image(
            "registry-1.docker.io/rancher/local-path-provisioner",
            f"v{versions.LOCAL_PATH}",
            binaries / "local-path-provisioner",
            f"github.com/rancher/local-path-provisioner v{versions.LOCAL_PATH}",
            path="/usr/bin/local-path-provisioner",
            below=tools[:2],
        ),
        Image(
            repository="registry-1.docker.io/library/busybox",
            tag=versions.BUSYBOX_TAG,
            layers=tools[:2],
            command=("sh",),
            labels=_labels("Debian's package busybox"),
        ),
        registry_image(parts, tools[:2]),
        *gpu_images(parts),
    ]


def compile_pause(source: Path, target: Path) -> None:
    """Compile pause.c of the Kubernetes sources into a static program."""
    process.run([
        *("gcc", "-Os", "-Wall", "-Werror", "-static", f"-DVERSION=v{versions.PAUSE_TAG}-lab"),
        *("-o", str(target), str(source)),
    ])  # fmt: skip


def write_registry(root: Path, parts: Parts) -> None:
    """Write all images into a fresh registry storage below ``root``."""
    registry = Registry(root)
    for image in all_images(parts):
        process.check()
        registry.add(image)


def _program_image(
    repository: str,
    tag: str,
    program: Path,
    source: str,
    *,
    path: str | None = None,
    below: tuple[Layer, ...] = (BASE,),
) -> Image:
    place = path or f"/usr/local/bin/{program.name}"
    return Image(
        repository=repository,
        tag=tag,
        layers=(*below, Layer(files=((program, place),))),
        entrypoint=(place,),
        labels=_labels(source),
    )


def _labels(source: str) -> tuple[tuple[str, str], ...]:
    return (
        ("org.opencontainers.image.title", "made for the lab of gshare.cluster"),
        ("org.opencontainers.image.description", f"built from {source}"),
    )


def _xtables_folder() -> Path:
    for folder in Path("/usr/lib").glob("*/xtables"):
        return folder
    raise LabError("The iptables extensions are not on this machine; `lab build` installs iptables.")
