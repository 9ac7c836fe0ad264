# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""The directory in which this containerd looks for registries."""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_registry import CONFIG_PATH
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import effective
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_hosts import DIRECTORY
from ansible_collections.gshare.cluster.plugins.plugin_utils._registry_wishes import RegistriesRefused
from ansible_collections.gshare.cluster.plugins.plugin_utils._toml_scan import lookup


def chosen(given: str | None, facts: t.Mapping[str, t.Any], needed: bool) -> tuple[str, list[str]]:
    """The directory, and what is to be said about it."""
    named = str(lookup(effective(facts["dump"]), CONFIG_PATH) or "") if facts["dump"] else ""
    if given:
        other = named != given and f"containerd looks for registries in {named or 'no directory'}, not in {given}; "
        return given, [f"{other}set registry.config_path in its configuration."] if other else []
    if named and ":" not in named:
        return named, []
    if not needed:
        return DIRECTORY, []
    if facts["dump_problem"]:
        raise RegistriesRefused([f"containerd cannot read its configuration ({facts['dump_problem']}); correct it."])
    # A machine whose GPUs are in use keeps its containerd as it is: what is written counts once it may be restarted.
    now = (
        f"is the list {named}, which containerd 2.1 and later do not read"
        if named
        else "is empty, so that it reads none"
    )
    return DIRECTORY, [
        f"containerd's registry.config_path {now}: the registries are in {DIRECTORY} and count once it names that "
        "alone. Role containerd does that, unless it left the machine alone because its GPUs are in use."
    ]
