# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_findings as findings
from ansible_collections.gshare.cluster.plugins.plugin_utils._preflight_model import Finding, Machine, finding

GONE = Machine("192.0.2.13", "192.0.2.13", ("cpu_node",), problem={"name": "unreachable", "text": "No route to host"})


def judge(make, settings, accept=()):
    settings.accept = list(accept)
    machines = [make(10, "kube_control_plane", cgroup="v1"), make(11, cgroup="v1", others=["docker"]), GONE]
    return findings.judge(machines, settings)


def test_errors_first_then_accepted_then_warnings(make, settings):
    found = judge(make, settings, ["cgroup_v1"])
    assert [(one.name, one.hosts, one.accepted) for one in found] == [
        ("unreachable", ("192.0.2.13",), False),
        ("other_runtime", ("192.0.2.11",), False),
        ("cgroup_v1", ("192.0.2.10", "192.0.2.11"), True),
    ]


def test_equal_findings_are_one_row(make, settings):
    text = findings.table(judge(make, settings), width=100)
    assert text.count("cgroup_v1") == 1
    assert "2 machines" in text
    assert "192.0.2.10 and 192.0.2.11" in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= 100


def test_the_table_has_remedies_and_shows_what_is_accepted(make, settings):
    text = " ".join(findings.table(judge(make, settings, ["cgroup_v1"]), width=200).split())
    assert "No route to host -> Try the same with ssh" in text
    assert "accepted 2 machines cgroup_v1" in text
    assert "unified_cgroup_hierarchy" not in text


def test_the_sentence_of_an_error(make, settings):
    text = findings.sentence(judge(make, settings), 3)
    assert text == (
        "preflight: 2 errors (192.0.2.10, 192.0.2.11 and 192.0.2.13), nothing was changed; "
        "put right what the table says, or accept what you know better about with gshare_accept (cgroup_v1)."
    )


def test_what_cannot_be_accepted_is_not_offered():
    found = [finding("sudo", "a", "x")]
    assert findings.sentence(found, 1) == "preflight: 1 error (a), nothing was changed; put right what the table says."


def test_the_sentence_of_a_success():
    one = finding("swap_on", "a", "x")
    accepted = Finding("cgroup_v1", ("a",), "x", "y", "error", True)
    assert findings.sentence([], 1) == "preflight: 1 machine, nothing found."
    assert findings.sentence([one, one, accepted], 3) == "preflight: 3 machines, 2 warnings, 1 accepted."


def test_an_accepted_warning_is_shown_as_accepted(make, settings):
    settings.accept = ["other_runtime"]
    (found,) = findings.judge([make(11, others=["docker"])], settings)
    assert found.accepted
    assert not found.fatal


def test_what_cannot_be_accepted_stays_an_error(settings):
    settings.accept = ["unreachable"]
    (found,) = findings.judge([GONE], settings)
    assert found.fatal


def test_data_for_programs(make, settings):
    found = judge(make, settings, ["cgroup_v1"])
    report = findings.data(found, [make(10), GONE])
    assert report["ok"] is False
    assert report["machines"] == ["192.0.2.10", "192.0.2.13"]
    assert report["findings"][0] == {
        "name": "unreachable",
        "hosts": ["192.0.2.13"],
        "text": "No route to host",
        "remedy": found[0].remedy,
        "severity": "error",
        "accepted": False,
    }
    assert findings.data(found[1:], [])["ok"] is True


def test_fifty_machines_take_no_time(make, settings):
    machines = [make(number) for number in range(10, 60)]
    assert findings.judge(machines, settings) == []


def test_every_name_is_tested():
    """A finding without a test may as well not be there."""
    texts = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_preflight_*.py"))
    assert [name for name in findings.KINDS if f'"{name}"' not in texts] == []


def test_when_no_worker_answers_the_run_does_not_go_on(settings):
    workers = [
        Machine(f"192.0.2.{n}", "x", ("cpu_node",), problem={"name": "worker_away", "text": "No"}) for n in (1, 2)
    ]
    found = findings.judge(workers, settings)
    assert ("no_worker", ("192.0.2.1", "192.0.2.2")) in [(one.name, one.hosts) for one in found if one.fatal]
    workers[0].problem = {"name": "unreachable", "text": "Permission denied"}
    assert "no_worker" not in [one.name for one in findings.judge(workers, settings)]
