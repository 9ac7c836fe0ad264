# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role's variables as its tasks and templates see them, without a run."""

from __future__ import annotations

import pathlib
import typing as t

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"


def templar(role: str, **settings: t.Any) -> Templar:
    loader = DataLoader()
    variables: dict[str, t.Any] = {"ansible_managed": "Ansible managed", "inventory_hostname": "192.0.2.10"}
    variables["groups"] = {"kube_control_plane": ["192.0.2.10"]}
    for name in ("defaults", "vars"):
        path = ROLES / role / name / "main.yml"
        variables.update((loader.load_from_file(str(path), trusted_as_template=True) or {}) if path.exists() else {})
    return Templar(loader, {**variables, **settings})


def value(role: str, expression: str, **settings: t.Any) -> t.Any:
    """What an expression of the role's tasks comes to."""
    return templar(role, **settings).template(trust_as_template("{{ " + expression + " }}"))
