# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import json
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_command import Answer, ask
from ansible_collections.gshare.cluster.plugins.modules import support_info

Json = dict[str, t.Any]
GOLDEN = pathlib.Path(__file__).parents[1] / "module_utils" / "fixtures" / "redact" / "given.txt"
# What must not be left of the golden text.
PLANTED = ("hunter2", "horse", "aHVudGVy", "cHVsbGVy", "0badcafe", "abcdef.", "6134", "PRIVATE KEY", "$2y$", "$apr1$")
VERDICT = "gpu/verdict.json"
ADMIN = "etc/kubernetes/admin.conf"


@pytest.fixture
def gather(tmp_path: pathlib.Path, run_module: t.Callable[..., Json], monkeypatch: pytest.MonkeyPatch) -> t.Any:
    """What the module tells beside the verdict on cards; C(asked) answers, by default as if there were no program."""

    def run(commands: Json | None = None, asked: t.Any = None, **args: t.Any) -> Json:
        monkeypatch.setattr(support_info, "COMMANDS", commands or {})
        asked = asked or (lambda argv, timeout: Answer(None, "", present=False))
        result = run_module(functools.partial(support_info.main, str(tmp_path), asked), args)
        assert result["changed"] is False
        for found in (result["files"], result["problems"]):
            found.pop(VERDICT, None)
        return result

    return run


def plant(root: pathlib.Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_no_secret_of_any_file_is_sent(gather, tmp_path: pathlib.Path) -> None:
    names = [pattern.replace("*", "some") for pattern in support_info.FILES]
    for name in names:
        plant(tmp_path, name, f"# {name}\n{GOLDEN.read_text()}the rest\n")
    result = gather()
    assert sorted(result["files"]) == sorted(names)
    for name, text in result["files"].items():
        assert [word for word in PLANTED if word in text] == []
        assert text.startswith(f"# {name}\n")
        assert text.endswith("the rest\n")
    assert result["problems"] == {}


def test_no_secret_of_a_command_is_sent(gather, tmp_path: pathlib.Path) -> None:
    plant(tmp_path, "given.txt", GOLDEN.read_text())
    script = f"cat {tmp_path}/given.txt; cat {tmp_path}/given.txt >&2; echo the rest; exit 3"
    result = gather({"log": ("sh", "-c", script)}, asked=ask)
    assert [word for word in PLANTED if word in result["files"]["log"]] == []
    assert result["files"]["log"].endswith("the rest\n")
    assert result["problems"] == {"log": "sh ended with status 3"}


@pytest.mark.parametrize("limit", range(60, 400, 20))
def test_no_secret_is_halved_by_the_limit(gather, tmp_path: pathlib.Path, limit: int) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "aHVudGVyMmhvcnNl\n" * 6 + "-----END RSA PRIVATE KEY-----\n"
    block = "password: |\n" + "  hunter2horse\n" * 6
    plant(tmp_path, "etc/environment", f"{key}A=1\n{block}B=1\n- name: DB_PASSWORD\n  value: hunter2horse\nLAST=1\n")
    text = gather(limit=limit)["files"]["etc/environment"]
    assert text.endswith("LAST=1\n")
    assert [word for word in PLANTED if word in text] == []


def test_the_verdict_on_cards(run_module: t.Callable[..., Json], tmp_path: pathlib.Path) -> None:
    main = functools.partial(support_info.main, str(tmp_path), lambda argv, timeout: Answer(None, "", present=False))
    verdict = json.loads(run_module(main, {})["files"][VERDICT])
    assert verdict["cards"] == []
    assert {"repair", "problems", "remedy"} <= set(verdict)


def test_all_files_together_have_a_limit(gather, tmp_path: pathlib.Path) -> None:
    plant(tmp_path, "etc/fstab", "x" * 700)
    plant(tmp_path, "etc/hosts", "x" * 700)
    plant(tmp_path, "proc/swaps", "x" * 100)
    result = gather(limit=800, total=1000)
    assert set(result["files"]) == {"etc/fstab", "proc/swaps"}
    assert result["problems"]["etc/hosts"] == "it was left out, since all files together are too large"


def test_what_the_machine_lacks_is_told(gather) -> None:
    result = gather({"containerd/version": ("no-such-program",)}, asked=ask)
    assert result["files"] == {}
    assert result["problems"] == {"containerd/version": "there is no no-such-program"}


def test_a_program_that_hangs_has_its_time_and_is_not_asked_again(gather) -> None:
    commands = {"slow": ("sleep", "60"), "again": ("sleep", "60"), "other": ("echo", "yes")}
    result = gather(commands, asked=ask, timeout=1)
    assert result["problems"] == {"slow": "sleep did not end in 1 s", "again": "sleep was not asked again"}
    assert result["files"]["other"] == "yes\n"


def test_a_file_that_cannot_be_read_is_told(gather, tmp_path: pathlib.Path) -> None:
    (tmp_path / "etc/containerd/conf.d/folder").mkdir(parents=True)
    (tmp_path / "etc/fstab").symlink_to(tmp_path / "etc/fstab")
    result = gather()
    assert result["files"] == {}
    assert result["problems"] == {"etc/fstab": "it cannot be read: Too many levels of symbolic links"}


def test_what_is_no_text_does_no_harm(gather, tmp_path: pathlib.Path) -> None:
    plant(tmp_path, "etc/fstab", "")
    (tmp_path / "etc/fstab").write_bytes(b"\xff\xfe\0token=hunter2\n")
    assert gather()["files"]["etc/fstab"] == "\ufffd\ufffd\0token=REDACTED\n"


def test_the_api_is_asked_on_a_control_plane_alone(gather, tmp_path: pathlib.Path) -> None:
    asked = []

    def answer(argv: t.Sequence[str], timeout: float) -> Answer:
        asked.append(argv[0])
        return Answer(0, f"{argv[-1]}\n") if argv[0] == "kubectl" else Answer(None, "", present=False)

    gather(asked=answer)
    assert "kubectl" not in asked
    plant(tmp_path, ADMIN, "client-key-data: hunter2")
    result = gather(asked=answer)
    assert set(result["files"]) == set(support_info.API)
    assert asked.count("kubectl") == len(support_info.API)


def test_an_api_that_hangs_is_asked_once(gather, tmp_path: pathlib.Path) -> None:
    plant(tmp_path, ADMIN, "x")
    result = gather(asked=lambda argv, timeout: Answer(None, "dial tcp\n", timed_out=True))
    assert result["files"] == {"api/ready": "dial tcp\n"}
    assert result["problems"]["api/ready"] == "kubectl did not end in 30 s"
    assert result["problems"]["api/nodes"] == "kubectl was not asked again"
