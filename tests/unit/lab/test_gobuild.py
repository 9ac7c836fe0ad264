# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the lab compiles, and that its declared versions are those of the Go modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nodelab import gobuild, gopatch, versions
from nodelab.errors import LabError


def requirements(module: str) -> dict[str, str]:
    """Return the modules that a go.mod below gosrc requires, with their versions."""
    text = (gobuild.GOSRC / module / "go.mod").read_text(encoding="utf-8")
    return dict(re.findall(r"^(?:require)?\s+(\S+\.\S+/\S+) v(\S+)", text, re.MULTILINE))


def replacements(module: str) -> dict[str, str]:
    text = (gobuild.GOSRC / module / "go.mod").read_text(encoding="utf-8")
    return dict(re.findall(r"^replace (\S+) => \./(\S+)$", text, re.MULTILINE))


def test_versions_are_those_of_the_modules() -> None:
    required = requirements(".")
    assert {
        "k8s.io/kubernetes": versions.KUBERNETES,
        "github.com/containerd/containerd/v2": versions.CONTAINERD,
        "github.com/containernetworking/plugins": versions.CNI_PLUGINS,
        "github.com/coredns/coredns": versions.COREDNS_SOURCE,
        "github.com/flannel-io/flannel": versions.FLANNEL,
        "github.com/rancher/local-path-provisioner": versions.LOCAL_PATH,
        "go.etcd.io/etcd/server/v3": versions.ETCD_SOURCE,
        "sigs.k8s.io/cri-tools": versions.CRI_TOOLS,
    }.items() <= required.items()
    assert requirements("cni-flannel")["github.com/containernetworking/plugins"] == versions.FLANNEL_CNI


def test_the_oldest_go_is_that_of_the_modules() -> None:
    text = (gobuild.GOSRC / "go.mod").read_text(encoding="utf-8")
    assert f"\ngo {'.'.join(map(str, versions.GO_MINIMUM))}\n" in text


def test_each_patched_module_is_replaced_by_its_copy() -> None:
    assert replacements(".") == {patch.module: patch.folder for patch in gopatch.PATCHES}


def test_kubernetes_reports_its_version() -> None:
    assert f"-X k8s.io/component-base/version.gitVersion=v{versions.KUBERNETES} " in gobuild.ldflags()


def test_the_recipe_knows_the_compiler() -> None:
    assert gobuild.recipe("1.26.8") != gobuild.recipe("1.27.3")
    assert gobuild.recipe("1.26.8") == gobuild.recipe("1.26.8")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("go version go1.27 linux/amd64", (1, 27, 0)),
        ("go version devel", ()),
    ],
)
def test_the_version_of_go(text: str, numbers: tuple[int, ...]) -> None:
    assert gobuild.parse_go_version(text) == numbers


def test_a_patch_changes_a_copy(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/gone.go").touch()
    (tmp_path / "main.go").write_text('import (\n\t_ "a/one"\n\t_ "a/two"\n)\n', encoding="utf-8")
    patch = gopatch.ModulePatch(
        module="a",
        version="v1",
        folder="a",
        remove=("pkg/*",),
        replace=(("main.go", r'(?m)^.*a/one"\n', ""),),
        texts=(("pkg/new.go", "package pkg\n"),),
    )
    gopatch.apply(patch, tmp_path)
    assert (tmp_path / "main.go").read_text(encoding="utf-8") == 'import (\n\t_ "a/two"\n)\n'
    assert [path.name for path in (tmp_path / "pkg").iterdir()] == ["new.go"]


def test_a_patch_that_finds_nothing_says_so(tmp_path: Path) -> None:
    patch = gopatch.ModulePatch(module="a", version="v1", folder="a", remove=("pkg/*",))
    with pytest.raises(LabError, match=r"a v1 has no pkg/\*"):
        gopatch.apply(patch, tmp_path)
