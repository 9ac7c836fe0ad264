# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is written for a registry, byte for byte, and what happens to what is there. The cases are containerd's own."""

from __future__ import annotations

import hashlib
import tomllib
import typing as t
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils import _registry_hosts as hosts
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import CAPABILITIES, wanted

GOLDEN = Path(__file__).parent / "fixtures" / "registry_hosts"
PEM = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"
LAN = {
    "name": "192.0.2.191:5000",
    "plain_http": True,
    "endpoints": [{"url": "http://192.0.2.191:5000", "capabilities": list(CAPABILITIES)}],
}
HUB = {"name": "docker.io", "endpoints": [{"url": "http://192.0.2.191:5001"}]}
REQUESTS: dict[str, dict[str, t.Any]] = {
    "lan": LAN,
    "mirror": HUB,
    "lan_tls": {
        "name": "registry.example.net",
        "endpoints": [
            {
                "url": "https://registry.example.net",
                "ca": PEM.format("ca"),
                "client_certificate": PEM.format("client"),
                "client_key": PEM.format("key"),
                "username": "robot",
                "password": "pa:ss",
                "capabilities": list(CAPABILITIES),
            }
        ],
    },
    "paths": {
        "name": "quay.io",
        "endpoints": [
            {"url": "https://harbor.example.net/v2/quay", "username": "robot", "password": 'p"w'},
            {"url": "https://art.example.net/api/quay/v2/"},
            {"url": "https://plain.example.net/v2/"},
        ],
    },
    "catch_all": {"name": "_default", "endpoints": [{"url": "https://mirror.example.net"}]},
    "itself": {"name": "127.0.0.1:31999", "plain_http": True},
}


def made(*requests: dict[str, t.Any]) -> list[hosts.File]:
    return [file for registry in wanted(requests) for file in hosts.files(registry)]


def there(files: t.Iterable[hosts.File]) -> hosts.Tree:
    """The directory after these files were written."""
    entries = {}
    for file in files:
        text = file.text if file.path.endswith(hosts.FILE) else None
        entries[file.path] = hosts.Entry(file.digest, file.mode, text)
    return hosts.Tree(tuple(sorted({path.split("/")[0] for path in entries})), entries)


def foreign(path: str, text: str, mode: str = "0644") -> hosts.Tree:
    entry = hosts.Entry(hashlib.sha256(text.encode()).hexdigest(), mode, text if path.endswith(hosts.FILE) else None)
    return hosts.Tree((path.split("/")[0],), {path: entry})


@pytest.mark.parametrize("name", REQUESTS)
def test_the_file_is_the_golden_one(name: str) -> None:
    text = made(REQUESTS[name])[-1].text
    assert text == (GOLDEN / f"{name}.toml").read_text()
    tomllib.loads(text)


def test_case_25_plain_http_is_http_in_both_places() -> None:
    lan, hub = made(LAN, HUB)
    assert (lan.path, lan.mode, hub.path) == ("192.0.2.191:5000/hosts.toml", "0644", "docker.io/hosts.toml")
    data = tomllib.loads(lan.text)
    assert (data["server"], list(data["host"])) == ("http://192.0.2.191:5000", ["http://192.0.2.191:5000"])
    assert "skip_verify" not in lan.text + hub.text


def test_case_27_the_same_endpoint_is_written_once() -> None:
    urls = ["http://192.0.2.191:5000", "HTTP://192.0.2.191:5000/", "http://192.0.2.191:5000/v2/", "http://192.0.2.191"]
    (file,) = made({"name": "docker.io", "endpoints": [{"url": url} for url in [*urls, "http://192.0.2.191:80"]]})
    assert list(tomllib.loads(file.text)["host"]) == ["http://192.0.2.191:5000", "http://192.0.2.191"]


def test_case_29_override_path_exactly_where_there_is_a_path() -> None:
    data = tomllib.loads(made(REQUESTS["paths"])[-1].text)["host"]
    assert {url: settings.get("override_path") for url, settings in data.items()} == {
        "https://harbor.example.net/v2/quay": True,
        "https://art.example.net/api/quay/v2": True,
        "https://plain.example.net": None,
    }


def test_case_30_the_server_of_docker_hub() -> None:
    assert tomllib.loads(made(HUB)[0].text)["server"] == "https://registry-1.docker.io"


def test_case_35_no_skip_verify_and_no_certificate_for_http() -> None:
    text = "".join(file.text for request in REQUESTS.values() for file in made(request))
    assert "skip_verify" not in text


def test_case_38_a_registry_on_localhost_stays_http() -> None:
    data = tomllib.loads(made(REQUESTS["itself"])[0].text)
    assert (data["server"], list(data["host"])) == ("http://127.0.0.1:31999", ["http://127.0.0.1:31999"])


def test_secrets_are_for_root_alone() -> None:
    modes = {file.path.split("/")[1]: file.mode for file in made(REQUESTS["lan_tls"])}
    assert modes == {
        "gshare-1-ca.pem": "0644",
        "gshare-1-client.pem": "0644",
        "gshare-1-client-key.pem": "0600",
        "hosts.toml": "0600",
    }


def test_certificates_come_before_the_file_that_names_them() -> None:
    assert [file.path.split("/")[1] for file in hosts.plan(wanted([REQUESTS["lan_tls"]]), hosts.Tree()).write] == [
        "gshare-1-ca.pem",
        "gshare-1-client.pem",
        "gshare-1-client-key.pem",
        "hosts.toml",
    ]


def test_what_others_wrote_stays() -> None:
    tree = foreign("ghcr.io/hosts.toml", 'server = "https://ghcr.io"\n')
    plan = hosts.plan(wanted([HUB]), tree)
    assert ([file.path for file in plan.write], plan.remove, plan.keep) == (["docker.io/hosts.toml"], [], [])


def test_a_file_of_others_in_our_place_is_kept_and_replaced() -> None:
    plan = hosts.plan(wanted([HUB]), foreign("docker.io/hosts.toml", 'server = "https://docker.io"\n'))
    assert ([file.path for file in plan.write], plan.keep) == (["docker.io/hosts.toml"], ["docker.io/hosts.toml"])


def test_what_is_not_wanted_any_more_goes_with_its_certificates() -> None:
    plan = hosts.plan([], there(made(REQUESTS["lan_tls"], HUB)))
    home = "registry.example.net"
    assert plan.write == []
    assert plan.remove == [
        "docker.io/hosts.toml",
        f"{home}/hosts.toml",
        f"{home}/gshare-1-ca.pem",
        f"{home}/gshare-1-client-key.pem",
        f"{home}/gshare-1-client.pem",
    ]


def test_what_a_killed_run_left_goes() -> None:
    tree = foreign("docker.io/.gshare-x1y2", "half")
    assert hosts.plan([], tree).remove == ["docker.io/.gshare-x1y2"]
    assert hosts.plan([], foreign("docker.io/gshare-1-ca.pem", "pem")).remove == ["docker.io/gshare-1-ca.pem"]
    assert hosts.plan([], foreign("docker.io/ca.pem", "pem")).remove == []


def test_a_mode_that_others_can_read_is_put_right() -> None:
    files = made(REQUESTS["lan_tls"])
    tree = there(files)
    tree.files[files[-1].path] = hosts.Entry(files[-1].digest, "0644", files[-1].text)
    assert [file.path for file in hosts.plan(wanted([REQUESTS["lan_tls"]]), tree).write] == [files[-1].path]


def test_the_diff_shows_what_is_not_secret() -> None:
    tree = foreign("docker.io/hosts.toml", 'server = "https://docker.io"\n')
    (diff,) = hosts.diffs("/c", hosts.plan(wanted([HUB]), tree), tree)
    assert diff["before"] == 'server = "https://docker.io"\n'
    assert diff["after"] == (GOLDEN / "mirror.toml").read_text()
    assert diff["after_header"] == "/c/docker.io/hosts.toml"
    (gone,) = hosts.diffs("/c", hosts.plan([], there(made(HUB))), there(made(HUB)))
    assert gone["after"] == ""


@pytest.mark.parametrize(
    "text",
    [
        '[host."https://a.example"]\n[host."https://a.example".Header]\nAuthorization = "Basic c2VjcmV0"\n',
        'header = {Authorization = "Basic c2VjcmV0"}\n',
        'broken [ "Basic c2VjcmV0"\n',
    ],
)
def test_no_secret_is_in_the_diff(text: str) -> None:
    tree = foreign("registry.example.net/hosts.toml", text)
    shown = str(hosts.diffs("/c", hosts.plan(wanted([REQUESTS["lan_tls"]]), tree), tree))
    shown += str(hosts.diffs("/c", hosts.plan([], there(made(REQUESTS["lan_tls"]))), there(made(REQUESTS["lan_tls"]))))
    for secret in ("c2VjcmV0", "Basic", "pa:ss", "BEGIN", "cm9ib3Q"):
        assert secret not in shown
    assert "not shown" in shown


NAMES = st.sampled_from(["docker.io", "quay.io", "192.0.2.1:5000", "[2001:db8::1]:5000", "_default", "localhost"])
URLS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["a.example.net", "B.example.net", "192.0.2.7", "[2001:db8::7]"]),
    st.sampled_from(["", ":80", ":443", ":5000"]),
    st.sampled_from(["", "/", "/v2", "/v2/", "/v2/a", "/x/v2", "//x//v2//"]),
)
LOGINS = st.sampled_from([{}, {"username": "u", "password": 'p"\\\n\u00e9\U0001f511'}])
ENDPOINTS = st.builds(lambda url, login: {"url": url, **login}, URLS, LOGINS)
REGISTRIES = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "plain_http": st.booleans(), "endpoints": st.lists(ENDPOINTS, min_size=1, max_size=4)}
    ),
    unique_by=lambda entry: entry["name"],
)


@given(REGISTRIES)
def test_a_second_call_writes_nothing(requests: list[dict[str, t.Any]]) -> None:
    registries = wanted(requests)
    files = hosts.plan(registries, hosts.Tree()).write
    again = hosts.plan(registries, there(files))
    assert (again.changes, again.keep) == (False, [])
    assert hosts.plan([], there(files)).remove == sorted(file.path for file in files)


@given(REGISTRIES)
def test_every_file_is_toml_with_each_endpoint_once_and_in_order(requests: list[dict[str, t.Any]]) -> None:
    registries = wanted(requests)
    for registry in registries:
        data = tomllib.loads(hosts.files(registry)[-1].text)
        assert list(data["host"]) == [endpoint.url for endpoint in registry.endpoints]
        for url in [*data["host"], data.get("server", "http://x")]:
            assert url.startswith(("http://", "https://"))
