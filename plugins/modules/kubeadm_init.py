#!/usr/bin/python
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm_init
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Make this machine a control plane with kubeadm, once
description:
  - Reads what is on the machine and decides. A control plane that answers is left alone, leftovers of an init that
    never finished are reset, and a control plane that holds data but does not answer stops the run.
  - A file C(/etc/kubernetes/gshare-init-unfinished) stands from before C(kubeadm init) until after its end. So the
    next run recognises an init that was cut off. Where the API answers already, the rest of the phases is run again
    (each may be repeated) and nothing is reset, since somebody may be using the cluster by now.
  - A control plane that may just be starting, as after a power cut, is waited for before anything is decided.
extends_documentation_fragment:
  - gshare.cluster._attributes
attributes:
  diff_mode:
    support: none
    details:
      - What would be done is told in RV(actions).
options:
  address:
    description: The address at which the API server listens for the cluster; kubelet gets it as its node address.
    type: str
    required: true
  port:
    description: The port of the API server.
    type: int
    default: 6443
  pod_cidr:
    description: The range of the pods.
    type: str
    required: true
  service_cidr:
    description: The range of the services.
    type: str
    required: true
  extra_names:
    description: More host names and addresses for the certificate of the API server.
    type: list
    elements: str
    default: []
  image_repository:
    description: Where the images of the control plane come from, if not from C(registry.k8s.io).
    type: str
    default: ''
  ignore_preflight_errors:
    description: Names of preflight checks of kubeadm whose errors are taken as warnings.
    type: list
    elements: str
    default: []
  config:
    description:
      - Settings by kind (V(InitConfiguration), V(ClusterConfiguration), V(KubeletConfiguration),
        V(KubeProxyConfiguration)), merged into what this module writes.
    type: dict
    default: {}
  force_reset:
    description: Reset a control plane that holds data but does not answer, and begin anew. The data is lost.
    type: bool
    default: false
  init_timeout:
    description: Seconds that one call of kubeadm may take.
    type: int
    default: 600
  api_timeout:
    description: Seconds to wait for an API server that may be starting.
    type: int
    default: 240
  stable_probes:
    description: How many times in a row C(/readyz) must answer ok after an init.
    type: int
    default: 5
"""

EXAMPLES = r"""
- name: Initialise the control plane
  gshare.cluster.kubeadm_init:
    address: 192.0.2.10
    pod_cidr: 10.244.0.0/16
    service_cidr: 10.96.0.0/12
    config:
      KubeletConfiguration:
        maxPods: 200
"""

RETURN = r"""
state:
  description: What was found, as in M(gshare.cluster.kubeadm_info).
  type: str
  returned: always
reason:
  description: Why it was judged so.
  type: str
  returned: always
actions:
  description: What was done, or would be done in check mode, in order; V(init), V(finish), V(reset), V(start).
  type: list
  elements: str
  returned: always
ready:
  description: Whether there is a control plane that answers now; false only in check mode.
  type: bool
  returned: success
nodes:
  description: The nodes that the API lists, with name, addresses, ready, kubelet_version, and labelled (by this
    collection).
  type: list
  elements: dict
  returned: success
removed:
  description: What a reset took away.
  type: list
  elements: str
  returned: success
commands:
  description: The commands that were run.
  type: list
  elements: str
  returned: always
config:
  description: The kubeadm documents that were used.
  type: list
  elements: dict
  returned: when an init was or would be run
"""

import time
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm as kubeadm
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_documents as documents
from ansible_collections.gshare.cluster.plugins.module_utils import _kubeadm_machine as machine
from ansible_collections.gshare.cluster.plugins.module_utils import _node_reset as node_reset

PROBE_INTERVAL = 1.0


class Init:
    """One run: what was found, what was done."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.wish: dict[str, t.Any] = dict(module.params)
        self.commands = machine.Commands(module)
        self.actions: list[str] = []
        self.removed: list[str] = []
        self.result: dict[str, t.Any] = {}

    # --- looking ---

    def facts(self) -> dict[str, t.Any]:
        return machine.control_plane_facts(self.wish["address"], self.wish["port"])

    def settle(self) -> tuple[str, str, dict[str, t.Any]]:
        """The state, after a control plane that may be starting has had its time."""
        facts = self.facts()
        state, reason = kubeadm.control_plane_state(facts)
        if self.module.check_mode or not kubeadm.may_come_up(state, facts):
            return state, reason, facts
        if not machine.service_comes_up(self.commands, "kubelet"):
            self.commands(["systemctl", "start", "kubelet"])
            self.actions.append("start")
        # An init that was cut off shows itself sooner than a machine that boots.
        seconds = self.wish["api_timeout"] if state == "broken" else min(60, self.wish["api_timeout"])
        deadline = time.monotonic() + seconds
        while kubeadm.may_come_up(state, facts) and time.monotonic() < deadline:
            time.sleep(PROBE_INTERVAL)
            facts = self.facts()
            state, reason = kubeadm.control_plane_state(facts)
        return state, reason, facts

    def wait_until_stable(self) -> None:
        """Several answers in a row: a control plane with the wrong cgroup driver answers once and goes down again."""
        deadline = time.monotonic() + self.wish["api_timeout"]
        good, dropped, detail = 0, 0, ""
        while good < self.wish["stable_probes"]:
            facts = self.facts()
            if facts["api"] == "ready":
                good += 1
            else:
                dropped += bool(good)
                good, detail = 0, facts["api_detail"]
            if time.monotonic() > deadline:
                self.module.fail_json(
                    msg=f"kubeadm init succeeded, but {facts['api_url']}/readyz did not stay ok within "
                    f"{self.wish['api_timeout']} s (it went away {dropped} times, last answer: {detail or 'none'}): "
                    "look at `crictl ps -a` and `journalctl -u kubelet`; a cgroup driver that differs between kubelet "
                    "and containerd is the usual cause.",
                    commands=self.commands.run,
                )
            if good < self.wish["stable_probes"]:
                time.sleep(PROBE_INTERVAL)

    # --- doing ---

    def written(self) -> list[dict[str, t.Any]]:
        version = machine.packages(self.commands).get("kubeadm", "")
        return documents.init_documents({**self.wish, "version": version})

    def kubeadm_init(self, skip_phases: t.Sequence[str] = ()) -> None:
        written = self.written()
        self.result["config"] = written
        machine.set_marker()
        with machine.secret_file(documents.to_text(written), "init-") as name:
            argv = ["kubeadm", "init", "--config", name]
            if skip_phases:
                argv += ["--skip-phases", ",".join([*skip_phases, "show-join-command"])]
            rc, out, err = self.commands(argv, timeout=self.wish["init_timeout"])
        if rc:
            self.commands.fail("kubeadm init failed", out + err, **self.result)
        self.wait_until_stable()
        machine.clear_marker()

    def act(self, action: str) -> None:
        if action == "reset":
            self.removed, warnings = node_reset.reset(self.commands, user=None)
            for text in warnings:
                self.module.warn(text)
        elif action == "finish":
            self.kubeadm_init(kubeadm.DONE_WHEN_API_ANSWERS)
        else:
            self.kubeadm_init()
        self.actions.append(action)

    def refuse(self, state: str, reason: str, facts: dict[str, t.Any]) -> t.NoReturn:
        if state == "worker":
            message = (
                "This machine is a worker of a cluster, because kubelet.conf is there and no control plane: "
                "name another machine as control plane, or run the reset playbook for that cluster first."
            )
        else:
            detail = f" ({facts['api_detail']})" if facts["api_detail"] else ""
            message = (
                f"On this machine {reason} at {facts['api_url'] or 'its address'}{detail}: repair it (`journalctl -u "
                "kubelet`, `crictl ps -a`), or, to lose this cluster and build a new one, set gshare_init_force_reset: "
                "true (INIT_FORCE_RESET=1)."
            )
        self.module.fail_json(
            msg=message, state=state, reason=reason, found=kubeadm.found_traces(facts), commands=self.commands.run
        )

    def check_settings(self) -> None:
        """The ranges of a living cluster cannot be changed: say so, instead of giving flannel another one."""
        config_map = machine.api_json(self.commands, "get", "configmap", "kubeadm-config", "-n", "kube-system")
        conflicts = kubeadm.subnet_conflicts(config_map.get("data", {}).get("ClusterConfiguration", ""), self.wish)
        if conflicts:
            self.module.fail_json(msg=" ".join(conflicts), commands=self.commands.run)

    def run(self) -> None:
        state, reason, facts = self.settle()
        actions = kubeadm.init_actions(state, self.wish["force_reset"])
        if actions is None:
            self.refuse(state, reason, facts)
        self.result.update(state=state, reason=reason)
        if self.module.check_mode:
            if "init" in actions:
                self.result["config"] = self.written()
            self.actions.extend(actions)
        else:
            for action in actions:
                self.act(action)
        ready = state in ("healthy", "unfinished") or not self.module.check_mode
        if ready and not actions:
            self.check_settings()
        nodes = kubeadm.node_summaries(machine.api_json(self.commands, "get", "nodes")) if ready else []
        self.module.exit_json(
            changed=bool(self.actions),
            actions=self.actions,
            ready=ready,
            nodes=nodes,
            removed=self.removed,
            commands=self.commands.run,
            **self.result,
        )


def argument_spec() -> dict[str, t.Any]:
    return {
        "address": {"type": "str", "required": True},
        "port": {"type": "int", "default": 6443},
        "pod_cidr": {"type": "str", "required": True},
        "service_cidr": {"type": "str", "required": True},
        "extra_names": {"type": "list", "elements": "str", "default": []},
        "image_repository": {"type": "str", "default": ""},
        "ignore_preflight_errors": {"type": "list", "elements": "str", "default": []},
        "config": {"type": "dict", "default": {}},
        "force_reset": {"type": "bool", "default": False},
        "init_timeout": {"type": "int", "default": 600},
        "api_timeout": {"type": "int", "default": 240},
        "stable_probes": {"type": "int", "default": 5},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=argument_spec(), supports_check_mode=True)
    init = Init(module)
    if module.check_mode:
        init.run()
    with machine.only_one(module, module.params["init_timeout"]):
        init.run()


if __name__ == "__main__":
    main()
