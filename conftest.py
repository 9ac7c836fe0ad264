# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""For all of pytest's runs in this checkout: units, the lab's own tests, molecule's scenarios."""

from __future__ import annotations

import os
import pathlib

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add this run's numbers (passed, failed, skipped) to the file that `make test` and `make test-lab` sum up."""
    target = os.environ.get("GSHARE_TEST_COUNTS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if target and reporter:
        passed, failed, errors, skipped = (
            len(reporter.stats.get(key, [])) for key in ("passed", "failed", "error", "skipped")
        )
        with pathlib.Path(target).open("a", encoding="utf-8") as counts:
            counts.write(f"{passed} {failed + errors} {skipped}\n")
