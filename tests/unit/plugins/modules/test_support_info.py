# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import pathlib
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.modules import support_info

Json = dict[str, t.Any]
PLANTED = "hunter2correcthorse"
TOKEN = "abcdef.0123456789abcdef"
SECRETS = f"password: {PLANTED}\ntoken={PLANTED}\nurl = http://me:{PLANTED}@10.0.0.1/\nkubeadm join --token {TOKEN}\n"


@pytest.fixture
def gather(tmp_path: pathlib.Path, run_module: t.Callable[..., Json], monkeypatch: pytest.MonkeyPatch) -> t.Any:
    def run(commands: dict[str, tuple[str, ...]] | None = None, **args: t.Any) -> dict[str, str]:
        monkeypatch.setattr(support_info, "COMMANDS", commands or {})
        result = run_module(functools.partial(support_info.main, str(tmp_path)), args)
        assert result["changed"] is False
        return t.cast("dict[str, str]", result["files"])

    return run


def test_no_secret_of_any_file_is_sent(gather, tmp_path: pathlib.Path) -> None:
    names = [pattern.replace("*", "some") for pattern in support_info.FILES]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n{SECRETS}the rest\n")
    files = gather()
    assert sorted(files) == sorted(names)
    for name, text in files.items():
        assert PLANTED not in text
        assert TOKEN not in text
        assert text.startswith(f"# {name}\n")
        assert text.endswith("the rest\n")


def test_no_secret_of_a_command_is_sent(gather) -> None:
    text = gather({"log": ("sh", "-c", f"echo '{SECRETS}'; echo '{SECRETS}' >&2; exit 3")})["log"]
    assert PLANTED not in text
    assert TOKEN not in text
    assert "[exit status 3]" in text


def test_what_the_machine_lacks_is_left_out(gather) -> None:
    assert gather({"gpu": ("no-such-program",)}) == {}


def test_a_command_that_hangs_has_its_time(gather) -> None:
    assert "[exit status 124]" in gather({"slow": ("sleep", "60")}, timeout=1)["slow"]


def test_of_a_long_text_the_end_is_taken_and_no_secret_is_halved(gather, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "etc/environment"
    path.parent.mkdir()
    line = f"API_TOKEN={PLANTED}\n"
    path.write_text(line * 100 + "LAST=1\n")
    for limit in range(40, 80):
        text = gather(limit=limit)["etc/environment"]
        assert text.startswith("[the beginning was left out]\n")
        assert text.endswith("LAST=1\n")
        assert not any(PLANTED[at : at + 6] in text for at in range(len(PLANTED) - 5))


def test_a_file_that_cannot_be_read_is_told(gather, tmp_path: pathlib.Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/fstab").symlink_to(tmp_path / "etc/fstab")
    (tmp_path / "etc/containerd/conf.d/folder").mkdir(parents=True)
    assert gather() == {"etc/fstab": "[cannot be read: Too many levels of symbolic links]\n"}


def test_the_api_is_asked_on_a_control_plane_and_never_for_secrets(
    gather, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[t.Sequence[str]] = []
    monkeypatch.setattr(support_info, "run", lambda module, command: asked.append(command))
    gather()
    assert asked == []
    (tmp_path / "etc/kubernetes").mkdir(parents=True)
    (tmp_path / "etc/kubernetes/admin.conf").write_text("x")
    gather()
    assert len(asked) == len(support_info.API)
    assert not [command for command in asked if "secret" in " ".join(command).lower()]
