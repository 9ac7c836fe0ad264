# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happened in a run, and the screen that tells it.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._table import render

Json = dict[str, t.Any]
COLLECTION = "gshare.cluster"


@dataclasses.dataclass
class Work:
    """What one host did."""

    seconds: float = 0.0
    executed: int = 0
    skipped: int = 0
    changed: int = 0

    def add(self, other: Work) -> None:
        self.seconds += other.seconds
        self.executed += other.executed
        self.skipped += other.skipped
        self.changed += other.changed

    def as_dict(self) -> Json:
        return {**dataclasses.asdict(self), "seconds": round(self.seconds, 2)}


@dataclasses.dataclass
class Phase:
    """One play."""

    name: str
    start: float
    end: float = 0.0
    tasks: int = 0
    hosts: dict[str, Work] = dataclasses.field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclasses.dataclass
class Failure:
    host: str
    phase: str
    task: str
    message: str
    unreachable: bool = False


class Record:
    """Collects a run: phases, work of each host, failures, what verify found."""

    def __init__(self, clock: t.Callable[[], float]) -> None:
        self.clock = clock
        self.start = clock()
        self.end = self.start
        self.phases: list[Phase] = []
        self.failures: list[Failure] = []
        self.roles: set[str] = set()
        self.ours = False
        self.verify: Json = {}
        self.places: Json = {}
        self.held_back: list[str] = []
        self.notices: list[str] = []
        self._begun: dict[tuple[str, str], float] = {}

    def play(self, name: str) -> None:
        now = self.clock()
        if self.phases:
            self.phases[-1].end = now
        self.phases.append(Phase(name, now, now))

    def task(self, action: str, collection: str, role: str) -> None:
        self.phases[-1].tasks += 1
        if collection == COLLECTION:
            self.ours = True
            self.roles.add(role)
        if action.startswith(f"{COLLECTION}."):
            self.ours = True

    def begin(self, host: str, task: str) -> None:
        self._begun[host, task] = self.clock()

    def finish(self, host: str, task: str, *, skipped: bool = False, changed: bool = False) -> None:
        """A task ended on a host. One that was never begun (an include) took no time."""
        now = self.clock()
        spent = now - self._begun.pop((host, task), now)
        work = self.phases[-1].hosts.setdefault(host, Work())
        work.add(Work(spent, int(not skipped), int(skipped), int(changed)))

    def fail(self, host: str, task: str, message: str, unreachable: bool = False) -> None:
        self.failures.append(Failure(host, self.phases[-1].name, task, message, unreachable))

    def notice(self, sentence: t.Any) -> None:
        """What somebody who runs a cluster should know, once."""
        if sentence and str(sentence) not in self.notices:
            self.notices.append(str(sentence))

    def hold_back(self, sentences: t.Any) -> None:
        """What a task left undone, each sentence once."""
        if isinstance(sentences, list):
            self.held_back += [str(one) for one in dict.fromkeys(sentences) if str(one) not in self.held_back]

    def close(self) -> None:
        self.end = self.clock()
        if self.phases:
            self.phases[-1].end = self.end

    def totals(self) -> dict[str, Work]:
        """The work of each host over all phases."""
        result: dict[str, Work] = {}
        for phase in self.phases:
            for host, work in phase.hosts.items():
                result.setdefault(host, Work()).add(work)
        return result

    def as_dict(self) -> Json:
        """The numbers, for a file."""
        return {
            "seconds": round(self.end - self.start, 2),
            "phases": [
                {
                    "phase": phase.name,
                    "seconds": round(phase.seconds, 2),
                    "tasks": phase.tasks,
                    "hosts": {host: work.as_dict() for host, work in phase.hosts.items()},
                }
                for phase in self.phases
            ],
            "hosts": {host: work.as_dict() for host, work in self.totals().items()},
        }


def screen(record: Record, failed: t.Collection[str], *, check: bool, shown: int, width: int | None = None) -> str:
    """What to show at the end of a run; empty for a run that is not ours or has nothing to tell."""
    if not record.ours:
        return ""
    if failed:
        return _broken(record, failed, check=check)
    if not record.verify or not record.roles - {"preflight", "verify"}:
        return ""
    parts = [_nodes(record, shown, width), _phases(record, width), _held(record), _next(record, check=check)]
    return "\n\n".join(part for part in parts if part)


def _broken(record: Record, failed: t.Collection[str], *, check: bool) -> str:
    real = [failure for failure in record.failures if failure.host in failed]
    if not real:
        return ""
    # The run went on without those that did not answer.
    left = [failure for failure in real if failure.unreachable and failure.phase != record.phases[-1].name]
    away = [failure.host for failure in real if failure.unreachable]
    spent = clock(record.end - record.start)
    stopping = [failure for failure in real if failure not in left]
    if stopping:
        first, hosts = stopping[0], list(dict.fromkeys(failure.host for failure in stopping))
        lines = [f"Stopped in phase {first.phase!r} after {spent} because of {_some(hosts)}."]
        lines.append(f"First: {first.host}, {first.task}: {_short(first.message)}")
    else:
        lines = [f"Came to its end after {spent}, without what is left out."]
    if left:
        lines.append(f"Left out: {_some([failure.host for failure in left])}: {_short(left[0].message)}")
    if away:
        lines.append(f"Next: see that ssh reaches {_some(away)}, then run the same command again.")
    elif check:
        lines.append("Next: put that right; check mode changed nothing.")
    else:
        lines.append("Next: put that right and run the same command again. What is done stays done.")
    if record.held_back:
        lines.append(_held(record))
    return "\n".join(lines)


def _held(record: Record) -> str:
    return "\n- ".join(["Left undone:", *record.held_back]) if record.held_back else ""


def _nodes(record: Record, shown: int, width: int | None) -> str:
    nodes = record.verify.get("nodes") or []
    totals = record.totals()
    if not nodes:
        return _times(totals, shown, width)
    spent = {node["name"]: totals.get(node["host"], Work()).seconds for node in nodes}
    picked = _pick(
        nodes, shown, lambda node: (not node["ready"], "control plane" in node["roles"], spent[node["name"]])
    )
    gpus = any(node.get("gpu") for node in nodes)
    rows = [
        [
            node["name"],
            node["address"],
            ", ".join(node["roles"]) or "-",
            "Ready" if node["ready"] else "not Ready",
            node["version"],
            *([node.get("gpu") or "-"] if gpus else []),
            clock(spent[node["name"]]),
        ]
        for node in picked
    ]
    heads = ["Node", "Address", "Role", "State", "Version", *(["GPU"] if gpus else []), "Time"]
    text = render(heads, rows, width=width)
    return text + _rest(len(nodes) - len(picked), "nodes", all(node["ready"] for node in nodes))


def _times(totals: dict[str, Work], shown: int, width: int | None) -> str:
    picked = _pick(list(totals), shown, lambda host: (totals[host].seconds,))
    rows = [
        [host, str(totals[host].executed), str(totals[host].changed), clock(totals[host].seconds)] for host in picked
    ]
    return render(["Host", "Tasks", "Changed", "Time"], rows, width=width) + _rest(
        len(totals) - len(picked), "hosts", False
    )


T = t.TypeVar("T")


def _pick(items: list[T], shown: int, weight: t.Callable[[T], tuple[t.Any, ...]]) -> list[T]:
    """The most telling ones, in their own order."""
    if len(items) <= shown:
        return items
    best = sorted(range(len(items)), key=lambda index: weight(items[index]), reverse=True)[:shown]
    return [items[index] for index in sorted(best)]


def _rest(count: int, what: str, ready: bool) -> str:
    return f"\nand {count} more {what}{', all Ready' if ready else ''}" if count > 0 else ""


def _phases(record: Record, width: int | None) -> str:
    rows = []
    for phase in record.phases:
        if not phase.tasks:
            continue
        slow = max(phase.hosts.items(), key=lambda entry: entry[1].seconds, default=("", Work()))
        note = f"{slow[0]} {clock(slow[1].seconds)}" if slow[0] else ""
        changed = sum(work.changed for work in phase.hosts.values())
        rows.append([phase.name, clock(phase.seconds), str(len(phase.hosts)), str(changed), note])
    rows.append(["Together", clock(record.end - record.start)])
    return render(["Phase", "Time", "Hosts", "Changes", "Longest"], rows, width=width)


def _next(record: Record, *, check: bool) -> str:
    if check:
        return "Check mode: nothing was changed. Run the same command without --check to do it."
    login = record.places.get("login") or "the control plane"
    lines = [] if any(work.changed for work in record.totals().values()) else ["Nothing had to be changed.", ""]
    lines += [f"Kubeconfig: on {login}: ~/.kube/config (also /etc/kubernetes/admin.conf, root only)"]
    if record.places.get("kubeconfig"):
        lines.append(f"            here: {record.places['kubeconfig']}")
    warned = [check["name"] for check in record.verify.get("checks") or [] if check["status"] == "warning"]
    if warned:
        lines.append(f"Warnings:   {', '.join(warned)} (see the table of verify)")
    lines += [f"Notice:     {notice}" for notice in record.notices]
    lines.append(f"Next:       {record.places.get('ssh') or 'ssh ' + login} kubectl get nodes,pods -A")
    lines.append("            ansible-playbook gshare.cluster.verify -i ... proves the cluster again at any time")
    return "\n".join(lines)


def clock(seconds: float) -> str:
    """Time for people: 0.4 s, 12 s, 3 min 05 s."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02d} s"


def _some(names: list[str], limit: int = 8) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _short(text: str, limit: int = 600) -> str:
    """One line; of a long one both ends, because what is wrong stands at the beginning and the remedy at the end."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} ... {flat[-limit // 2 :]}"
