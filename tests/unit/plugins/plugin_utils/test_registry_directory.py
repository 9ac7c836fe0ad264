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
        (facts(""), "is empty, so that it reads none"),
        (facts(None), "is empty"),
        (facts("/a:/b"), "is the list /a:/b, which containerd 2.1 and later do not read"),
    ],
)
def test_no_directory_yet(given: dict[str, str], said: str) -> None:
    # The containerd of a machine whose GPUs are in use was left alone, and the others are not held up by it.
    directory, (note,) = chosen(None, given, True)
    assert directory == "/etc/containerd/certs.d"
    assert said in note
    assert "count once it names that alone" in note
    assert chosen(None, given, False) == ("/etc/containerd/certs.d", [])


def test_a_configuration_that_cannot_be_read() -> None:
    given = facts(None, problem="line 3: no")
    with pytest.raises(RegistriesRefused, match=r"cannot read its configuration \(line 3: no\); correct it\."):
        chosen(None, given, True)
    assert chosen(None, given, False) == ("/etc/containerd/certs.d", [])
