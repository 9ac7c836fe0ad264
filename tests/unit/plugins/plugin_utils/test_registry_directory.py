# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_directory import chosen
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import RegistriesRefused


def facts(path: str | None, schema: int = 3, problem: str = "") -> dict[str, str]:
    plugin = "io.containerd.grpc.v1.cri" if schema == 2 else "io.containerd.cri.v1.images"
    table = f'[plugins."{plugin}".registry]\nconfig_path = "{path}"\n' if path is not None else ""
    return {"dump": "" if problem else f"version = {schema}\n{table}", "dump_problem": problem}


@pytest.mark.parametrize("schema", [2, 3, 4])
def test_an_owners_own_directory_is_used(schema: int) -> None:
    assert chosen(None, facts("/srv/registries", schema), True) == ("/srv/registries", [])


def test_one_that_the_daemon_does_not_name() -> None:
    directory, (note,) = chosen("/srv/a", facts("/srv/b"), True)
    assert directory == "/srv/a"
    assert note.startswith("containerd looks for registries in /srv/b, not in /srv/a; set ")
    assert chosen("/srv/a", facts("/srv/a"), True) == ("/srv/a", [])
    assert "in no directory, not in /srv/a" in chosen("/srv/a", facts(None), True)[1][0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (facts(""), "is empty, so it reads no hosts.toml; set it to /etc/containerd/certs.d."),
        (facts(None), "is empty"),
        (facts("/a:/b"), "is the list /a:/b, which containerd 2.1 and later do not read; set it to"),
        (facts(None, problem="line 3: no"), "cannot read its configuration (line 3: no); correct it."),
    ],
)
def test_no_directory(given: dict[str, str], said: str) -> None:
    with pytest.raises(RegistriesRefused) as caught:
        chosen(None, given, True)
    assert said in str(caught.value)
    assert chosen(None, given, False) == ("/etc/containerd/certs.d", [])
