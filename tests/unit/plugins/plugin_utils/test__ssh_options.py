# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shlex
import shutil
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import connection_loader
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils._ssh_options import DEFAULT, KEYWORDS, parse

SSH = shutil.which("ssh")
KEY = "ansible_ssh_private_key_file"
COMMON = "ansible_ssh_common_args"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/op")


# SSH_OPTS, and what becomes of it.
GOOD: dict[str, dict[str, t.Any]] = {
    "": {},
    "  ": {},
    DEFAULT: {COMMON: "-o StrictHostKeyChecking=accept-new"},
    "-i ~/.ssh/id_ed25519 -o StrictHostKeyChecking=accept-new": {
        KEY: "/home/op/.ssh/id_ed25519",
        COMMON: "-o StrictHostKeyChecking=accept-new",
    },
    "-i/k": {KEY: "/k"},
    "-i keys/id": {KEY: "/inventory/keys/id"},
    "-i ./id": {KEY: "/inventory/./id"},
    "-i %d/id": {KEY: "%d/id"},
    "-i '/home/op/my keys/id'": {KEY: "/home/op/my keys/id"},
    '-i "/home/op/it\'s/id"': {KEY: "/home/op/it's/id"},
    "-i /home/op/my\\ keys/id": {KEY: "/home/op/my keys/id"},
    "-i '/home/op/a \"b\" c/id'": {COMMON: "-i '/home/op/a \"b\" c/id'"},
    "-i /a -i '/b c' -i /d": {KEY: "/a", COMMON: "-i '/b c' -i /d"},
    "-o IdentityFile=~/id": {KEY: "/home/op/id"},
    "-o 'IdentityFile=\"/home/op/my keys/id\"'": {KEY: "/home/op/my keys/id"},
    '-o \'IdentityFile="/home/op/a \\"b\\" c/id"\'': {COMMON: "-i '/home/op/a \"b\" c/id'"},
    "-o IdentityFile=none": {COMMON: "-o IdentityFile=none"},
    "-p 2222": {"ansible_port": 2222},
    "-p2222": {"ansible_port": 2222},
    "-o Port=2222": {"ansible_port": 2222},
    "-o 'port 2222'": {"ansible_port": 2222},
    "-p 2222 -o Port=2222": {"ansible_port": 2222},
    "-l op": {"ansible_user": "op"},
    "-o User=op": {"ansible_user": "op"},
    "-o ConnectTimeout=30": {"ansible_ssh_timeout": 30},
    "-o connecttimeout=2m": {"ansible_ssh_timeout": 120},
    "-J jump@gate:2222": {COMMON: "-o ProxyJump=jump@gate:2222"},
    "-oProxyJump=gate": {COMMON: "-o ProxyJump=gate"},
    "-o 'ProxyCommand=ssh -W %h:%p -q gate'": {COMMON: "-o 'ProxyCommand=ssh -W %h:%p -q gate'"},
    "-4AC": {COMMON: "-o AddressFamily=inet -o ForwardAgent=yes -o Compression=yes"},
    "-AJ gate": {COMMON: "-o ForwardAgent=yes -o ProxyJump=gate"},
    "-F ~/ssh_config": {COMMON: "-F /home/op/ssh_config"},
    "-F lab/ssh_config": {COMMON: "-F /inventory/lab/ssh_config"},
    "-S none -c aes128-ctr": {COMMON: "-o ControlPath=none -o Ciphers=aes128-ctr"},
    "-o userknownhostsfile=/dev/null": {COMMON: "-o UserKnownHostsFile=/dev/null"},
    "-o PasswordAuthentication=no -o BatchMode=yes": {COMMON: "-o PasswordAuthentication=no -o BatchMode=yes"},
}


@pytest.mark.parametrize("text", GOOD)
def test_options_become_variables(text: str) -> None:
    assert parse(text, "/inventory") == (GOOD[text], [])


BAD = {
    "-i": "nothing behind -i",
    "-p": "nothing behind -p",
    "-p 0": "'0' is not a port",
    "-p 65536": "'65536' is not a port",
    "-p ssh": "'ssh' is not a port",
    "-p 22 -o Port=23": "the port is given twice",
    "-l 'a b'": "'a b' is not a user name",
    "-l -x": "'-x' is not a user name",
    "-o ConnectTimeout=soon": "is not a time limit",
    "-o ConnectTimeout=0": "is not a time limit",
    "-o Foo=1": "ssh has no option 'Foo'",
    "-o StrictHostKeyCheking=no": "ssh has no option 'StrictHostKeyCheking'",
    "-o StrictHostKeyChecking": "is not KEYWORD=VALUE",
    "-o StrictHostKeyChecking=": "is not KEYWORD=VALUE",
    "-o StrictHostKeyChecking=accept_new": "a value that ssh refuses",
    "-o PasswordAuthentication=yes": "does not go together with Ansible",
    "-o HostName=10.0.0.1": "does not go together with Ansible",
    "-o ControlMaster=no": "does not go together with Ansible",
    "-tt": "-t does not go together",
    "-N": "-N does not go together",
    "-L 80:x:80": "-L does not go together",
    "-vvv": "-v does not go together",
    "-z": "ssh has no option -z",
    "--port 22": "'--port' is not an option of ssh",
    "-": "'-' is not an option of ssh",
    "ubuntu@10.0.0.1": "'ubuntu@10.0.0.1' is not an option of ssh",
    "-i /home/op/my keys/id": "'keys/id' is not an option of ssh",
    "-i '/home/op": "a quote is not closed",
    "-i /x\\": "nothing behind the backslash",
}


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_work_is_reported(text: str) -> None:
    _variables, wrongs = parse(text)
    assert wrongs
    assert BAD[text] in wrongs[0].what
    assert wrongs[0].remedy


def test_the_nearest_keyword_is_named() -> None:
    assert parse("-o StrictHostKeyCheking=no")[1][0].remedy == "did you mean StrictHostKeyChecking?"


def test_all_mistakes_come_together() -> None:
    _variables, wrongs = parse("-p x -o Foo=1 -tt word -i")
    assert len(wrongs) == 6


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="-iopJlF4=x \"'\\~/%$Port", max_size=40))
def test_any_text_gives_variables_or_reports(text: str) -> None:
    variables, _wrongs = parse(text, "/inventory")
    assert set(variables) <= {KEY, COMMON, "ansible_port", "ansible_user", "ansible_ssh_timeout"}
    shlex.split(variables.get(COMMON, ""))


def effective(*words: str) -> dict[str, list[str]]:
    """Ask ssh which settings result."""
    command = [str(SSH), "-F", "none", "-G", *words, "host.invalid"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    found: dict[str, list[str]] = {}
    for line in run.stdout.splitlines():
        name, _space, value = line.partition(" ")
        found.setdefault(name, []).append(value)
    return found


def ansible_command(variables: dict[str, t.Any]) -> list[str]:
    """Give the options with which Ansible's own connection plugin calls ssh."""
    connection = connection_loader.get("ssh", PlayContext())
    connection.set_options(var_options=variables)
    words = [word.decode() for word in connection._build_command("ssh", "ssh")]
    return words[1:]


@pytest.mark.skipif(not SSH, reason="ssh is not here")
@pytest.mark.parametrize(
    "text",
    [
        "-i 'KEYS/a \"b\" c'",
        "-i 'KEYS/a b' -p 2222 -l op",
        "-i KEYS/a -i 'KEYS/b \\ c'",
        '-i "KEYS/it\'s"',
        '-o \'IdentityFile="KEYS/a \\"b\\" c"\' -J jump@gate',
        "-o ConnectTimeout=31 -o StrictHostKeyChecking=accept-new -o 'UserKnownHostsFile=\"/x y\"'",
        "-o 'ProxyCommand=ssh -W %h:%p -q gate' -4 -A",
    ],
)
def test_ssh_gets_from_ansible_what_it_gets_from_the_options(text: str, tmp_path: Path) -> None:
    """The settings that ssh reports are the same, called by hand with these options and by Ansible."""
    for name in ("a", "a b", 'a "b" c', "b \\ c", "it's"):
        tmp_path.joinpath(name).touch()
    text = text.replace("KEYS", str(tmp_path))
    variables, wrongs = parse(text)
    assert wrongs == []
    by_hand, by_ansible = effective(*shlex.split(text)), effective(*ansible_command(variables))
    by_itself = effective(*ansible_command({}))
    for name, value in by_hand.items():
        # Ansible has values of its own for what the options do not name.
        if name != "host" and value != effective().get(name):
            assert by_ansible.get(name) == value, name
        elif name in by_itself:
            assert by_ansible.get(name) == by_itself[name], name
    assert ("identityfile" in text.lower() or "-i" in text) == (by_hand["identityfile"] != effective()["identityfile"])


@pytest.mark.skipif(not SSH, reason="ssh is not here")
def test_keywords_of_the_ssh_on_this_machine_are_known() -> None:
    assert {name.lower() for name in effective()} - {"host"} <= set(KEYWORDS)
