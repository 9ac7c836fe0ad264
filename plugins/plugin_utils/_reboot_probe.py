# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looks at a machine through a reboot, each time over a connection of its own.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import contextlib
import typing as t

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.common.text.converters import to_text
from ansible.utils.display import Display

from ansible_collections.gshare.cluster.plugins.plugin_utils._reboot import Probe

display = Display()
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
# They share no connection, and notice that the other side is gone. Of two settings SSH takes the first.
_FRESH = "-o ControlMaster=no -o ControlPath=none -o ServerAliveInterval=5 -o ServerAliveCountMax=3 "


def probe(action: t.Any, command: str) -> Probe:
    """Run a command; what keeps it from running is an answer too."""
    try:
        answer = action._low_level_execute_command(command)
    except AnsibleConnectionFailure as exc:
        return Probe(None, err=to_text(exc.message))
    except AnsibleError as exc:
        # Such as a wait for sudo on a machine that is going down.
        return Probe(255, err=to_text(exc.message))
    return Probe(answer["rc"], to_text(answer["stdout"]), to_text(answer["stderr"]))


@contextlib.contextmanager
def fresh_connections(connection: t.Any) -> t.Iterator[None]:
    """While it holds, SSH shares no connection between commands; what was shared before is dropped."""
    reset(connection)
    if str(getattr(connection, "_load_name", "")).rpartition(".")[2] != "ssh":
        yield
        return
    before = connection.get_option("ssh_args") or ""
    connection.set_option("ssh_args", _FRESH + before)
    try:
        yield
    finally:
        connection.set_option("ssh_args", before)
        reset(connection)


def reset(connection: t.Any) -> None:
    """Drop the connection that later tasks would share; one from before the reboot leads nowhere."""
    try:
        connection.reset()
    except (AnsibleError, AttributeError) as exc:
        display.vvv(f"The connection could not be reset: {exc}")
