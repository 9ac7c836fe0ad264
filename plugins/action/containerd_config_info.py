# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase

from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_findings import (
    findings,
    not_imported,
    other_daemon,
)
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_origin import sources
from ansible_collections.gshare.cluster.plugins.plugin_utils._containerd_toml import (
    Config,
    ConfigRefused,
    parse,
    schema_of,
)


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        facts: dict[str, t.Any] = self._execute_module(
            module_name="gshare.cluster.containerd_config_info", module_args=self._task.args, task_vars=task_vars
        )
        if facts.get("failed") or not facts["installed"]:
            return {**result, **facts}
        config = Config(facts["path"], facts["content"], facts["dump"], facts["drop_ins"])
        result.update({name: facts[name] for name in ("changed", "installed", "path", "program", "version")})
        result.update(service_state=facts["service_state"], problem=facts["dump_problem"], files=list(config.texts))
        try:
            for path, text in config.texts.items():
                parse(path, text)
        except ConfigRefused as exc:
            return {**result, "settings": [], "findings": [], "problem": str(exc)}
        result["findings"] = findings(config) + not_imported(config, facts["idle"])
        result["findings"] += other_daemon(config, facts["stranger"], facts["service"])
        result["settings"] = sources(config) if config.dump else []
        if config.dump:
            result["schema"] = schema_of(config.dump)
        return result
