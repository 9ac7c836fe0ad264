# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures for all unit tests."""

from __future__ import annotations

import json
import os
import typing as t

import hypothesis
import pytest
from ansible.module_utils import _internal
from ansible.module_utils.common import warnings
from ansible.module_utils.testing import patch_module_args

# No time limits, for machines that are busy; and the same examples each time where nobody looks for new ones.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

RunModule = t.Callable[..., dict[str, t.Any]]


@pytest.fixture
def run_module(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> RunModule:
    """Run a module's main() in this process and return the result that it prints."""
    remote_tmp = tmp_path_factory.mktemp("remote_tmp")
    # Another test may have loaded the controller's code, and then a module's warnings would go to the screen.
    monkeypatch.setattr(_internal, "is_controller", False)

    def run(
        main: t.Callable[[], None],
        args: dict[str, t.Any],
        *,
        check: bool = False,
        diff: bool = False,
    ) -> dict[str, t.Any]:
        internal = {
            "_ansible_check_mode": check,
            "_ansible_diff": diff,
            "_ansible_remote_tmp": str(remote_tmp),
            "_ansible_keep_remote_files": False,
        }
        # What an earlier run in this process warned of is not this one's.
        monkeypatch.setattr(warnings, "_global_warnings", {})
        monkeypatch.setattr(warnings, "_global_deprecations", {})
        capfd.readouterr()
        with patch_module_args({**args, **internal}), pytest.raises(SystemExit):
            main()
        return json.loads(capfd.readouterr().out)

    return run
