# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import io
import json
import pathlib
import stat
import tarfile
import typing as t

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._registry_push import Registry, digest, small_image
from ansible_collections.gshare.cluster.plugins.modules import image_copy
from ansible_collections.gshare.cluster.tests.unit.plugins.registry_fakes import Handler, serving

Run = t.Callable[..., dict[str, t.Any]]
IMAGE = small_image("new", "amd64")
# The programs write down what they are told, and keep the file of accounts that they are given.
LOG = """#!/bin/sh
cd {root}; echo "$*" >> log
"""
SKOPEO = """
case "$*" in
  *inspect*gone*) echo 'time="x" level=fatal msg="reading manifest 1: manifest unknown"' >&2; exit 1;;
  *inspect*) exec cat config;;
  *copy*full*) echo 'time="x" level=fatal msg="no space left on device"' >&2; exit 1;;
esac
while [ $# -gt 0 ]; do
  [ "$1" = --dest-authfile ] && cp -p "$2" auth.json
  shift
done
"""
DOCKER = """
case "$*" in
  manifest*) exec cat manifest.json;;
  load*) echo 'Loaded image: team/train:3';;
  *push*) [ "$1" = --config ] && cp -p "$2/config.json" . && ls "$2/contexts" > contexts
    [ ! -e refuse ] || { cat refuse >&2; exit 1; };;
esac
"""


@pytest.fixture
def address() -> t.Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def run(run_module: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, address: str) -> Run:
    (tmp_path / "config").write_bytes(IMAGE[1])
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "own"))
    monkeypatch.setattr(image_copy.AnsibleModule, "get_bin_path", lambda self, name: found(tmp_path / name))

    def run(source: str = "ghcr.io/team/train:3", *, check: bool = False, diff: bool = False, **more: t.Any) -> t.Any:
        given = {"source": source, "registry": address, **more}
        return run_module(image_copy.main, given, check=check, diff=diff)

    return run


def found(path: pathlib.Path) -> str | None:
    return str(path) if path.exists() else None


def program(root: pathlib.Path, name: str, script: str) -> None:
    (root / name).write_text(LOG.format(root=root) + script)
    (root / name).chmod(0o755)


def log(root: pathlib.Path) -> list[str]:
    return (root / "log").read_text().splitlines()


@pytest.fixture
def skopeo(tmp_path: pathlib.Path) -> pathlib.Path:
    program(tmp_path, "skopeo", SKOPEO)
    return tmp_path


@pytest.fixture
def docker(tmp_path: pathlib.Path) -> pathlib.Path:
    program(tmp_path, "docker", DOCKER)
    manifest = {"SchemaV2Manifest": {"config": {"digest": digest(IMAGE[1])}}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def test_what_is_missing_is_pushed(run: Run, skopeo: pathlib.Path, address: str) -> None:
    predicted = run(check=True, diff=True)
    assert predicted["changed"]
    assert predicted["diff"][0]["before"] == ""
    assert predicted["diff"][0]["after"] == digest(IMAGE[1]) + "\n"
    assert not any(" copy " in line for line in log(skopeo))
    assert run(diff=True) == predicted
    assert (
        "--override-os linux --override-arch amd64 copy --dest-tls-verify=false "
        f"docker://ghcr.io/team/train:3 docker://{address}/team/train:3"
    ) in log(skopeo)


@pytest.mark.usefixtures("skopeo")
def test_what_is_there_is_left_alone(run: Run, tmp_path: pathlib.Path, address: str) -> None:
    Registry(address, tls=False).push("train", "3", IMAGE)
    result = run("train:3", diff=True)
    assert (result["changed"], result["image"]) == (False, f"{address}/train:3")
    assert "diff" not in result
    assert not any(" copy " in line for line in log(tmp_path))
    Registry(address, tls=False).push("train", "3", small_image("old", "amd64"))
    assert run("train:3")["changed"]


@pytest.mark.usefixtures("skopeo")
def test_an_archive(run: Run, tmp_path: pathlib.Path, address: str) -> None:
    path = tmp_path / "train.tar"
    with tarfile.open(path, "w") as tar:
        for name, data in (("c.json", IMAGE[1]), ("manifest.json", b'[{"Config": "c.json", "RepoTags": ["a/b:1"]}]')):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    result = run(str(path))
    assert (result["image"], result["config"]) == (f"{address}/a/b:1", digest(IMAGE[1]))
    assert log(tmp_path)[-1].endswith(f"docker-archive:{path} docker://{address}/a/b:1")
    Registry(address, tls=False).push("b", "2", IMAGE)
    assert not run(str(path), name="b:2")["changed"]


@pytest.mark.usefixtures("skopeo")
def test_tls_with_an_authority(run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_copy.Registry, "config_digest", lambda *_names: "")
    assert run(tls=True, ca="PEM")["changed"]
    assert "--dest-tls-verify=true --dest-cert-dir /" in log(tmp_path)[-1]


def test_another_name(run: Run, skopeo: pathlib.Path, address: str) -> None:
    assert run(name="mine/train:4")["image"] == f"{address}/mine/train:4"
    assert log(skopeo)[-1].endswith(f"docker://{address}/mine/train:4")


@pytest.mark.parametrize("own", [None, {"auths": {"ghcr.io": {}}, "credsStore": "pass"}])
def test_the_password_stands_on_no_command_line(run: Run, skopeo: pathlib.Path, address: str, own: t.Any) -> None:
    if own:
        (skopeo / "own").mkdir()
        (skopeo / "own/config.json").write_text(json.dumps(own))
    Handler.user = "Basic bGFiOnNlY3JldA=="
    result = run(username="lab", password="secret")
    assert result["changed"]
    assert "secret" not in (skopeo / "log").read_text() + json.dumps(result)
    handed = skopeo / "auth.json"
    assert json.loads(handed.read_text()) == {"auths": {address: {"auth": "bGFiOnNlY3JldA=="}}}
    assert stat.S_IMODE(handed.stat().st_mode) == 0o600
    # It is gone after the push.
    folder = pathlib.Path(log(skopeo)[-1].split("--dest-authfile ")[1].split()[0]).parent
    assert not folder.exists()


def test_docker_does_it_where_there_is_no_skopeo(run: Run, docker: pathlib.Path, address: str) -> None:
    assert run(check=True)["changed"]
    assert log(docker) == ["manifest inspect --verbose ghcr.io/team/train:3"]
    (docker / "own/contexts/meta").mkdir(parents=True)
    assert run(username="lab", password="secret")["changed"]
    assert (docker / "contexts").read_text() == "meta\n"
    assert [line for line in log(docker) if "inspect" not in line][:2] == [
        "pull --platform linux/amd64 ghcr.io/team/train:3",
        f"tag ghcr.io/team/train:3 {address}/team/train:3",
    ]
    assert log(docker)[-1].startswith("--config ")
    assert json.loads((docker / "config.json").read_text())["auths"] == {address: {"auth": "bGFiOnNlY3JldA=="}}


@pytest.mark.usefixtures("docker")
def test_skopeo_goes_first(run: Run, skopeo: pathlib.Path) -> None:
    assert run()["changed"]
    assert " copy " in log(skopeo)[-1]


def test_docker_needs_settings_of_its_own(run: Run, docker: pathlib.Path, address: str) -> None:
    (docker / "refuse").write_text("http: server gave HTTP response to HTTPS client\n")
    told = run()["msg"]
    assert told.startswith(
        f"ghcr.io/team/train:3 cannot be pushed as {address}/team/train:3: docker speaks HTTPS to it"
    )
    assert '"insecure-registries"' in told


def test_neither_program(run: Run) -> None:
    assert run()["msg"].startswith("Neither skopeo nor docker is on the machine that Ansible runs on; install one")


@pytest.mark.usefixtures("skopeo")
def test_mistakes(run: Run, tmp_path: pathlib.Path, address: str) -> None:
    (tmp_path / "x.tar").write_text("hello")
    for source, more, text in (
        ("gone:1", {}, "gone:1 cannot be read: reading manifest 1: manifest unknown. See that its name is right"),
        ("full:1", {}, f"full:1 cannot be pushed as {address}/full:1: no space left on device."),
        ("a:b:c", {}, "'a:b:c' is no name of an image"),
        ("a:1", {"name": "A"}, "a:1: 'A' is no name for it in a registry; give one without the registry"),
        (f"a@sha256:{'a' * 64}", {}, "it has no name and tag; give one"),
        (str(tmp_path / "x.tar"), {}, "x.tar cannot be used: "),
        ("a:1", {"registry": "127.0.0.1:9"}, "The registry 127.0.0.1:9 does not serve this machine: "),
    ):
        assert text in run(source, **more)["msg"]
