# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generated drop-ins that lie over the configuration.

Below fixtures/containerd_absorb each folder is a case: config.toml and 99-nvidia.toml as they are on the machine,
before.toml and after.toml what containerd prints with and without the drop-in (only what matters here), golden.toml
what the configuration must be afterwards.
"""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_absorb import Plan, plan
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import Config, ConfigRefused
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import load

FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-nvidia.toml"
FIXTURES = Path(__file__).parent / "fixtures" / "containerd_absorb"
NVIDIA = {
    "runtime": {
        "containerd": {
            "runtimes": {
                "nvidia": {
                    "runtime_type": "io.containerd.runc.v2",
                    "options": {"BinaryName": "/usr/bin/nvidia-container-runtime", "SystemdCgroup": True},
                }
            }
        }
    }
}


def _options(**given: t.Any) -> dict[str, t.Any]:
    return {"settings": {}, "absorb": ["99-nvidia.toml"], "never_default": [], "registry_directory": None, **given}


def planned(case: str, **options: t.Any) -> tuple[Plan, list[str]]:
    def read(name: str) -> str:
        path = FIXTURES / case / f"{name}.toml"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    asked: list[str] = []

    def dump_of(text: str) -> str:
        asked.append(text)
        return read("after")

    config = Config(FILE, read("config"), read("before"), {DROP_IN: read("99-nvidia")})
    given = _options(**{"settings": NVIDIA, "never_default": ["nvidia"], **options})
    return plan(config, given, dump_of), asked


@pytest.mark.parametrize("case", sorted(path.name for path in FIXTURES.iterdir()))
def test_golden(case: str) -> None:
    found, asked = planned(case)
    assert found.text == (FIXTURES / case / "golden.toml").read_text(encoding="utf-8")
    assert found.gone == [DROP_IN]
    assert load(asked[0])["imports"] == []
    assert load(found.candidate)["imports"] == []
    assert load(found.text)["imports"] == ["/etc/containerd/conf.d/*.toml"]


def test_what_is_reported() -> None:
    (told,) = planned("2.x-default-nvidia")[0].warnings
    assert told.startswith(f"{DROP_IN} lay over {FILE}: it is kept as a copy that nothing imports")
    assert "runtime.enable_selinux" in told
    assert told.endswith("; it had made nvidia the default runtime, which is runc again.")


def test_the_diff_shows_both_files() -> None:
    found, _asked = planned("2.x-default-nvidia")
    before = Config(FILE, "version = 3\n", "", {DROP_IN: "x = 1\n"})
    assert [(one["before_header"], one["after"] == "") for one in found.diffs(before)] == [
        (FILE, False),
        (DROP_IN, True),
    ]


def test_a_drop_in_that_is_not_named_stays() -> None:
    found, asked = planned("2.x-default-nvidia", absorb=["98-nvidia.toml"], never_default=[])
    assert (found.gone, asked) == ([], [])


@pytest.mark.parametrize("name", ["/etc/containerd/conf.d/99-nvidia.toml", "conf.d/99-nvidia.toml"])
def test_a_drop_in_that_is_imported_by_its_name_is_named_no_more(name: str) -> None:
    text = f"version = 3\nimports = ['/foo/*.toml', '{name}']\n"
    found = plan(Config(FILE, text, text, {DROP_IN: "version = 3\n"}), _options(), lambda text: text)
    assert found.text == "version = 3\nimports = ['/foo/*.toml']\n"


def test_settings_of_others_are_not_carried_blindly() -> None:
    rest = "version = 3\nroot = '/var/lib/containerd'\n"
    dump = f"{rest}[debug]\nlevel = 'debug'\n"
    config = Config(FILE, "version = 3\nimports = ['*']\n", dump, {DROP_IN: "version = 3\n[debug]\nlevel = 'debug'\n"})
    with pytest.raises(ConfigRefused, match=r"sets debug\.level as well"):
        plan(config, _options(), lambda text: rest)


def test_case_13_containerd_does_not_start_with_a_newer_drop_in() -> None:
    """There is no effective configuration, so the drop-in itself tells what it was for."""
    found, _asked = planned("13-newer-than-the-root-file")
    assert "sandbox_image" in found.text


def test_nvidia_in_the_file_itself_is_not_the_default_any_more() -> None:
    text = 'version = 3\n\n[plugins."io.containerd.cri.v1.runtime".containerd]\n  default_runtime_name = "nvidia"\n'
    options = _options(absorb=[], never_default=["nvidia"])
    found = plan(Config(FILE, text, text), options, lambda text: text)
    assert found.text == text.replace('"nvidia"', '"runc"')
    other = text.replace("nvidia", "kata")
    assert plan(Config(FILE, other, other), options, lambda text: text).text == other


def test_case_15_imports_of_others_stay() -> None:
    text = "version = 3\nimports = ['/foo/*.toml', 'conf.d/*.toml']  # ours\n"
    found = plan(Config(FILE, text, text, {DROP_IN: "version = 3\n"}), _options(settings=NVIDIA), lambda text: text)
    assert found.text.startswith(text)


# One directory for registries.

DIRECTORY = "/etc/containerd/certs.d"
TABLE = "[plugins.'io.containerd.cri.v1.images'.registry]"


def _with_directory(value: str | None, **options: t.Any) -> Plan:
    text = "version = 3\n" if value is None else f"version = 3\n\n{TABLE}\n  config_path = '{value}'\n"
    given = _options(registry_directory=DIRECTORY, **options)
    return plan(Config(FILE, text, text), given, lambda text: text)


def test_case_22_the_owners_directory_is_left_as_it_is() -> None:
    found = _with_directory("/srv/containerd/hosts")
    assert found.text == f"version = 3\n\n{TABLE}\n  config_path = '/srv/containerd/hosts'\n"
    assert found.unread == []


@pytest.mark.parametrize(
    ("value", "unread"),
    [
        ("", []),
        ("/etc/containerd/certs.d:/etc/docker/certs.d", ["/etc/docker/certs.d"]),
        ("/a:/b:/a:", ["/a", "/b"]),
        ("certs.d", ["certs.d"]),
    ],
)
def test_what_is_not_one_directory_becomes_one(value: str, unread: list[str]) -> None:
    found = _with_directory(value)
    assert found.text == f"version = 3\n\n{TABLE}\n  config_path = '{DIRECTORY}'\n"
    assert found.unread == unread
    again = plan(Config(FILE, found.text, found.text), _options(registry_directory=DIRECTORY), lambda text: text)
    assert (again.text, again.unread) == (found.text, [])


def test_an_unset_directory_is_written() -> None:
    found = _with_directory(None)
    assert load(found.text)["plugins"]["io.containerd.cri.v1.images"]["registry"] == {"config_path": DIRECTORY}


def test_a_directory_among_the_settings_counts_before_the_given_one() -> None:
    found = _with_directory("/a:/b", settings={"images": {"registry": {"config_path": "/srv/hosts"}}})
    assert "config_path = '/srv/hosts'" in found.text


def test_a_list_that_only_the_drop_in_had_is_not_carried() -> None:
    drop_in = f"version = 3\n{TABLE}\nconfig_path = '{DIRECTORY}:/b'\n"
    text = "version = 3\nimports = ['conf.d/*']\n"
    config = Config(FILE, text, text + drop_in.partition("\n")[2], {DROP_IN: drop_in})
    found = plan(config, _options(registry_directory=DIRECTORY), lambda text: text)
    assert load(found.text)["plugins"]["io.containerd.cri.v1.images"]["registry"] == {"config_path": DIRECTORY}
    assert found.unread == ["/b"]


def test_two_wishes_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(ConfigRefused, match=r"settings\.images\.registry\.config_path is '/a:/b', but"):
        _with_directory(None, settings={"images": {"registry": {"config_path": "/a:/b"}}})
