# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import (
    findings,
    not_imported,
    sentence,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import Config

FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-x.toml"
FIXTURES = Path(__file__).parent / "fixtures" / "containerd"
OLD = '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
NOT_IN_FORCE_2 = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = ""\n'
NOT_IN_FORCE_3 = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = ''\n"


def _read(kind: str, name: str) -> str:
    return (FIXTURES / kind / f"{name}.toml").read_bytes().decode()


def test_case_05_old_plugin_name_in_version_3_is_not_effective() -> None:
    rows = findings(Config(FILE, "version = 3\n\n" + OLD, NOT_IN_FORCE_3))
    assert [(row["name"], row["line"]) for row in rows] == [("not_effective", 4)]
    assert rows[0]["message"] == (
        "registry.config_path is not effective (found under the version 2 plugin name, version 3 has it as "
        'plugins."io.containerd.cri.v1.images".registry.config_path)'
    )


def test_old_plugin_name_that_containerd_translates_is_no_finding() -> None:
    dump = NOT_IN_FORCE_3.replace("''", "'/etc/containerd/certs.d'")
    assert findings(Config(FILE, "version = 3\n\n" + OLD, dump)) == []


def test_what_the_old_plugin_still_has_is_no_finding() -> None:
    text = "version = 3\n[plugins.'io.containerd.grpc.v1.cri']\nstream_server_port = '0'\n"
    assert findings(Config(FILE, text, NOT_IN_FORCE_3)) == []


def test_case_07_no_version_line() -> None:
    rows = findings(Config(FILE, OLD, NOT_IN_FORCE_2))
    assert [row["name"] for row in rows] == ["no_version", "not_effective"]
    assert rows[0]["message"] == "no version line (read as version 1)"


def test_newer_drop_in_and_disabled_plugin() -> None:
    text = 'version = 2\nimports = ["conf.d/*.toml"]\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
    dump = f'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n{NOT_IN_FORCE_2}'
    rows = findings(Config(FILE, text, dump, {DROP_IN: "\nversion = 3\n"}))
    assert [(row["name"], row["file"], row["line"]) for row in rows] == [
        ("cri_disabled", FILE, 3),
        ("newer_drop_in", DROP_IN, 2),
    ]


def test_a_clean_file_has_no_findings() -> None:
    for name in ("1.6.20-default", "1.7.24-default", "2.3.7-default"):
        assert findings(Config(FILE, _read("input", name), _read("dump", name))) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in (FIXTURES / "golden").glob("*.toml")))
def test_no_false_alarm(name: str) -> None:
    """In any input of the golden tests: containerd's defaults, Debian's, Docker's, every spelling."""
    rows = findings(Config(FILE, _read("input", name), _read("dump", name)))
    disabled = name in ("1.7.24-disabled-list", "1.7.24-docker", "2.3.7-docker")
    assert [row["name"] for row in rows if row["name"] != "no_version"] == (["cri_disabled"] if disabled else [])


def _rows(text: str, dump: str, drop_in: str | None = None) -> list[tuple[str, str, int | None, str]]:
    drop_ins = {} if drop_in is None else {DROP_IN: drop_in}
    found = findings(Config(FILE, text, dump, drop_ins))
    return [(row["name"], row["file"], row["line"], row["message"]) for row in found]


REGISTRY_2 = '[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
MIRRORS = 'registry.mirrors."docker.io"]\n  endpoint = ["http://192.0.2.5:5001"]\n'
TLS = 'registry.configs."192.0.2.5:5000".tls]\n  ca_file = "/a"\n'
TO_HOSTS = (
    "stands beside registry.config_path, and with both containerd does not load its CRI plugin: write a hosts.toml for "
    "each below /etc/containerd/certs.d and remove it here"
)


def test_mirrors_beside_the_directory() -> None:
    text = f'version = 2\n{REGISTRY_2}[plugins."io.containerd.grpc.v1.cri".{MIRRORS}'
    expected = [("registry_mirrors", FILE, 4, f"registry.mirrors (docker.io) {TO_HOSTS}")]
    assert _rows(text, text) == expected
    new = text.replace("grpc.v1.cri", "cri.v1.images").replace("version = 2", "version = 3")
    assert _rows(new, new) == expected
    # 2.3 translates a file of version 2.
    assert _rows(text, new) == expected


def test_mirrors_without_a_directory_are_what_1_x_takes() -> None:
    text = f'version = 2\n[plugins."io.containerd.grpc.v1.cri".{MIRRORS}'
    assert _rows(text, text) == []


def test_a_table_of_mirrors_without_any_is_no_finding() -> None:
    text = f'version = 2\n{REGISTRY_2}  [plugins."io.containerd.grpc.v1.cri".registry.mirrors]\n'
    assert _rows(text, text) == []


def test_tls_of_a_registry_beside_the_directory() -> None:
    text = f'version = 2\n{REGISTRY_2}[plugins."io.containerd.grpc.v1.cri".{TLS}'
    assert _rows(text, text) == [("registry_tls", FILE, 4, f'registry.configs."192.0.2.5:5000".tls {TO_HOSTS}')]


def test_tls_of_a_registry_is_nothing_to_containerd_2() -> None:
    text = f"version = 3\n[plugins.'io.containerd.cri.v1.images'.{TLS}"
    dump = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/a'\n"
    ((name, _file, line, message),) = _rows(text, dump)
    assert (name, line) == ("unknown_setting", 3)
    assert message.endswith("is not effective: this containerd has no such setting; correct or remove it")


def test_a_list_of_directories() -> None:
    text = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = '/a:/b'\n"
    message = "registry.config_path is /a:/b, and containerd 2.1 and later read no list; name one directory"
    assert _rows(text, text) == [("registry_list", FILE, 3, message)]
    # The default of 2.2.1 is a list: no file has it.
    assert _rows("version = 3\n", text) == [("registry_list", FILE, None, message)]
    old = f"version = 2\n{REGISTRY_2}".replace("certs.d", "certs.d:/b")
    assert _rows(old, old) == []


def test_case_24_keys_at_the_root() -> None:
    dump = "version = 4\n[plugins.'io.containerd.nri.v1.nri']\nplugin_request_timeout = '2s'\n"
    text = 'version = 4\nplugin_request_timeout = "20s"\n\n[nonsense]\nx = 1\n'
    reads = "is not a key of the root, so containerd does not read it"
    assert _rows(text, dump) == [
        (
            "unknown_key",
            FILE,
            2,
            f'plugin_request_timeout {reads}; there is plugins."io.containerd.nri.v1.nri".plugin_request_timeout, '
            "move it there",
        ),
        ("unknown_key", FILE, 4, f"nonsense {reads}; correct or remove it"),
    ]


def test_what_a_drop_in_shadows() -> None:
    table = "[plugins.'io.containerd.cri.v1.images'.registry]\n"
    text, drop_in = f"version = 3\n{table}config_path = '/a'\n", f"version = 3\n{table}config_path = '/b'\n"
    message = f"registry.config_path is not effective: {DROP_IN}, line 3, comes later and sets it too; change it there"
    assert _rows(text, drop_in, drop_in) == [("shadowed", FILE, 3, message)]


def test_lists_of_several_files_are_added_up() -> None:
    table = "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\n"
    text, drop_in, dump = (f"{table}cdi_spec_dirs = [{items}]\n" for items in ("'/a'", "'/b'", "'/a', '/b'"))
    assert _rows(text, dump, drop_in) == []


def test_in_1_x_a_drop_in_shadows_the_whole_section() -> None:
    drop_in = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'
    ((name, file, line, message),) = _rows(f"version = 2\n{REGISTRY_2}", drop_in, drop_in)
    assert (name, file, line) == ("shadowed", FILE, 2)
    assert message.startswith(f'nothing of plugins."io.containerd.grpc.v1.cri" is effective: {DROP_IN} has this')


def test_the_name_of_version_3_in_a_file_of_version_2() -> None:
    text = "version = 2\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'x'\n"
    dump = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "y"\n'
    message = (
        "pinned_images.sandbox is not effective (found under the version 3 plugin name, version 2 has it as "
        'plugins."io.containerd.grpc.v1.cri".sandbox_image)'
    )
    assert _rows(text, dump) == [("not_effective", FILE, 3, message)]
    # 2.3 translates it.
    new = "version = 4\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'x'\n"
    assert _rows(text, new) == []


def test_an_option_of_a_runtime_in_the_wrong_table() -> None:
    table = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "t"\n'
    message = (
        "containerd.runtimes.runc.SystemdCgroup is not effective: this containerd has no such setting here; options "
        'of a runtime stand in plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options.SystemdCgroup'
    )
    assert _rows(f"{table}SystemdCgroup = true\n", table) == [("unknown_setting", FILE, 4, message)]


def test_a_value_that_containerd_replaces() -> None:
    text = "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\nmax_concurrent = 0\n"
    message = "max_concurrent is not effective: containerd has another value"
    assert _rows(text, text.replace("0", "3")) == [("not_effective", FILE, 3, message)]


def test_a_default_runtime_that_is_not_there() -> None:
    table = '[plugins."io.containerd.grpc.v1.cri".containerd]\ndefault_runtime_name = "nvidia"\n'
    message = (
        "default_runtime_name is nvidia, but there is no such runtime, and containerd does not load its CRI plugin; "
        "add the runtime"
    )
    text = f"version = 2\n{table}"
    assert _rows(text, text) == [("default_runtime", FILE, 3, message)]
    there = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\nruntime_type = "x"\n'
    assert _rows(text + there, text + there) == []


def test_the_name_of_version_3_in_a_drop_in_for_1_x() -> None:
    drop_in = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.x]\nruntime_type = 't'\n"
    dump = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "y"\n'
    rows = [row for row in _rows("version = 3\n", dump, drop_in) if row[0] != "newer_drop_in"]
    assert rows[0][3] == (
        "containerd.runtimes.x.runtime_type is not effective (found under the version 3 plugin name, version 2 has it "
        'as plugins."io.containerd.grpc.v1.cri".containerd.runtimes.x.runtime_type)'
    )


def test_case_19_a_generated_file() -> None:
    ((name, _file, line, message),) = _rows("# File generated by k3s. DO NOT EDIT.\nversion = 2\n", "version = 2\n")
    assert (name, line) == ("generated", 1)
    assert "registries.yaml" in message


def test_an_import_that_is_not_there() -> None:
    """containerd 2.x does not start with it, but its `config dump` leaves out it and all after it without a word."""
    drop_in = f"version = 3\nimports = ['{FILE}', '99-x.toml', 'x?.toml']\n"
    text = f"version = 3\nimports = ['conf.d/*.toml', '{DROP_IN}', './conf.d/99-x.toml', '/gone.toml']\n"
    without = "which is not there, and containerd does not start without it; remove it there"
    assert _rows(text, "version = 3\n", drop_in) == [
        ("missing_import", FILE, 2, f"imports names /gone.toml, {without}"),
        ("missing_import", DROP_IN, 2, f"imports names x?.toml, {without}"),
    ]


def test_without_an_effective_configuration_the_files_alone_tell() -> None:
    text = f"version = 2\nx = 1\n{REGISTRY_2}"
    assert [row[0] for row in _rows(text, "")] == ["unknown_key"]


def test_a_broken_file_does_not_hide_the_others() -> None:
    assert [row[:2] for row in _rows("version = 2\nx = 1\n", "", "a = \n")] == [("unknown_key", FILE)]


def test_case_14_a_folder_that_nothing_imports() -> None:
    (row,) = not_imported(Config(FILE, "", ""), ["/etc/containerd/config.d/99-nvidia.toml"])
    assert sentence(row) == (
        f"/etc/containerd/config.d/99-nvidia.toml: not effective, because {FILE} does not import it; remove the file, "
        "or import its folder"
    )


def test_as_one_sentence() -> None:
    assert sentence({"file": "/a", "line": 3, "message": "so"}) == "/a, line 3: so"
    assert sentence({"file": "/a", "line": None, "message": "so"}) == "/a: so"
