# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._dpkg import Package, interrupted, parse, query

LIST = """\
kubelet hold installed 1.36.5-1.1
kubeadm install installed 1.36.5-1.1
kubectl hold config-files 1.36.4-1.1
nfs-common unknown not-installed
"""


def test_only_installed_packages_count() -> None:
    assert parse(LIST) == {"kubelet": Package("1.36.5-1.1", True), "kubeadm": Package("1.36.5-1.1", False)}


def test_dpkg_is_asked_for_what_is_read() -> None:
    form = "${Package} ${db:Status-Want} ${db:Status-Status} ${Version}\\n"
    assert query(["kubelet", "nvidia-*"]) == ["dpkg-query", "-W", "-f", form, "kubelet", "nvidia-*"]


@pytest.mark.parametrize(
    ("journal", "cut_off"), [([], False), (["tmp.i"], False), (["0000"], True), (["0000", "0012", "tmp.i"], True)]
)
def test_a_dpkg_that_was_cut_off(journal: list[str], cut_off: bool) -> None:
    assert interrupted(journal) is cut_off
