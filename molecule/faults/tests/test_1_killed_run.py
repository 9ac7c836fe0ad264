# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that is killed at any point is repaired by running again.

All kills hit one cluster, on its way up from fresh machines: each run begins with what the one before has left.
"""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def fresh_machines(lab) -> None:
    for node in ("control1", "cpu1"):
        lab("fresh", node)


@pytest.mark.parametrize(
    ("task", "after"),
    [
        pytest.param("gshare.cluster.kubeadm : Install the Kubernetes packages", 3, id="packages"),
        pytest.param("gshare.cluster.containerd : Configure containerd", 0.5, id="containerd"),
        pytest.param("gshare.cluster.kubeadm : Initialise the control plane", 4, id="init"),
        pytest.param("gshare.cluster.kubeadm : Join the cluster", 0.7, id="join"),
        pytest.param("gshare.cluster.flannel : Apply flannel", 1, id="services"),
    ],
)
def test_run_gets_as_far_as_where_it_is_killed(playbooks, task, after) -> None:
    assert playbooks.kill("up", task, after=after)


def test_next_run_finishes_the_cluster(playbooks, lab) -> None:
    # Beside what the kills have left: the journal of a dpkg that lost its power, with which apt does nothing.
    lab("ssh", "cpu1", "sudo sh -c 'dpkg-query --status bash >/var/lib/dpkg/updates/0000'")
    assert "dpkg was interrupted" in lab("ssh", "cpu1", "sudo apt-get --assume-yes install bash 2>&1 | cat")
    # That nothing is left to do after it is what test_2_power asks next.
    assert playbooks.run("up").status == 0
    assert lab("ssh", "cpu1", "ls /var/lib/dpkg/updates") == ""
