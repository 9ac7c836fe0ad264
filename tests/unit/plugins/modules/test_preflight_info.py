# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import time
import typing as t
from pathlib import Path

from ansible_collections.gshare.cluster.plugins.modules import preflight_info


def test_facts_of_a_bare_root(tmp_path: Path, run_module: t.Any) -> None:
    main = functools.partial(preflight_info.main, str(tmp_path))
    result = run_module(main, {"ports": [6443], "paths": ["/var/lib"]}, check=True)
    assert result["changed"] is False
    assert result["facts"]["hostname"] == ""
    assert abs(result["facts"]["time"] - time.time()) < 30


def test_facts_of_this_machine(run_module: t.Any) -> None:
    facts = run_module(preflight_info.main, {})["facts"]
    assert facts["hostname"]
    assert facts["memory_mb"]["total"] > 0
    assert facts["disks"]["/var/lib"]["total_mb"] > 0
