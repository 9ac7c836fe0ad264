# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way of a machine through a reboot: asked, down, back, driver works. Probe results in, phase and verdict out.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

ASKED, DOWN, BACK, WORKS = "asked", "down", "back", "driver works"
ORDER = (ASKED, DOWN, BACK, WORKS)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOST_KEY = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed", re.I)
# Machines that come up need some time even if nobody looked in the meantime.
GRACE = 30


def boot_id(text: str) -> str:
    """The id, or nothing if the text is none: a greeting or an error message is never an id."""
    text = text.strip().lower()
    return text if _UUID.fullmatch(text) else ""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One look at the machine: a command's status and output, or C(status) None where no connection came about."""

    status: int | None
    out: str = ""
    err: str = ""

    @property
    def boot_id(self) -> str:
        return boot_id(self.out) if self.status == 0 else ""

    @property
    def said(self) -> str:
        """The last line that says something; of a command that failed with its status."""
        lines = [line.strip() for line in (self.err or self.out).split("\n") if line.strip()]
        lines = [line for line in lines if not line.startswith(("Warning: Permanently added", "debug"))]
        last = lines[-1][:200] if lines else "no answer"
        if self.status is None:
            return last
        return f"`cat /proc/sys/kernel/random/boot_id` ended with {self.status}: {last}"


@dataclasses.dataclass
class Reboot:
    """Follows one machine. C(asked) and all times are seconds of one clock; C(limit) counts from C(asked)."""

    before: str
    asked: float
    limit: float
    begun: float
    phase: str = ASKED
    candidate: str = ""
    last: str = ""
    error: str = ""

    def feed(self, probe: Probe, now: float) -> str:
        """Take a probe; returns the phase if it is a new one, otherwise nothing."""
        old = self.phase
        found = probe.boot_id
        if found and found != self.before:
            # Once more on a fresh connection, then it counts.
            if found == self.candidate:
                self.phase = BACK
            self.candidate = found
            self.last = f"it answers with the boot_id {found}"
        elif found:
            self.candidate = ""
            self.last = "it still answers, with the boot_id from before"
        else:
            self.candidate = ""
            self.last = probe.said
            if probe.status is None and self.phase == ASKED:
                self.phase = DOWN
        if _HOST_KEY.search(probe.err):
            self.error = (
                f"The SSH host key is another one than before the reboot (phase {self.phase!r}, "
                f"{self._seconds(now)} s): see that it is the same machine, then remove the old key with ssh-keygen -R."
            )
        elif self.phase != BACK and now - max(self.asked, self.begun - self.limit + GRACE) >= self.limit:
            self.error = self._late(now)
        return self.phase if self.phase != old else ""

    @property
    def done(self) -> bool:
        return bool(self.error) or self.phase == BACK

    def _seconds(self, now: float) -> int:
        return round(now - self.asked)

    def _late(self, now: float) -> str:
        seconds = self._seconds(now)
        if self.phase == ASKED:
            text = f"The machine was asked to reboot {seconds} s ago and did not go down"
            hint = "see `systemctl list-jobs` and `systemd-inhibit --list` there"
        else:
            text = f"The machine went down and did not come back within {seconds} s"
            hint = "look at its console"
        return (
            f"{text} (phase {self.phase!r}; last seen: {self.last or 'nothing'}): {hint}; a longer limit is "
            "REBOOT_WAIT_TRIES, in steps of 5 s."
        )


def unreadable(probe: Probe) -> str:
    """Why a reboot cannot be followed: without the id from before nobody could tell that the machine is another."""
    return f"The machine's boot_id cannot be read, so it was not rebooted: {probe.said}."


# Ways to ask, the first that there is; a machine without systemd-sysv has no `shutdown`.
COMMANDS = ("systemctl reboot", "shutdown -r now", "reboot")


@dataclasses.dataclass(frozen=True)
class Asked:
    """What came of asking: it goes down, the command does not exist, or somebody holds it up."""

    ok: bool
    absent: bool = False
    error: str = ""


def asked(command: str, probe: Probe, inhibitors: str = "") -> Asked:
    """A connection that breaks off while the command runs is what a reboot does."""
    text = f"{probe.err}\n{probe.out}"
    if probe.status in (0, None, 255, 141) or re.search(r"connection .*closed", text, re.I):
        return Asked(True)
    if probe.status == 127 or "not found" in text:
        return Asked(False, absent=True)
    said = " ".join(text.split())[:300]
    held = inhibitors.strip()
    remedy = f"These hold it up:\n{held}\n Let them end" if held else "Put that right"
    return Asked(False, error=f"`{command}` ended with {probe.status}: {said}. {remedy}, then run again.")


def driver_failure(seconds: int, gpu: t.Mapping[str, t.Any], lines: t.Sequence[str]) -> str:
    """The machine is back, its driver does not work."""
    problems = " ".join(gpu.get("problems") or ["Nothing is known of the driver."])
    log = "".join(f"\n  {line}" for line in lines)
    return (
        f"The machine is back {seconds} s after it was asked to reboot, but its driver does not work (phase {BACK!r}): "
        f"{problems} {gpu.get('remedy', '')}{log}"
    )


def settled(gpu: t.Mapping[str, t.Any]) -> bool:
    """Whether waiting on makes no sense: it works, or it is none of the states that pass while a machine starts."""
    return gpu["repair"] in ("nothing", "person", "install") or gpu["smi"]["kind"] == "mismatch"


def held_back(host: str, gpu: t.Mapping[str, t.Any]) -> str:
    """Why a machine was left alone."""
    users = gpu["in_use"]
    told = ", ".join(users[:4]) + (f" and {len(users) - 4} more" if len(users) > 4 else "")
    left = "rebooted" if gpu["repair"] == "reboot" else "repaired"
    return (
        f"{host} was not {left}, since {told}. {' '.join(gpu['problems'])} Run again when that has ended, or with "
        f"-e gshare_disrupt={host} to disturb it all the same."
    )


def predicted(host: str, gpu: t.Mapping[str, t.Any]) -> str:
    """What a real run would do."""
    problems, repair = " ".join(gpu["problems"]), gpu["repair"]
    if repair == "person":
        return f"{host}: {problems} {gpu['remedy']}"
    would = {"install": "get a driver and be rebooted if that needs it", "load": "have its driver loaded"}
    return f"{host} would {would.get(repair, 'be rebooted')}. {problems}"
