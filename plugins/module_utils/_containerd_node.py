# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can change at any time.

"""The containerd of this machine: its unit, program, files and effective configuration."""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import socket
import struct
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils._containerd import (
    Decision,
    Unit,
    decide,
    fingerprint,
    imports_of,
    parse_unit,
    parse_version,
)
from ansible_collections.gshare.cluster.plugins.module_utils._kubeadm import CRI_SOCKET

RECORDS = "/run/gshare"
STARTING = 30.0
"""Seconds for a service that systemd is starting when it is first looked at."""
SOCKET = CRI_SOCKET[len("unix://") :]
_PROPERTIES = "LoadState,ActiveState,UnitFileState,MainPID,InvocationID,ExecStart,ExecMainStartTimestamp"
_ENGLISH = {"LC_ALL": "C"}


def unlink(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def write_file(path: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o644), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def replace_file(module: AnsibleModule, temporary: str, path: str, content: bytes) -> None:
    """Write beside the file, then rename: there is never half a file."""
    write_file(temporary, content)
    module.atomic_move(temporary, path)


def matches(pattern: str) -> list[str]:
    """The files of an import, as containerd takes it: only a star makes a pattern, which finds hidden names as well."""
    if "*" not in pattern:
        return [pattern]
    home, wanted = os.path.split(pattern)
    folders = [folder for folder in sorted(glob.glob(home)) if os.path.isdir(folder)]
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in sorted(os.listdir(folder))
        if fnmatch.fnmatchcase(name, wanted)
    ]


def listener(path: str) -> int:
    """The process that listens at a socket, 0 where none does; of two with the same address the one that gets calls."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(path)
        except OSError:
            return 0
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


class Node:
    """Reads; nothing here changes anything but the record on tmpfs."""

    def __init__(self, module: AnsibleModule, path: str, service: str) -> None:
        self.module = module
        self.path = path
        self.service = service
        self.commands: list[list[str]] = []
        self.refresh()
        # After a boot systemd may be starting it: that is no service that does not run.
        deadline = time.monotonic() + STARTING
        while self.unit.state == "activating" and time.monotonic() < deadline:
            time.sleep(0.5)
            self.refresh()

    def refresh(self) -> None:
        self.unit = self._unit()
        self.program = self._program()

    def run(self, command: list[str]) -> tuple[int, str, str]:
        self.commands.append(command)
        return self.module.run_command(command, environ_update=_ENGLISH)

    def _unit(self) -> Unit:
        if not self.module.get_bin_path("systemctl"):
            return parse_unit("")
        command = ["systemctl", "show", self.service, "--timestamp=us+utc", f"--property={_PROPERTIES}"]
        return parse_unit(self.run(command)[1])

    def _program(self) -> str | None:
        """The daemon's own program: the running one, which is not always the one that PATH finds."""
        running = f"/proc/{self.unit.pid}/exe"
        if self.unit.pid and os.access(running, os.X_OK):
            return running
        if self.unit.program and os.access(self.unit.program, os.X_OK):
            return self.unit.program
        return self.module.get_bin_path("containerd")

    def stranger(self) -> str:
        """Who answers the kubelet, if it is not the service: another containerd, whose configuration is another one."""
        pid = listener(SOCKET)
        if pid < 2 or pid == self.unit.pid:  # 0 is out of sight, 1 holds the socket for a service
            return ""
        link = f"/proc/{pid}/exe"
        return f"process {pid} ({os.readlink(link)})" if os.path.exists(link) else f"process {pid}"

    @property
    def next_program(self) -> str | None:
        """The program of the next start, where a package upgrade has replaced the running one."""
        disk = self.unit.program
        if not disk or not self.program or not os.access(disk, os.X_OK) or os.path.samefile(disk, self.program):
            return None
        return disk

    def version(self) -> str | None:
        return parse_version(self.run([self.program, "--version"])[1]) if self.program else None

    def content(self) -> bytes | None:
        try:
            with open(self.path, "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def imported(self) -> dict[str, str]:
        """All files that the configuration imports, directly or not, in the order in which containerd reads them."""
        found: dict[str, str] = {}
        waiting = [self.path]
        while waiting:
            current = waiting.pop(0)
            try:
                with open(current, encoding="utf-8", errors="replace", newline="") as stream:
                    text = stream.read()
            except OSError:
                continue
            if current != self.path:
                found[current] = text
            for pattern in self._patterns(current, text):
                waiting += [name for name in matches(pattern) if name not in found and name != self.path]
        return found

    def idle(self, imported: t.Container[str]) -> list[str]:
        """Files in the folders for drop-ins, beside the file, that nothing imports."""
        home = glob.escape(os.path.dirname(self.path))
        return [path for path in sorted(glob.glob(f"{home}/*.d/*.toml")) if path not in imported]

    @staticmethod
    def _patterns(path: str, text: str) -> list[str]:
        return [os.path.join(os.path.dirname(path), pattern) for pattern in imports_of(text)]

    def newest(self) -> float:
        """The time of the latest change to anything that the daemon reads at its start.

        A file that is gone leaves its trace in its directory only. The inode change time counts, because a file that
        was moved into place keeps its old modification time.
        """
        drop_ins = self.imported()
        names = {self.path if os.path.exists(self.path) else os.path.dirname(self.path), *drop_ins}
        content = self.content()
        if content is not None:
            patterns = self._patterns(self.path, content.decode("utf-8", "replace"))
            names |= {os.path.dirname(pattern) for pattern in patterns} - {os.path.dirname(self.path)}
        return max((os.stat(name).st_ctime for name in names if os.path.exists(name)), default=0.0)

    def dump(self, path: str | None = None, program: str | None = None) -> tuple[str, str]:
        """The effective configuration with this file, and what the daemon's program complains about."""
        program = program or self.program or "containerd"
        path = path or self.path
        command = [program, "--config", path, "config", "dump"]
        if not os.path.exists(path):
            command = [program, "config", "default"]
        code, out, err = self.run(command)
        return (out, "") if code == 0 and out.strip() else ("", (err or out).strip())

    def record(self) -> dict[str, t.Any] | None:
        try:
            with open(self._record_path(), encoding="utf-8") as stream:
                data = json.load(stream)
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def write_record(self, configuration: str) -> None:
        """Keep what the running invocation started with; on tmpfs, because a boot makes it worthless."""
        data = {"invocation": self.unit.invocation, "configuration": configuration}
        if not self.unit.invocation or self.record() == data:
            return
        os.makedirs(RECORDS, mode=0o755, exist_ok=True)
        temporary = os.path.join(RECORDS, f".{self.service}.json.new")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "w", encoding="utf-8") as stream:
            json.dump(data, stream)
        os.replace(temporary, self._record_path())

    def _record_path(self) -> str:
        return os.path.join(RECORDS, f"{self.service}.json")

    def decide(self, dump: str, wanted: str | None = None) -> Decision:
        return decide(
            self.unit,
            self.record(),
            fingerprint(dump),
            self.newest(),
            None if wanted is None else fingerprint(wanted),
        )

    def facts(self) -> dict[str, t.Any]:
        """All that the controller needs to judge the configuration, in one round trip."""
        if not self.program:
            return {"installed": False, "path": self.path}
        content = self.content()
        dump, problem = self.dump()
        drop_ins = self.imported()
        return {
            "installed": True,
            "path": self.path,
            "program": self.program,
            "version": self.version(),
            "service": self.service,
            "service_config": self.unit.config,
            "service_state": self.unit.state,
            "service_at_boot": self.unit.at_boot,
            "stranger": self.stranger(),
            "content": None if content is None else self._text(content),
            "drop_ins": drop_ins,
            "idle": self.idle(drop_ins),
            "dump": dump,
            "dump_problem": problem,
        }

    def _text(self, content: bytes) -> str:
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as exc:
            self.module.fail_json(msg=f"{self.path} is not UTF-8 text (byte {exc.start}); correct it by hand.")
