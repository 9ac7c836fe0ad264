# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

"""Cases 40 to 47: every way that a machine may go through a reboot, as the answers that it gives."""

import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _reboot as reboot
from ansible_collections.gshare.cluster.plugins.plugin_utils._reboot import Probe

OLD = "0b1f7a32-9c55-4d6e-8a1b-2f3c4d5e6f70"
NEW = "1c2e8b43-0d66-4e7f-9b2c-3a4d5e6f7081"
THIRD = "2d3f9c54-1e77-4f80-8c3d-4b5e6f708192"
REFUSED = Probe(None, err="ssh: connect to host 192.0.2.21 port 22: Connection refused")


def answers(boot_id: str) -> Probe:
    return Probe(0, f"{boot_id}\n")


def follow(*probes: Probe, limit: float = 600, step: float = 5) -> tuple[reboot.Reboot, list[str]]:
    """Feed one probe every C(step) seconds; the phases that were new."""
    machine = reboot.Reboot(OLD, 0.0, limit, 0.0)
    phases = []
    for index, probe in enumerate(probes):
        if machine.done:
            break
        phases.append(machine.feed(probe, (index + 1) * step))
    return machine, [phase for phase in phases if phase]


def test_the_usual_way() -> None:
    machine, phases = follow(answers(OLD), REFUSED, REFUSED, answers(NEW), answers(NEW))
    assert phases == [reboot.DOWN, reboot.BACK]
    assert (machine.done, machine.error) == (True, "")


def test_a_machine_that_is_too_fast_to_be_seen_down() -> None:
    machine, phases = follow(answers(OLD), answers(NEW), answers(NEW))
    assert (machine.done, phases) == (True, [reboot.BACK])


def test_a_machine_that_goes_down_slowly_answers_with_the_old_id_for_minutes() -> None:
    machine, phases = follow(*[answers(OLD)] * 60, REFUSED, answers(NEW), answers(NEW))
    assert (machine.error, phases) == ("", [reboot.DOWN, reboot.BACK])


def test_one_read_is_not_enough() -> None:
    machine, _phases = follow(REFUSED, answers(NEW))
    assert not machine.done
    assert machine.candidate == NEW


def test_two_boots_one_after_the_other() -> None:
    machine, _phases = follow(REFUSED, answers(NEW), REFUSED, answers(THIRD), answers(THIRD))
    assert machine.done
    assert follow(REFUSED, answers(NEW), answers(THIRD))[0].done is False


@pytest.mark.parametrize(
    "text",
    [
        "cat: /proc/sys/kernel/random/boot_id: No such file",
        "",
        "System is booting up. Unprivileged users are not permitted to log in yet.",
        f"{NEW} and more",
        NEW[:-1],
    ],
)
def test_error_text_is_never_an_id(text: str) -> None:
    assert reboot.boot_id(text) == ""
    assert not follow(REFUSED, Probe(0, text), Probe(0, text))[0].done


def test_an_id_of_a_command_that_failed_does_not_count() -> None:
    assert not follow(REFUSED, Probe(1, NEW), Probe(1, NEW))[0].done


def test_case_40_the_id_cannot_be_read() -> None:
    text = reboot.unreadable(Probe(1, "", "cat: boot_id: Permission denied\n"))
    assert "`cat /proc/sys/kernel/random/boot_id` ended with 1: cat: boot_id: Permission denied" in text
    probe = Probe(1, "", "banner\nsudo: a password is required\n")
    machine, _phases = follow(*[probe] * 13, limit=60)
    assert "ended with 1: sudo: a password is required" in machine.error


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        (Probe(None), "no answer"),
        (Probe(None, err="ssh: Connection refused\r\n\n  \n"), "ssh: Connection refused"),
        (
            Probe(None, err="No route\nWarning: Permanently added '192.0.2.21' to the list.\ndebug1: Exit status -1\n"),
            "No route",
        ),
        (Probe(None, out="a greeting\n"), "a greeting"),
    ],
)
def test_what_a_machine_said_last(probe: Probe, said: str) -> None:
    assert probe.said == said
    machine, _phases = follow(*[probe] * 13, limit=60)
    assert f"last seen: {said})" in machine.error


def test_case_41_another_host_key_stops_at_once() -> None:
    probe = Probe(None, err="WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\r\nHost key verification failed.")
    machine, _phases = follow(REFUSED, probe)
    assert machine.done
    assert "SSH host key is another one" in machine.error
    assert "10 s" in machine.error


@pytest.mark.parametrize(
    "probe",
    [
        Probe(255, err="Shared connection to 192.0.2.21 closed."),
        Probe(None, err="Connection reset by peer"),
        Probe(141),
        Probe(0),
    ],
)
def test_case_43_a_connection_that_is_cut_was_the_reboot(probe: Probe) -> None:
    assert reboot.asked("systemctl reboot", probe).ok


def test_case_44_inhibitors_are_named() -> None:
    probe = Probe(1, err='Operation inhibited by "Unattended Upgrades Shutdown" (PID 812), reason is "Stop ongoing".')
    answer = reboot.asked(
        "systemctl reboot", probe, "unattended-upgr 0 root 812 shutdown Stop ongoing upgrades block\n"
    )
    assert (answer.ok, answer.absent) == (False, False)
    assert "`systemctl reboot` ended with 1: Operation inhibited by" in answer.error
    assert "812 shutdown Stop ongoing upgrades block" in answer.error
    assert answer.error.endswith(" Let them end, then run again.")
    machine, _phases = follow(*[answers(OLD)] * 13, limit=60)
    assert "did not go down" in machine.error
    assert "systemd-inhibit --list" in machine.error


def test_a_refusal_that_nobody_holds_up() -> None:
    answer = reboot.asked("reboot", Probe(1, err="Access denied"), " \n")
    assert answer.error == "`reboot` ended with 1: Access denied. Put that right, then run again."


def test_case_45_the_next_command_where_one_is_missing() -> None:
    assert reboot.asked("shutdown -r now", Probe(127, err="sh: 1: shutdown: not found")).absent
    assert reboot.COMMANDS[0] == "systemctl reboot"


def test_case_46_slow_hardware_is_a_setting_away() -> None:
    machine, _phases = follow(answers(OLD), *[REFUSED] * 120)
    assert "did not come back within 600 s" in machine.error
    assert "Connection refused" in machine.error
    assert "REBOOT_WAIT_TRIES" in machine.error
    machine, _phases = follow(answers(OLD), *[REFUSED] * 167, answers(NEW), answers(NEW), limit=1200)
    assert (machine.done, machine.error) == (True, "")


def test_case_47_a_probe_that_breaks_off_is_repeated() -> None:
    machine, _phases = follow(REFUSED, answers(NEW), Probe(255, err="Connection closed"), answers(NEW), answers(NEW))
    assert (machine.done, machine.error) == (True, "")


def test_one_that_had_to_queue_for_its_turn_is_looked_at_for_a_while() -> None:
    machine = reboot.Reboot(OLD, 0.0, 600, 1200.0)
    machine.feed(REFUSED, 1201.0)
    assert not machine.done
    machine.feed(answers(NEW), 1205.0)
    machine.feed(answers(NEW), 1206.0)
    assert (machine.done, machine.error) == (True, "")
    late = reboot.Reboot(OLD, 0.0, 600, 1200.0)
    late.feed(REFUSED, 1231.0)
    assert "1231 s" in late.error


def gpu(repair: str = "reboot", kind: str = "not_loaded") -> dict[str, t.Any]:
    return {
        "repair": repair,
        "smi": {"kind": kind},
        "problems": ["The driver 580.95.05 is installed, and the machine was not rebooted since."],
        "remedy": "Reboot.",
        "in_use": ["pod team/train-1 uses a GPU"],
    }


def test_a_driver_that_does_not_work_after_the_reboot() -> None:
    text = reboot.driver_failure(42, gpu(), ["NVRM: No NVIDIA devices probed."])
    assert "back 42 s after it was asked" in text
    assert "(phase 'back')" in text
    assert text.endswith("Reboot.\n  NVRM: No NVIDIA devices probed.")
    assert gpu()["problems"][0] in text
    assert "Nothing is known of the driver." in reboot.driver_failure(42, {}, [])


@pytest.mark.parametrize(
    ("repair", "kind", "wanted"),
    [
        ("nothing", "works", True),
        ("load", "not_loaded", False),
        ("reboot", "mismatch", True),
        ("person", "hangs", True),
        ("reboot", "not_loaded", False),
    ],
)
def test_states_that_pass_are_waited_for(repair: str, kind: str, wanted: bool) -> None:
    assert reboot.settled(gpu(repair, kind)) is wanted


def test_who_holds_back_a_reboot() -> None:
    text = reboot.held_back("192.0.2.21", gpu())
    assert text.startswith("192.0.2.21 was not rebooted, since pod team/train-1 uses a GPU. ")
    assert "-e gshare_disrupt=192.0.2.21" in text
    four = {**gpu(), "in_use": [f"process {number} (x) uses a GPU" for number in range(4)]}
    assert "process 3 (x) uses a GPU. " in reboot.held_back("a", four)
    many = {**gpu("install"), "in_use": [f"process {number} (x) uses a GPU" for number in range(9)]}
    assert "was not repaired" in reboot.held_back("a", many)
    assert "and 5 more" in reboot.held_back("a", many)


def test_check_mode_says_what_would_be() -> None:
    assert reboot.predicted("a", gpu()).startswith("a would be rebooted.")
    assert reboot.predicted("a", gpu("install")).startswith("a would get a driver")
    assert reboot.predicted("a", gpu("person")) == f"a: {gpu()['problems'][0]} Reboot."
