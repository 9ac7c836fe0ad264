# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils._summary import Record, Work, clock, screen


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Clock:
    return Clock()


def run(watch: Clock, hosts: int, ready: bool = True) -> Record:
    record = Record(watch)
    record.play("Prepare")
    record.task("ansible.builtin.command", "gshare.cluster", "node")
    for index in range(hosts):
        record.begin(f"h{index}", "t")
    for index in range(hosts):
        watch.now += 1
        record.finish(f"h{index}", "t", changed=index == 0)
    record.play("Verify")
    record.task("gshare.cluster.verify", "gshare.cluster", "verify")
    record.verify = {
        "checks": [],
        "nodes": [
            {
                "name": f"n{index}",
                "host": f"h{index}",
                "address": f"192.0.2.{index}",
                "roles": ["control plane"] if index == 0 else ["cpu"],
                "ready": ready or index != 7,
                "version": "v1.36.3",
            }
            for index in range(hosts)
        ],
    }
    record.close()
    return record


def test_time_is_counted_from_begin_to_finish(watch):
    record = run(watch, 3)
    assert record.totals() == {"h0": Work(1.0, 1, 0, 1), "h1": Work(2.0, 1, 0, 0), "h2": Work(3.0, 1, 0, 0)}
    assert [phase.seconds for phase in record.phases] == [3.0, 0.0]


def test_gpus_have_a_column_where_there_are_some(watch):
    record = run(watch, 2)
    assert "GPU" not in screen(record, [], check=False, shown=5, width=120)
    record.verify["nodes"][1]["gpu"] = "580.95.05, 2 cards x 10"
    lines = screen(record, [], check=False, shown=5, width=120).splitlines()
    assert lines[0].split() == ["Node", "Address", "Role", "State", "Version", "GPU", "Time"]
    assert "v1.36.3  -  " in lines[2]
    assert "580.95.05, 2 cards x 10" in lines[3]


def test_a_task_that_never_began_takes_no_time(watch):
    record = Record(watch)
    record.play("A")
    watch.now += 50
    record.finish("h", "include")
    assert record.totals()["h"] == Work(0.0, 1, 0, 0)


def test_fifty_nodes_fit_a_screen(watch):
    text = screen(run(watch, 50, ready=False), [], check=False, shown=10, width=120)
    assert len(text.split("\n")) < 40
    assert "and 40 more nodes\n" in text
    # The control plane, the one in trouble, the slowest.
    assert all(f"\n{name} " in text for name in ("n0", "n7", "n49"))
    assert "\nn20 " not in text


def test_all_ready_is_said(watch):
    assert "and 40 more nodes, all Ready" in screen(run(watch, 50), [], check=False, shown=10, width=120)


def test_notice_is_told_once(watch):
    record = run(watch, 2)
    for sentence in ("It is archived.", "", None, "It is archived."):
        record.notice(sentence)
    assert screen(record, [], check=False, shown=10, width=120).count("Notice:     It is archived.") == 1


def test_a_run_that_changed_nothing_says_so(watch):
    record = run(watch, 2)
    assert "Nothing had to be changed." not in screen(record, [], check=False, shown=10, width=120)
    for phase in record.phases:
        for work in phase.hosts.values():
            work.changed = 0
    assert "Nothing had to be changed.\n\nKubeconfig:" in screen(record, [], check=False, shown=10, width=120)


def test_many_failures_are_cut_short(watch):
    record = run(watch, 50)
    for index in range(50):
        record.fail(f"h{index}", "Install packages", "E: Unable to locate package kubelet\n" * 40)
    text = screen(record, [f"h{index}" for index in range(50)], check=False, shown=10, width=120)
    assert "and 42 more" in text
    assert len(text.split("\n")) == 3
    assert len(text) < 1000


def test_a_long_message_keeps_its_remedy(watch):
    record = run(watch, 1)
    record.fail(
        "h0", "Initialise", "The API does not answer. " + "Something about etcd. " * 100 + "Set X and run again."
    )
    text = screen(record, ["h0"], check=False, shown=10, width=120)
    assert "Initialise: The API does not answer." in text
    assert "Set X and run again.\n" in text


def test_rescued_failures_are_none(watch):
    record = run(watch, 2)
    record.fail("h0", "Try", "no")
    assert "Stopped" not in screen(record, [], check=False, shown=10, width=120)


def test_unreachable_hosts_have_a_remedy_of_their_own(watch):
    record = run(watch, 2)
    record.fail("h1", "Gather", "Connection timed out", unreachable=True)
    assert "see that ssh reaches h1" in screen(record, ["h1"], check=False, shown=10, width=120)


def test_a_run_that_went_on_without_a_machine_names_what_it_ended_with(watch):
    record = Record(watch)
    record.play("Check the machines")
    record.task("gshare.cluster.preflight_info", "gshare.cluster", "preflight")
    record.fail("h1", "Gather", "No route to host", unreachable=True)
    record.play("Verify")
    assert screen(record, ["h1"], check=False, shown=10).split("\n")[:2] == [
        "Came to its end after 0.0 s, without what is left out.",
        "Left out: h1: No route to host",
    ]
    record.fail("h0", "Prove", "1 of 21 checks failed")
    assert screen(record, ["h0", "h1"], check=False, shown=10).split("\n") == [
        "Stopped in phase 'Verify' after 0.0 s because of h0.",
        "First: h0, Prove: 1 of 21 checks failed",
        "Left out: h1: No route to host",
        "Next: see that ssh reaches h1, then run the same command again.",
    ]


def test_without_nodes_the_hosts_are_shown(watch):
    record = run(watch, 3)
    record.verify = {"nodes": [], "checks": [{"name": "x", "status": "skipped"}]}
    assert "h2    1      0        3.0 s" in screen(record, [], check=True, shown=10, width=120)


def test_verify_alone_has_its_own_table(watch):
    record = run(watch, 3)
    record.roles = {"verify"}
    assert screen(record, [], check=False, shown=10, width=120) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.44, "0.4 s"), (9.96, "10 s"), (119.4, "119 s"), (185, "3 min 05 s")])
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize("failed", [[], ["h1"]])
def test_what_was_left_undone_is_listed_once(watch, failed):
    record = run(watch, 2)
    for sentences in (["gpu1 was not rebooted."], ["gpu1 was not rebooted.", "gpu2 was not rebooted."], None, [], "x"):
        record.hold_back(sentences)
    for host in failed:
        record.fail(host, "Install", "no space")
    text = screen(record, failed, check=False, shown=20)
    assert "Left undone:\n- gpu1 was not rebooted.\n- gpu2 was not rebooted." in text


def test_nothing_was_left_undone(watch):
    assert "Left undone" not in screen(run(watch, 2), [], check=False, shown=20)
