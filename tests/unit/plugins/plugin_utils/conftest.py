# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Machines without a fault, to which a test adds one."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import Machine, Settings

FACTS = Path(__file__).parent / "fixtures" / "preflight" / "facts.json"
Make = t.Callable[..., Machine]


@pytest.fixture
def make() -> Make:
    """A machine of the given last part of its address; what else is given replaces its facts."""

    def machine(number: int = 11, role: str = "gpu_node", **changes: t.Any) -> Machine:
        facts = json.loads(FACTS.read_text(encoding="utf-8").replace("192.0.2.11", f"192.0.2.{number}"))
        own = {"hostname": f"node-{number}", "machine_id": f"{number:032x}", "product_uuid": f"0-{number:x}"}
        unknown = set(changes) - set(facts)
        assert not unknown
        address = f"192.0.2.{number}"
        return Machine(address, address, (role,), {**facts, **own, **changes}, {}, {"before": 1000.0, "after": 1001.0})

    return machine


@pytest.fixture
def settings() -> Settings:
    return Settings(
        kubernetes_version="1.36",
        ports_control_plane=["2379/tcp", "10250/tcp", "8472/udp"],
        ports_worker=["10250/tcp", "8472/udp"],
        systems={"debian": ["12", "13"], "ubuntu": ["22.04", "24.04", "26.04"]},
        apt_source={
            "uri": "https://pkgs.k8s.io/core:/stable:/v1.36/deb/",
            "file": "/etc/apt/sources.list.d/kubernetes.sources",
            "signed_by": "/etc/apt/keyrings/kubernetes.asc",
        },
        docker_source={
            "uri": "https://download.docker.com/linux",
            "file": "/etc/apt/sources.list.d/gshare-docker.sources",
            "signed_by": "/etc/apt/keyrings/gshare-docker.asc",
            "minimum": "1.7",
            "systems": {"debian": ["12"]},
        },
    )
