# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run every check that needs no cluster, two at a time, all of them even if one fails.

    check.py            all of them (`make test`)
    check.py NAME...    only these, for example `check.py ruff units`; `lint` is all but units, sanity and build

The longest ones start first. What a check printed is shown when it fails and kept in .cache/check/NAME.log.
The last line counts: every test of pytest is one, every other check is one.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / ".cache" / "check"
BIN = ROOT / ".venv" / "bin"
COLLECTION = "ansible_collections/gshare/cluster"
ENV = os.environ | {
    "PATH": f"{BIN}:{os.environ['PATH']}",
    "ANSIBLE_COLLECTIONS_PATH": f"{ROOT}/.cache:{ROOT}/.cache/deps",
    "PYTHONPATH": f"{ROOT}/.cache:{ROOT}/.cache/deps",
    "NO_COLOR": "1",
}


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    command: str
    folder: str = "."
    group: str = "lint"


CHECKS = (
    Check("sanity", "tools/sanity", group="long"),
    Check("units", "pytest -q --durations=5", group="long"),
    Check("ansible-lint", "ansible-lint --strict --nocolor"),
    Check("build", "tools/build", group="long"),
    Check("docs", "antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs all ."),
    Check("mypy", f"mypy --config-file ../pyproject.toml {COLLECTION}/plugins", folder=".cache"),
    Check("mypy-tools", "mypy tools"),
    Check("yamllint", "yamllint --strict ."),
    Check("ruff", "ruff check ."),
    Check("ruff-format", "ruff format --check ."),
    Check("shellcheck", "tools/shell-files | xargs -0 shellcheck"),
    Check("changelog", "antsibull-changelog lint"),
)


@dataclasses.dataclass
class Result:
    check: Check
    passed: int
    failed: int
    skipped: int
    seconds: float


def numbers(counts: pathlib.Path) -> tuple[int, int, int] | None:
    """What conftest.py wrote of pytest's tests: passed, failed, skipped; None where it was not pytest that ran."""
    if not counts.is_file():
        return None
    passed, failed, skipped = (int(word) for word in counts.read_text(encoding="utf-8").split())
    counts.unlink()
    return passed, failed, skipped


def run(check: Check) -> Result:
    counts = LOGS / f"{check.name}.{os.getpid()}.counts"
    begin = time.monotonic()
    with (LOGS / f"{check.name}.log").open("w", encoding="utf-8") as log:
        process = subprocess.run(
            ["bash", "-o", "pipefail", "-c", check.command],
            cwd=ROOT / check.folder,
            env=ENV | {"GSHARE_TEST_COUNTS": str(counts)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = time.monotonic() - begin
    good = process.returncode == 0
    passed, failed, skipped = numbers(counts) or (int(good), int(not good), 0)
    # A run of pytest can fail without a failed test, for example if it finds none.
    return Result(check, passed, failed if good else max(failed, 1), skipped, seconds)


def show(result: Result) -> None:
    count = f"  {result.passed} passed" if result.passed > 1 else ""
    print(f"{'FAILED' if result.failed else 'ok':8}{result.check.name:14}{result.seconds:6.1f} s{count}", flush=True)
    if result.failed:
        print((LOGS / f"{result.check.name}.log").read_text(encoding="utf-8", errors="replace"), flush=True)


def choose(names: list[str]) -> list[Check]:
    known = {check.name for check in CHECKS} | {check.group for check in CHECKS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"check: there is no {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    return [check for check in CHECKS if not names or check.name in names or check.group in names]


def main() -> int:
    checks = choose(sys.argv[1:])
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    results = []
    print(
        f"{len(checks)} checks, two at a time, some of them minutes long; their output is in .cache/check", flush=True
    )
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, check) for check in checks]):
            results.append(future.result())
            show(results[-1])
    passed, failed, skipped = (sum(getattr(r, key) for r in results) for key in ("passed", "failed", "skipped"))
    (ROOT / ".cache" / "counts-test").write_text(f"{passed} {failed} {skipped}\n", encoding="utf-8")
    bad = [result.check.name for result in results if result.failed]
    print(f"{len(checks)} checks in {time.monotonic() - begin:.0f} s" + (f"; failed: {', '.join(bad)}" if bad else ""))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
