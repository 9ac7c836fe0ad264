# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import (
    Unit,
    config_argument,
    cri_ready,
    decide,
    exec_start,
    fingerprint,
    imports_of,
    parse_time,
    parse_unit,
    parse_version,
    reasons,
    socket_of,
)

SHOW = """\
LoadState=loaded
ActiveState=active
UnitFileState=disabled
MainPID=4711
InvocationID=4f1c6b1d0c8b4f7e9a3d2b1c0a998877
ExecMainStartTimestamp=Mon 2026-11-30 14:43:24.123456 UTC
ExecStart={ path=/usr/bin/containerd ; argv[]=/usr/bin/containerd --config /srv/c.toml ; ignore_errors=no ; pid=4711 }
"""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6+deb13u1\n", "1.7.24"),
        ("containerd github.com/containerd/containerd/v2 2.3.7 \n", "2.3.7"),
        ("containerd containerd.io v2.2.6 abcdef\n", "2.2.6"),
        ("containerd github.com/containerd/containerd/v2 2.2.1 2.2.1-0ubuntu1~24.04.3\n", "2.2.1"),
        ("nothing", None),
    ],
)
def test_version(text: str, version: str | None) -> None:
    assert parse_version(text) == version


def test_unit() -> None:
    unit = parse_unit(SHOW)
    assert unit == Unit(
        loaded=True,
        active=True,
        state="active",
        at_boot=False,
        pid=4711,
        invocation="4f1c6b1d0c8b4f7e9a3d2b1c0a998877",
        started=pytest.approx(1796049804.123456),
        program="/usr/bin/containerd",
        config="/srv/c.toml",
    )


def test_no_unit() -> None:
    unit = parse_unit("LoadState=not-found\nActiveState=inactive\nMainPID=0\nInvocationID=\nExecMainStartTimestamp=\n")
    assert (unit.loaded, unit.active, unit.started, unit.program) == (False, False, None, None)
    assert parse_unit("").state == "unknown"


@pytest.mark.parametrize(
    ("arguments", "config"),
    [
        (["containerd"], None),
        (["containerd", "-c", "/x"], "/x"),
        (["containerd", "--config=/x", "-l", "debug"], "/x"),
        (["containerd", "--config"], None),
    ],
)
def test_config_argument(arguments: list[str], config: str | None) -> None:
    assert config_argument(arguments) == config


def test_exec_start_of_nothing() -> None:
    assert exec_start("") == (None, [])


def test_time() -> None:
    assert parse_time("Thu 1970-01-01 00:01:00.5 UTC") == 60.5
    assert parse_time("Thu 1970-01-01 00:01:00 UTC") == 60
    assert parse_time("n/a") is None


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ('imports = ["/a/*.toml", "b.toml"] # x\n', ["/a/*.toml", "b.toml"]),
        ("version = 2\n  'imports' = [\n  # '/no',\n  '/a',\n  \"/b\",\n]\n[x]\n", ["/a", "/b"]),
        ('\ufeffimports=["/a"]\r\n', ["/a"]),
        ('# imports = ["/a"]\n[plugins.x]\nimports = ["/b"]\n', []),
        ("imports = []\n", []),
        ("", []),
    ],
)
def test_imports(text: str, imports: list[str]) -> None:
    assert imports_of(text) == imports


def test_fingerprint_is_of_the_settings_only() -> None:
    base = "version = 2\nimports = ['/x']\n\n[a]\n  b = 1\n"
    assert fingerprint(base) == fingerprint("version = 2\nimports = ['/y', '/z']\n[a]\nb = 1\n")
    assert fingerprint(base) != fingerprint(base.replace("b = 1", "b = 2"))


@pytest.mark.parametrize(
    ("dump", "socket"),
    [
        ("[debug]\n  address = ''\n[grpc]\n  address = '/a.sock'\n  gid = 0\n[x]\n", "/a.sock"),
        ("[plugins]\n  [plugins.'io.containerd.server.v1.grpc']\n    address = '/b.sock'\n", "/b.sock"),
        ("[plugins.'io.containerd.server.v1.grpc']\naddress = ''\n", "/run/containerd/containerd.sock"),
        ("", "/run/containerd/containerd.sock"),
    ],
)
def test_socket(dump: str, socket: str) -> None:
    assert socket_of(dump) == socket


def _unit(state: str = "active", invocation: str = "i", started: float | None = 100.0) -> Unit:
    return Unit(True, state == "active", state, True, 1, invocation, started, "/usr/bin/containerd", None)


RECORD = {"invocation": "i", "configuration": "old"}


@pytest.mark.parametrize(
    ("unit", "record", "newest", "wanted", "restart", "running"),
    [
        # Not running: it has to be started, whatever the files say.
        (_unit("failed"), RECORD, 0, None, True, None),
        (_unit("activating"), None, 0, None, True, None),
        # The record is of this invocation: the fingerprints decide, not the age of the files.
        (_unit(), {"invocation": "i", "configuration": "now"}, 200, None, False, "now"),
        (_unit(), RECORD, 200, None, True, "old"),
        (_unit(), RECORD, 200, "old", False, "old"),
        (_unit(), {"invocation": "i", "configuration": "now"}, 0, "new", True, "now"),
        # A record of an earlier start says nothing: files that are older than this start are what it read.
        (_unit(), {"invocation": "h", "configuration": "old"}, 50, None, False, "now"),
        (_unit(), None, 50, None, False, "now"),
        (_unit(), None, 50, "new", True, "now"),
        # Newer files, or a start at an unknown time: not known, so restart.
        (_unit(), None, 200, None, True, None),
        (_unit(), {"invocation": "h", "configuration": "now"}, 200, None, True, None),
        (_unit(), None, 99.99, None, True, None),
        (_unit(started=None), None, 50, None, True, None),
        # A systemd that gives no invocation id: an empty one is no match.
        (_unit(invocation=""), {"invocation": "", "configuration": "now"}, 200, None, True, None),
    ],
)
def test_decision(
    unit: Unit, record: dict[str, str] | None, newest: float, wanted: str | None, restart: bool, running: str | None
) -> None:
    decision = decide(unit, record, "now", newest, wanted)
    assert (decision.restart, decision.running) == (restart, running)
    assert decision.reason


PLUGINS = """\
TYPE                            ID          PLATFORMS      STATUS
io.containerd.content.v1        content     -              ok
io.containerd.snapshotter.v1    zfs         linux/amd64    skip
io.containerd.cri.v1            images      -              ok
io.containerd.cri.v1            runtime     linux/amd64    ok
io.containerd.grpc.v1           cri         -              ok
"""


@pytest.mark.parametrize(
    ("listing", "ready", "detail"),
    [
        (PLUGINS, True, "the CRI plugin is ready"),
        (PLUGINS.replace("linux/amd64    ok", "linux/amd64    error"), False, "io.containerd.cri.v1.runtime: error"),
        ("io.containerd.grpc.v1  cri  linux/amd64  error\n", False, "io.containerd.grpc.v1.cri: error"),
        ("", False, "the CRI plugin is not loaded"),
    ],
)
def test_cri(listing: str, ready: bool, detail: str) -> None:
    assert cri_ready(listing) == (ready, detail)


JOURNAL = """\
time="t" level=info msg="starting containerd"
time="t" level=info msg="skip loading plugin" error="skip plugin" id=io.containerd.server.v1.debug
time="t" level=warning msg="failed to load plugin" error="no runtime for `default_runtime_name = \\"nope\\"" id=runtime
time="t" level=warning msg="failed to load plugin" error="unable to load: no runtime for `default_runtime_name`" id=cri
time="t" level=warning msg="failed to load plugin" error="unable to load: no runtime for `default_runtime_name`" id=x
"""


@pytest.mark.parametrize(
    ("journal", "text"),
    [
        (
            JOURNAL,
            'no runtime for `default_runtime_name = "nope"; unable to load: no runtime for `default_runtime_name`',
        ),
        ("containerd: failed to load TOML: invalid\n", "containerd: failed to load TOML: invalid"),
        ('level=fatal msg="timeout waiting"\n', "timeout waiting"),
        ("one\ntwo\nthree\n\n", "two; three"),
        ("", "the journal says nothing"),
    ],
)
def test_reasons(journal: str, text: str) -> None:
    assert reasons(journal) == text
