# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.plugin_utils._verify_view import expected_hosts, failed, sentence, table


def check(name: str, status: str, *problems: str, remedy: str = "") -> dict:
    return {
        "name": name,
        "status": status,
        "detail": "; ".join(problems) or "fine",
        "problems": list(problems),
        "remedy": remedy,
    }


def test_expected_hosts():
    groups = {
        "kube_cluster": ["a", "b", "c", "d"],
        "kube_control_plane": ["a"],
        "gpu_exclusive": ["b"],
        "cpu_node": ["c"],
        "storage_node": ["d"],
    }
    wanted = [{"address": f"192.0.2.{index}", "labels": {"n": str(index)}, "taints": []} for index in range(4)]
    hosts = expected_hosts(groups, wanted)
    assert [host["roles"] for host in hosts] == [["control plane"], ["gpu exclusive"], ["cpu"], ["storage"]]
    assert hosts[1] == {"host": "b", "roles": ["gpu exclusive"], **wanted[1]}
    assert expected_hosts({}, []) == []


def test_table_has_a_line_a_problem_and_the_remedy():
    text = table([check("api", "ok"), check("dns", "failed", "one", "two", remedy="Do it.")], 80)
    assert text == (
        "Check  Result  Detail\n"
        "-----  ------  --------------\n"
        "api    ok      fine\n"
        "dns    failed  one\n"
        "               two\n"
        "               Remedy: Do it."
    )


def test_many_problems_do_not_fill_the_screen():
    text = table([check("nodes", "failed", *[f"node {i}" for i in range(50)])], 80)
    assert len(text.split("\n")) == 2 + 6 + 1
    assert "and 44 more of this kind" in text


def test_sentence():
    checks = [
        check("api", "ok"),
        check("dns", "failed", "x"),
        check("unlisted", "warning", "y"),
        check("traffic", "skipped"),
    ]
    assert sentence(checks).startswith("1 of 3 checks of the cluster failed: dns; ")
    assert failed(checks) == ["dns"]
    assert sentence(checks[:1]) == ""
