# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._proxy import assigned, drop_in, of_environment
from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_network
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_proxy import wish

CASE = Path(__file__).parent / "fixtures" / "containerd_proxy" / "77-environment-proxy"
DIRECT = ["192.0.2.10", "192.0.2.11", "10.244.0.0/16", "10.96.0.0/12", ".svc", ".cluster.local"]
REGISTRIES = ["192.0.2.5:5000", "[2001:db8::5]:5001", "registry.example.net:5000"]
PROXY = {"HTTP_PROXY": "http://u:secret@a:1", "NO_PROXY": "b"}
OURS = drop_in({**PROXY, "NO_PROXY": "b,192.0.2.10"})


def facts(**changes: t.Any) -> dict[str, t.Any]:
    return {"path": "/p.conf", "text": None, "environment": PROXY, "others": [], "running": {}, **changes}


def test_case_77_the_drop_in() -> None:
    proxies = of_environment((CASE / "environment").read_text())
    found = wish(facts(environment=proxies), [*DIRECT, *REGISTRIES])
    assert found.after == (CASE / "gshare-proxy.conf").read_text()
    assert (found.written, found.restart, found.warnings) == (True, True, [])


def test_case_77_what_preflight_says(make: t.Callable[..., t.Any], settings: t.Any) -> None:
    proxies = of_environment((CASE / "environment").read_text())
    machine, master = make(proxy=proxies), make(10, "kube_control_plane")
    (found,) = _preflight_network.check(machine, [machine, master], settings)
    assert "sets http_proxy and https_proxy" in found.text
    for wanted in ("192.0.2.10", "10.244.0.0/16", "10.96.0.0/12"):
        assert wanted in found.text


def test_nothing_to_do() -> None:
    found = wish(facts(text=OURS, running=assigned(OURS)), ["192.0.2.10"])
    assert (found.written, found.restart) == (False, False)


def test_written_but_not_in_force() -> None:
    found = wish(facts(text=OURS, running={}), ["192.0.2.10"])
    assert (found.written, found.restart) == (False, True)


def test_in_force_but_not_written() -> None:
    found = wish(facts(text=OURS + "# x\n", running=assigned(OURS)), ["192.0.2.10"])
    assert (found.written, found.restart) == (True, False)


@pytest.mark.parametrize("environment", [{}, {"NO_PROXY": "b"}])
def test_no_proxy_no_drop_in(environment: dict[str, str]) -> None:
    found = wish(facts(environment=environment, text=OURS, running=assigned(OURS)), ["192.0.2.10"])
    assert (found.after, found.written, found.restart) == (None, True, True)
    found = wish(facts(environment=environment, running={"HTTP_PROXY": "of someone else"}), ["192.0.2.10"])
    assert (found.written, found.restart, found.warnings) == (False, False, [])


def test_nothing_to_exclude() -> None:
    assert "NO_PROXY" not in (wish(facts(environment={"HTTP_PROXY": "a"}), []).after or "")


def test_the_proxy_of_someone_else_stays() -> None:
    """Ours goes away, and so does what the running daemon has from it."""
    found = wish(facts(others=["/x.conf"], text=OURS, running=assigned(OURS)), ["192.0.2.10"])
    assert (found.after, found.written, found.restart) == (None, True, True)
    found = wish(facts(others=["/x.conf"], running={"https_proxy": "c", "no_proxy": "d"}), ["192.0.2.10"])
    assert (found.written, found.restart) == (False, False)
    assert found.warnings == ["containerd has its proxy from /x.conf; NO_PROXY there lacks 192.0.2.10."]


@pytest.mark.parametrize(
    "running", [None, {}, {"HTTP_PROXY": "", "NO_PROXY": "d"}, {"HTTP_PROXY": "c", "NO_PROXY": "192.0.2.0/24"}]
)
def test_the_proxy_of_someone_else_lacks_nothing(running: dict[str, str] | None) -> None:
    assert wish(facts(others=["/x.conf"], running=running), ["192.0.2.10"]).warnings == []


def test_diff() -> None:
    diff = wish(facts(text=OURS), ["192.0.2.11"]).diff()
    assert "HTTP_PROXY=http://u:********@a:1" in diff["before"]
    assert "NO_PROXY=b,192.0.2.11" in diff["after"]
    assert "secret" not in str(diff)
    assert diff["before_header"] == diff["after_header"] == "/p.conf"
