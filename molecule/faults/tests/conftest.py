# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two machines are enough for what goes wrong, and a GPU worker makes runs longer by half: gpu1 is off."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="session")
def playbooks(playbooks, lab, tmp_path_factory):
    """The same, with an inventory that does not name gpu1."""
    folder = tmp_path_factory.mktemp("inventory")
    shutil.copytree(playbooks.inventory.parent / "group_vars", folder / "group_vars")
    lines = playbooks.inventory.read_text(encoding="utf-8").splitlines(keepends=True)
    pair = folder / "cluster-info"
    pair.write_text("".join(line for line in lines if not line.startswith("WORKER_NODES=")), encoding="utf-8")
    lab("kill", "gpu1")
    yield type(playbooks)(pair)
    lab("start", "gpu1")
