# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this plugin util is **PRIVATE** to the collection. It can change at any time.

"""Which proxy containerd is to have, by what its machine says."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ansible_collections.gshare.cluster.plugins.module_utils._proxy import assigned, differs, drop_in, hide
from ansible_collections.gshare.cluster.plugins.plugin_utils import _no_proxy
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_report import file_diff
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import listed

OTHER = "the running daemon has another proxy"


@dataclass(frozen=True)
class Wish:
    """The drop-in as it is and as it should be (None: there is none), and whether containerd has to be restarted."""

    path: str
    before: str | None
    after: str | None
    restart: bool
    warnings: list[str]

    @property
    def written(self) -> bool:
        return self.before != self.after

    def diff(self) -> dict[str, str]:
        return file_diff(self.path, hide(self.before or ""), hide(self.after or ""))


def wish(facts: t.Mapping[str, t.Any], direct: t.Iterable[str] | None) -> Wish:
    """C(facts) is what the machine says about proxies, C(direct) what must not go through one; None: leave it alone."""
    if direct is None:
        return Wish(facts["path"], facts["text"], facts["text"], restart=False, warnings=[])
    direct = [_no_proxy.host(entry) for entry in direct]
    values = dict(facts["environment"])
    excluded = _no_proxy.complete(values.pop("NO_PROXY", ""), direct)
    warnings = _of_others(facts, direct) if values else []
    text = None
    if values and not facts["others"]:
        text = drop_in({**values, "NO_PROXY": excluded} if excluded else values)
    restart = differs(facts["running"], assigned(text or ""))
    return Wish(facts["path"], facts["text"], text, restart, warnings)


def _of_others(facts: t.Mapping[str, t.Any], direct: list[str]) -> list[str]:
    """What a proxy of someone else, which stays, lacks."""
    running = {name.upper(): value for name, value in (facts["running"] or {}).items() if value}
    missing = _no_proxy.missing(running.get("NO_PROXY", ""), direct)
    if not facts["others"] or not missing or not {"HTTP_PROXY", "HTTPS_PROXY"}.intersection(running):
        return []
    return [f"containerd has its proxy from {listed(facts['others'])}; NO_PROXY there lacks {listed(missing, 8)}."]
