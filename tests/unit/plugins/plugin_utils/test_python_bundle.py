# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from ansible_collections.gshare.cluster.plugins.plugin_utils import _python_bundle as bundles

ROOT = next(folder for folder in pathlib.Path(__file__).absolute().parents if (folder / "galaxy.yml").exists())


@pytest.fixture
def site(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An environment with three packages: one needs another, one of them has a compiled part."""
    standard = sysconfig.get_path("stdlib")
    monkeypatch.setattr(sys, "path", [str(tmp_path), standard, f"{standard}/lib-dynload"])
    requires = ["demo-helper>=1", "demo-extra; extra == 'more'"]
    install(tmp_path, "demo-client", requires, ["demo_client/__init__.py"])
    files = ["demo_helper/core.py", "demo_helper/fast.cpython-313.so", "demo_helper/data.json", "../../bin/demo"]
    install(tmp_path, "demo_helper", [], files, python=">=3.11")
    install(tmp_path, "unrelated", ["Lost_One"], ["unrelated.py"])
    return tmp_path


def install(
    site: pathlib.Path, name: str, requires: list[str], files: list[str], python: str = ">=3.8", record: bool = True
) -> None:
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", f"Requires-Python: {python}"]
    (info / "METADATA").write_text("\n".join([*lines, *(f"Requires-Dist: {entry}" for entry in requires)]) + "\n")
    (info / "INSTALLER").write_text("pip\n")
    names = [*files, f"{info.name}/METADATA", f"{info.name}/INSTALLER", f"{info.name}/RECORD"]
    for entry in files:
        (site / entry).parent.mkdir(parents=True, exist_ok=True)
        (site / entry).write_text(entry)
    if record:
        (info / "RECORD").write_text("".join(f"{entry},,\n" for entry in names))


def test_a_package_with_what_it_needs(site: pathlib.Path) -> None:
    bundle = bundles.collect(["demo-client"])
    assert bundle.versions == {"demo-client": "1.0", "demo_helper": "1.0"}
    assert sorted(bundle.files) == [
        "demo_client-1.0.dist-info/METADATA",
        "demo_client/__init__.py",
        "demo_helper-1.0.dist-info/METADATA",
        "demo_helper/core.py",
        "demo_helper/data.json",
    ]


def test_the_oldest_python_that_all_accept(site: pathlib.Path) -> None:
    bundle = bundles.collect(["demo-client"])
    assert (bundle.minimum_python, bundle.needs_newest) == ("3.11", "demo_helper")


@pytest.mark.parametrize(
    ("spec", "expected"), [(">=3.6", "3.6"), (">=3.9.1", "3.9"), (">=2.7, !=3.0.*, !=3.1.*", "3.6"), (">3.10", "3.10")]
)
def test_minimum_python(spec: str, expected: str) -> None:
    assert bundles.minimum_python({"demo": spec}) == (expected, "demo")


@pytest.mark.parametrize("names", [["unrelated"], ["absent"]])
def test_a_missing_package_is_one_sentence(site: pathlib.Path, names: list[str]) -> None:
    with pytest.raises(bundles.BundleError, match=r"(lost-one|absent).* is missing on the controller"):
        bundles.collect(names)


def test_a_package_without_a_list_of_files(site: pathlib.Path) -> None:
    install(site, "distro-made", [], ["distro_made.py"], record=False)
    with pytest.raises(bundles.BundleError, match="no list of its files"):
        bundles.collect(["distro-made"])


def test_a_pack_is_the_same_every_time(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    files = bundles.collect(["demo-client"]).files
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    bundles.pack(files, str(one))
    for path in files.values():
        pathlib.Path(path).touch()
    bundles.pack(dict(reversed(files.items())), str(two))
    assert one.read_bytes() == two.read_bytes()
    with tarfile.open(one) as tar:
        assert tar.getnames() == sorted(files)


def test_the_real_client_works_without_its_compiled_parts(tmp_path: pathlib.Path) -> None:
    """What the role takes: if this fails, a newer kubernetes or one of its needs has a part that must be compiled."""
    files = bundles.collect(["kubernetes"]).files
    assert not any(name.endswith(".so") for name in files)
    for name, path in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, tmp_path / name)
    # -I: nothing of this environment but the standard library.
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kubernetes.dynamic, yaml; print(yaml.__file__)"
    )
    python = pathlib.Path(sys.base_prefix, "bin", "python3")
    done = subprocess.run([python, "-I", "-S", "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path}/yaml/__init__.py\n"


def test_the_real_client_runs_on_the_oldest_system() -> None:
    """If this fails, requirements.txt has to hold the package that is named below its newest version."""
    pythons = {
        "debian": {"12": "3.11", "13": "3.13"},
        "ubuntu": {"22.04": "3.10", "24.04": "3.12", "26.04": "3.14"},
    }
    systems = yaml.safe_load((ROOT / "roles/preflight/defaults/main.yml").read_text())["preflight_systems"]
    assert {name: list(versions) for name, versions in pythons.items()} == systems
    oldest = min(Version(python) for versions in pythons.values() for python in versions.values())
    for found in bundles.distributions(["kubernetes"]):
        wanted = found.metadata.get("Requires-Python") or ">=3"
        assert f"{oldest}.0" in SpecifierSet(wanted), f"{found.name} {found.version} needs Python {wanted}"
