# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reboots a machine in two steps: all are asked first, then all are waited for."""

from __future__ import annotations

import time
import typing as t

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.module_utils.common.text.converters import to_text
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_driver import explaining
from ansible_collections.gshare.cluster.plugins.plugin_utils import _reboot as reboot
from ansible_collections.gshare.cluster.plugins.plugin_utils._disrupt import disrupted
from ansible_collections.gshare.cluster.plugins.plugin_utils._reboot_probe import BOOT_ID, fresh_connections, probe

display = Display()
_LOG = "journalctl -b --no-pager -o cat -n 2000 || dmesg"  # what loads modules says why one was refused
_PAUSE = 5


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        self._vars = task_vars or {}
        self._host = self._vars.get("inventory_hostname", "the machine")
        _result, args = self.validate_argument_spec(
            argument_spec={
                "phase": {"type": "str", "choices": ["ask", "wait"], "required": True},
                "gpu": {"type": "dict", "required": True},
                "disrupt": {"type": "raw", "default": []},
                "asked": {"type": "dict", "default": {}},
                "tries": {"type": "int", "default": 120},
                "driver_timeout": {"type": "int", "default": 120},
                "smi_timeout": {"type": "int", "default": 120},
            }
        )
        return self._ask(args) if args["phase"] == "ask" else self._wait(args)

    def _ask(self, args: dict[str, t.Any]) -> dict[str, t.Any]:
        gpu = args["gpu"]
        nothing = {"changed": False, "asked": False, "held_back": [], "boot_id": "", "asked_at": 0.0}
        if gpu["repair"] == "nothing":
            for hint in gpu["problems"]:
                display.warning(f"{self._host}: {hint}")
            return nothing
        if gpu["in_use"] and not disrupted(self._host, args["disrupt"]):
            sentence = reboot.held_back(self._host, gpu)
            display.warning(sentence)
            return {**nothing, "held_back": [sentence]}
        if self._task.check_mode:
            sentence = reboot.predicted(self._host, gpu)
            display.display(sentence)
            return {**nothing, "changed": gpu["repair"] != "person", "msg": sentence}
        if gpu["repair"] != "reboot":
            raise AnsibleActionFail(f"{self._host}: {' '.join(gpu['problems'])} {gpu['remedy']}")
        before = probe(self, BOOT_ID)
        if not before.boot_id:
            raise AnsibleActionFail(reboot.unreadable(before))
        self._trigger()
        self._show(reboot.ASKED)
        return {**nothing, "changed": True, "asked": True, "boot_id": before.boot_id, "asked_at": time.time()}

    def _trigger(self) -> None:
        for command in reboot.COMMANDS:
            said = probe(self, command)
            answer = reboot.asked(command, said)
            if answer.error:
                inhibitors = probe(self, "systemd-inhibit --list --no-pager --no-legend").out
                raise AnsibleActionFail(reboot.asked(command, said, inhibitors).error)
            if answer.ok:
                return
        raise AnsibleActionFail("The machine has none of the commands that reboot it: " + ", ".join(reboot.COMMANDS))

    def _wait(self, args: dict[str, t.Any]) -> dict[str, t.Any]:
        asked = args["asked"]
        if not asked.get("asked"):
            return {"changed": False, "phase": "", "seconds": 0, "gpu": args["gpu"]}
        machine = reboot.Reboot(asked["boot_id"], asked["asked_at"], args["tries"] * _PAUSE, time.time())
        with fresh_connections(self._connection):
            while not machine.done:
                phase = machine.feed(probe(self, BOOT_ID), time.time())
                if phase:
                    self._show(phase)
                if not machine.done and not machine.candidate:
                    time.sleep(_PAUSE if machine.phase == reboot.ASKED else _PAUSE / 2)
        if machine.error:
            raise AnsibleActionFail(f"{self._host}: {machine.error}")
        gpu = self._prove(args, machine)
        self._show(reboot.WORKS)
        seconds = round(time.time() - machine.asked)
        return {"changed": False, "phase": reboot.WORKS, "seconds": seconds, "gpu": gpu}

    def _prove(self, args: dict[str, t.Any], machine: reboot.Reboot) -> dict[str, t.Any]:
        """Ask the driver until it works; udev and services load it some seconds after the machine answers."""
        end = time.time() + args["driver_timeout"]
        while True:
            answer = self._gpu_info(args["smi_timeout"])
            gpu: dict[str, t.Any] = answer if "repair" in answer else {"problems": [to_text(answer.get("msg", ""))]}
            if gpu.get("repair") == "nothing":
                return gpu
            if time.time() >= end or ("repair" in gpu and reboot.settled(gpu)):
                break
            time.sleep(_PAUSE)
        lines = explaining(probe(self, _LOG).out.split("\n"))
        seconds = round(time.time() - machine.asked)
        raise AnsibleActionFail(f"{self._host}: {reboot.driver_failure(seconds, gpu, lines)}")

    def _gpu_info(self, smi_timeout: int) -> dict[str, t.Any]:
        try:
            answer: dict[str, t.Any] = self._execute_module(
                module_name="gshare.cluster.gpu_info", module_args={"smi_timeout": smi_timeout}, task_vars=self._vars
            )
        except AnsibleConnectionFailure as exc:
            return {"msg": to_text(exc.message)}
        return answer

    def _show(self, phase: str) -> None:
        display.display(f"{self._host}: {'asked to reboot' if phase == reboot.ASKED else phase}")
