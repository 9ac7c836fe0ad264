# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of files that others wrote: the cases of people who run containerd."""

from __future__ import annotations

import hashlib

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_findings import findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import MARK, Entry, Tree

HOST = '[host."http://192.0.2.191:5001"]\n  capabilities = ["pull", "resolve"]\n'


def found(files: dict[str, str], wanted: tuple[str, ...] = (), version: str = "2.3.7") -> list[tuple[str, str, str]]:
    """Name, place and message of each."""
    entries = {
        path: Entry(hashlib.sha256(text.encode()).hexdigest(), "0644", text if path.endswith("/hosts.toml") else None)
        for path, text in files.items()
    }
    tree = Tree(tuple(sorted({path.split("/")[0] for path in files})), entries)
    rows = findings("/c", tree, wanted, version)
    for row in rows:
        where = f"{row['file']}, line {row['line']}: " if row["line"] else f"{row['file']}: "
        assert row["message"].startswith(where)
    return [(row["name"], f"{row['file'].removeprefix('/c/')}:{row['line']}", row["message"]) for row in rows]


def test_a_good_file_has_no_finding() -> None:
    assert found({"docker.io/hosts.toml": f'server = "https://registry-1.docker.io"\n{HOST}'}) == []


def test_case_26_server_without_scheme() -> None:
    text = 'server = "192.0.2.191:5000"\n\n[host."192.0.2.191:5000"]\n  capabilities = ["pull", "resolve"]\n'
    rows = found({"192.0.2.191:5000/hosts.toml": text})
    assert [row[:2] for row in rows] == [
        ("no_scheme", "192.0.2.191:5000/hosts.toml:1"),
        ("no_scheme", "192.0.2.191:5000/hosts.toml:3"),
    ]
    assert "write http://192.0.2.191:5000 or https://192.0.2.191:5000." in rows[0][2]


def test_case_27_the_same_endpoint_twice() -> None:
    ((name, place, message),) = found({"docker.io/hosts.toml": f'server = "https://a.example"\n\n{HOST}\n{HOST}'})
    assert (name, place) == ("not_toml", "docker.io/hosts.toml:6")
    assert "goes upstream" in message


def test_case_29_a_path_without_override_path() -> None:
    text = '[host."https://harbor.example.net/v2/hub-proxy"]\n'
    ((name, place, message),) = found({"docker.io/hosts.toml": text})
    assert (name, place) == ("no_override_path", "docker.io/hosts.toml:1")
    assert "add override_path = true, so that it asks for /v2/hub-proxy/..." in message
    assert found({"docker.io/hosts.toml": f"{text}override_path = true\n"}) == []
    assert found({"docker.io/hosts.toml": text.replace("/v2/hub-proxy", "/hub/v2")}) == []


def test_case_30_the_web_page_of_docker_hub() -> None:
    text = f'server = "https://docker.io"\n{HOST}'
    ((name, place, message),) = found({"docker.io/hosts.toml": text})
    assert (name, place) == ("wrong_server", "docker.io/hosts.toml:1")
    assert message.endswith("write https://registry-1.docker.io.")
    assert found({"quay.io/hosts.toml": text}) == []


def test_case_31_wrong_file_name() -> None:
    ((name, place, message),) = found({"registry.example.net/host.toml": HOST})
    assert (name, place) == ("wrong_name", "registry.example.net/host.toml:None")
    assert message.endswith("rename it to hosts.toml.")


def test_a_directory_without_a_file() -> None:
    assert found({"quay.io/notes.txt": ""})[0][:2] == ("no_hosts_file", "quay.io:None")
    assert found({"quay.io/ca.crt": ""}) == []  # Docker's layout


def test_case_33_a_directory_with_underscores_comes_first() -> None:
    files = {
        "192.0.2.191_5000_/hosts.toml": 'server = "https://old.example.net"\n',
        "192.0.2.191:5000/hosts.toml": 'server = "http://192.0.2.191:5000"\n',
        "_default/hosts.toml": 'server = "https://mirror.example.net"\n',
    }
    ((name, place, message),) = found(files)
    assert (name, place) == ("shadowed", "192.0.2.191_5000_:None")
    assert message.endswith("instead of /c/192.0.2.191:5000; remove the directory /c/192.0.2.191_5000_.")
    # Also for an entry that is only going to be written.
    del files["192.0.2.191:5000/hosts.toml"]
    assert found(files) == []
    assert [row[0] for row in found(files, ("192.0.2.191:5000",))] == ["shadowed"]


@pytest.mark.parametrize("setting", ["skip_verify = true", 'ca = "ca.pem"'])
def test_case_35_tls_on_http(setting: str) -> None:
    text = f'[host."http://192.0.2.191:5000"]\n  {setting}\n'
    ((name, place, message),) = found({"docker.io/hosts.toml": text})
    assert (name, place) == ("tls_on_http", "docker.io/hosts.toml:2")
    assert message.endswith("makes containerd 1.7 and later try HTTPS first; remove the line.")
    assert found({"docker.io/hosts.toml": text.replace(":5000", ":80")}) == []
    assert found({"docker.io/hosts.toml": text.replace("http:", "https:")}) == []
    root = f'server = "http://192.0.2.191:5000"\n{setting}\n'
    assert found({"a.example/hosts.toml": root})[0][:2] == ("tls_on_http", "a.example/hosts.toml:2")


def test_what_containerd_1_cannot_read() -> None:
    server = {"quay.io/hosts.toml": 'server = "https://mirror.example.net"\n'}
    ipv6 = {"quay.io/hosts.toml": '\n[host."http://[2001:db8::1]:5000"]\n'}
    assert [row[:2] for row in found(server, version="1.7.24")] == [("no_host_table", "quay.io/hosts.toml:1")]
    assert [row[:2] for row in found(ipv6, version="1.6.20")] == [("ipv6_unreadable", "quay.io/hosts.toml:2")]
    assert found(server) == []
    assert found(ipv6) == []


def test_ours_are_not_judged_nor_what_they_replace() -> None:
    assert found({"docker.io/hosts.toml": f'{MARK}\nserver = "https://docker.io"\n'}) == []
    assert found({"docker.io/hosts.toml": 'server = "https://docker.io"\n'}, ("docker.io",)) == []
