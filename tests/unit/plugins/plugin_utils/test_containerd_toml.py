# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The meaning of containerd's configuration.

Below fixtures/containerd each file stands three times under one name: the configuration (input), what the containerd of
the version in its name printed for it as `config dump` (dump; only root keys and CRI plugins are kept), and what the
edit for the settings in wishes.json must make of it (golden). Files named -default are `containerd config default`,
-debian is what Debian's package ships, the others are written by hand. On the lab's nodes real programs judge the
golden files as well (molecule/cluster/converged/test_golden_configs.py).
"""

from __future__ import annotations

import json
import time
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    ConfigRefused,
    Setting,
    check_service,
    check_types,
    edit,
    effective,
    locate,
    new_name,
    schema_of,
    unmet,
    wishes,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import load, lookup

FILE = "/etc/containerd/config.toml"
FIXTURES = Path(__file__).parent / "fixtures" / "containerd"
NAMES = sorted(path.stem for path in (FIXTURES / "input").glob("*.toml"))
WISHES: dict[str, dict[str, t.Any]] = json.loads((FIXTURES / "wishes.json").read_text(encoding="utf-8"))
WISH, CGROUP, NVIDIA = WISHES["otherwise"], WISHES["2.3.7-done"], WISHES["1.7.24-nvidia"]
REGISTRY = {"images": {"registry": {"config_path": "/etc/containerd/certs.d"}}}
CRI = "io.containerd.grpc.v1.cri"

# What containerd 2.0 to 2.2 says of a file whose registry setting stands under the old name: nothing of it.
DUMP_3 = """\
version = 3
imports = ['/etc/containerd/conf.d/*.toml']

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = ''

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dir = '/opt/cni/bin'
"""


def _read(kind: str, name: str) -> str:
    return (FIXTURES / kind / f"{name}.toml").read_bytes().decode()


def _config(name: str) -> Config:
    return Config(FILE, _read("input", name), _read("dump", name))


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str) -> None:
    assert edit(_config(name), WISHES.get(name, WISH)) == _read("golden", name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("-default")])
def test_a_dump_satisfies_itself(name: str) -> None:
    """All that is in force already, asked for again, changes nothing."""
    config = _config(name)
    view = effective(config.dump)
    assert edit(config, view) == config.text


def test_no_file_yet() -> None:
    dump = _read("dump", "2.3.7-empty")
    assert edit(Config(FILE, None, dump), CGROUP) == (
        'version = 4\nimports = ["/etc/containerd/conf.d/*.toml"]\n\n'
        '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]\n  SystemdCgroup = true\n'
    )
    old = edit(Config(FILE, None, _read("dump", "1.7.24-default")), CGROUP)
    assert old.startswith("version = 2\n\n[plugins.")  # 1.x names the file itself as its import


def test_no_file_and_nothing_to_set_is_a_file_that_other_tools_can_add_to() -> None:
    assert edit(Config(FILE, None, DUMP_3), {}) == 'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n'


# The cases of which people have reported outages.


def test_case_05_old_plugin_name_in_version_3() -> None:
    text = 'version = 3\n\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
    assert edit(Config(FILE, text, DUMP_3), REGISTRY) == (
        f'{text}\n[plugins."io.containerd.cri.v1.images".registry]\n  config_path = "/etc/containerd/certs.d"\n'
    )


def test_case_07_no_version_line() -> None:
    text = '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
    dump = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = ""\n'
    assert edit(Config(FILE, text, dump), REGISTRY) == "version = 2\n\n" + text


def test_what_a_file_without_version_says_does_not_come_into_force_against_a_wish() -> None:
    """The default is the wished value, until the version line makes the file's own value count."""
    options = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\noptions.SystemdCgroup = {}\n'
    dump = f"version = 2\n{options.format('true')}"
    wish = {**CGROUP, **REGISTRY}
    result = edit(Config(FILE, options.format("false"), dump), wish)
    assert unmet(effective(result), wishes(wish)) == []


def test_a_file_that_tells_nothing_of_its_schema() -> None:
    assert edit(Config(FILE, "# ours\n", ""), CGROUP).startswith("# ours\nversion = 2\n")


def test_version_1_says_version_2_as_well() -> None:
    text = 'version = 1\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'
    dump = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "y"\n'
    wish = {"images": {"pinned_images": {"sandbox": "x"}}}
    assert edit(Config(FILE, text, dump), wish) == text.replace("version = 1", "version = 2")


def test_case_09_duplicate_table_is_refused_with_its_line() -> None:
    table = '[plugins."io.containerd.grpc.v1.cri".registry]\n'
    text = f'version = 2\n{table}  config_path = ""\n{table}  config_path = "/etc/containerd/certs.d"\n'
    with pytest.raises(ConfigRefused, match=rf"^{FILE}, line 4: not valid TOML .*nothing was changed\.$"):
        edit(Config(FILE, text, ""), REGISTRY)


def test_case_23_array_of_tables_behind_a_table_is_refused_with_its_line() -> None:
    text = 'version = 2\n[plugins.x]\na = 1\n[[plugins]]\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'
    with pytest.raises(ConfigRefused, match=f"{FILE}, line 4: not valid TOML"):
        edit(Config(FILE, text, ""), REGISTRY)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        (FILE, "# File generated by k3s. DO NOT EDIT. Use config.toml.tmpl instead.\n"),
        (FILE, "# File generated by rke2. DO NOT EDIT.\n"),
        ("/var/lib/rancher/k3s/agent/etc/containerd/config.toml", ""),
    ],
)
def test_case_19_a_generated_file_is_refused(path: str, first: str) -> None:
    text = first + 'version = 2\n\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/var/lib/x"\n'
    with pytest.raises(ConfigRefused, match=r"registries\.yaml.*config\.toml\.tmpl.*config-v3\.toml\.tmpl"):
        edit(Config(path, text, ""), REGISTRY)


def test_case_20_a_commented_key_is_not_set() -> None:
    comments = '  # config_path = "/etc/containerd/certs.d"\n  #config_path = ""\n'
    head = 'version = 2\n\n[plugins."io.containerd.grpc.v1.cri".registry]\n'
    dump = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = ""\n'
    result = edit(Config(FILE, head + comments, dump), REGISTRY)
    assert result == f'{head}  config_path = "/etc/containerd/certs.d"\n{comments}'


@pytest.mark.parametrize("text", ["crlf", "bom"])
def test_case_21_carriage_returns_and_byte_order_mark(text: str) -> None:
    golden = _read("golden", f"1.7.24-{text}")
    assert lookup(load(golden), ("plugins", CRI, "registry", "config_path")) == "/etc/containerd/certs.d"
    assert golden.count("\r\n") == (golden.count("\n") if text == "crlf" else 0)
    assert golden.startswith("\ufeff") == (text == "bom")


def test_the_mark_goes_only_where_containerd_does_not_start_with_it() -> None:
    text = "\ufeffversion = 3\n"
    assert edit(Config(FILE, text, DUMP_3), {}) == text
    assert edit(Config(FILE, text, ""), {}) == "version = 3\n"


def test_case_22_the_owners_directory_stays_if_nobody_asks_for_another() -> None:
    text = 'version = 2\n\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/srv/containerd/hosts"\n'
    wish = {"images": {"pinned_images": {"sandbox": "x"}}}
    result = edit(Config(FILE, text, text), wish)
    assert lookup(load(result), ("plugins", CRI, "registry", "config_path")) == "/srv/containerd/hosts"


# Refusals: one sentence with the place and the remedy.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 5\n", "line 1: version 5 is newer than what is known here"),
        ("version = 3\n", "line 1: version 3 is newer than this containerd, which knows 2; have the file in version 2"),
        ('version = "2"\n', "line 1: version is '2'"),
        ('[plugins.cri]\nsandbox_image = "x"\n', r"line 1: plugins\.cri is the language of version 1"),
        ('version = 2\n[plugins]\n"io.containerd.grpc.v1.cri" = 1\n', "is not a table"),
        ('version = 2\n[[plugins."io.containerd.grpc.v1.cri".registry]]\nx = 1\n', "registry is not a table"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigRefused, match=message):
        edit(Config(FILE, text, "version = 2\n"), REGISTRY)


def test_a_containerd_that_is_too_new_is_refused() -> None:
    with pytest.raises(ConfigRefused, match="version 5 configurations"):
        edit(Config(FILE, "version = 4\n", "version = 5\n"), REGISTRY)


def test_a_drop_in_that_is_too_new_is_refused() -> None:
    with pytest.raises(ConfigRefused, match=r"conf\.d/x\.toml, line 1: version 5 is newer"):
        edit(Config(FILE, "version = 4\n", "", {"/etc/containerd/conf.d/x.toml": "version = 5\n"}), REGISTRY)


def test_a_broken_drop_in_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigRefused, match=r"conf\.d/x\.toml, line 1"):
        edit(Config(FILE, "version = 4\n", "", {"/etc/containerd/conf.d/x.toml": "a = \n"}), REGISTRY)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"plugins": {}}, "no section plugins"),
        ({"images": {"a": None}}, r"images\.a is null"),
        ({"images": "x"}, "images must be a dictionary"),
    ],
)
def test_wishes_that_make_no_sense(wish: dict[str, t.Any], message: str) -> None:
    with pytest.raises(ConfigRefused, match=message):
        wishes(wish)


def test_1_x_keeps_its_default_runtime_when_the_file_gets_its_first() -> None:
    """The file's table of runtimes takes the place of the default one, so runc has to stand in it."""
    dump = _read("dump", "1.7.24-default")
    wish = {"runtime": {"containerd": {"runtimes": {"nvidia": {"runtime_type": "io.containerd.runc.v2"}}}}}
    result = load(edit(Config(FILE, "version = 2\n", dump), wish))
    kind = {"runtime_type": "io.containerd.runc.v2"}
    assert lookup(result, ("plugins", CRI, "containerd", "runtimes")) == {"nvidia": kind, "runc": kind}


def test_1_x_keeps_a_wish_that_only_the_default_runtime_met() -> None:
    runtimes = {"runc": {"options": {"SystemdCgroup": False}}, "nvidia": {"runtime_type": "io.containerd.runc.v2"}}
    wish = {"runtime": {"containerd": {"runtimes": runtimes}}}
    result = load(edit(Config(FILE, "version = 2\n", _read("dump", "1.7.24-default")), wish))
    assert lookup(result, ("plugins", CRI, "containerd", "runtimes", "runc", "options")) == {"SystemdCgroup": False}


def test_several_cni_folders_need_a_newer_file() -> None:
    with pytest.raises(ConfigRefused, match="one directory only"):
        edit(Config(FILE, "version = 2\n", "version = 2\n"), {"runtime": {"cni": {"bin_dirs": ["/a", "/b"]}}})


def test_a_runtime_without_a_type_is_refused() -> None:
    view = {"runtime": {"containerd": {"runtimes": {"nvidia": {"options": {"SystemdCgroup": True}}}}}}
    with pytest.raises(ConfigRefused, match="nvidia would have no runtime_type"):
        check_types(FILE, view, wishes(NVIDIA))


@pytest.mark.parametrize(("read", "ok"), [(None, True), (FILE, True), ("/etc/other.toml", False)])
def test_the_file_is_the_one_that_the_service_reads(read: str | None, ok: bool) -> None:
    if ok:
        check_service(FILE, read, "containerd", "")
    else:
        with pytest.raises(ConfigRefused, match=r"reads /etc/other\.toml"):
            check_service(FILE, read, "containerd", "")


def test_case_17_the_daemon_is_the_one_that_the_kubelet_asks() -> None:
    with pytest.raises(ConfigRefused, match=r"held by process 8 \(/x\), not by the service containerd, .* or stop it"):
        check_service(FILE, None, "containerd", "process 8 (/x)")


# Names and values.


@pytest.mark.parametrize(
    ("name", "schema_2", "schema_3"),
    [
        ("images.pinned_images.sandbox", "sandbox_image", "pinned_images.sandbox"),
        ("images.snapshotter", "containerd.snapshotter", "snapshotter"),
        ("images.registry.config_path", "registry.config_path", "registry.config_path"),
        ("images.max_concurrent_downloads", "max_concurrent_downloads", "max_concurrent_downloads"),
        ("runtime.enable_cdi", "enable_cdi", "enable_cdi"),
        (
            "runtime.containerd.default_runtime_name",
            "containerd.default_runtime_name",
            "containerd.default_runtime_name",
        ),
        (
            "runtime.containerd.runtimes.x.sandboxer",
            "containerd.runtimes.x.sandbox_mode",
            "containerd.runtimes.x.sandboxer",
        ),
    ],
)
def test_names(name: str, schema_2: str, schema_3: str) -> None:
    path = tuple(name.split("."))
    old, new = tuple(schema_2.split(".")), tuple(schema_3.split("."))
    assert locate(Setting(path, 1), 2) == (("plugins", CRI, *old), 1)
    plugin = f"io.containerd.cri.v1.{path[0]}"
    assert locate(Setting(path, 1), 3) == (("plugins", plugin, *new), 1)
    assert new_name(old) == path


def test_the_cni_folder_has_three_spellings() -> None:
    setting = Setting(("runtime", "cni", "bin_dirs"), ["/opt/cni/bin"])
    assert locate(setting, 2) == (("plugins", CRI, "cni", "bin_dir"), "/opt/cni/bin")
    assert locate(setting, 3, one_cni_dir=True)[0][-1] == "bin_dir"
    assert locate(setting, 4) == (("plugins", "io.containerd.cri.v1.runtime", "cni", "bin_dirs"), ["/opt/cni/bin"])


def test_bin_dir_replaces_the_default_of_bin_dirs_after_the_dump() -> None:
    assert effective(_read("dump", "2.3.7-bin-dir"))["runtime"]["cni"]["bin_dirs"] == ["/usr/lib/cni"]


@pytest.mark.parametrize(
    ("value", "met"), [("5m", True), ("300s", True), ("1h", False), ("x", False), (5, False), (None, False)]
)
def test_durations_are_compared_by_length(value: t.Any, met: bool) -> None:
    view = {"images": {"image_pull_progress_timeout": "5m0s"}}
    wanted = [Setting(("images", "image_pull_progress_timeout"), value)]
    assert unmet(view, wanted) == ([] if met else wanted)


def test_schema() -> None:
    assert schema_of("version = 3\n") == 3
    assert schema_of("") is None


def test_an_edit_of_a_whole_default_file_is_quick() -> None:
    config = _config("2.3.7-default")
    start = time.process_time()
    edit(config, WISH)
    assert time.process_time() - start < 1
