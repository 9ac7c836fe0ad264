# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster-info with mistakes in it: all of them are told, and no machine is touched."""

from __future__ import annotations

import pytest

BROKEN = """\
MASTER_NODES=ubuntu@10.0.0.10
WORKER_NODES=ubuntu@10.0.0.20:22,ubuntu@10.0.0.21:exclusiv
CPU_WORKERS=ubuntu@10.0.0.20
"""


@pytest.fixture(scope="module")
def run(playbooks, tmp_path_factory):
    path = tmp_path_factory.mktemp("broken") / "cluster-info"
    path.write_text(BROKEN, encoding="utf-8")
    return playbooks.run("up", inventory=path)


def test_fails_before_the_first_play(run) -> None:
    assert run.status != 0
    assert "PLAY [" not in run.output


@pytest.mark.parametrize("text", ["MASTER_NODE", "10.0.0.20:22", "exclusiv", "cluster-info:2: ", "cluster-info:3: "])
def test_tells_every_mistake(run, text) -> None:
    assert text in run.output


def test_says_nothing_of_the_program(run) -> None:
    assert "Traceback" not in run.output
