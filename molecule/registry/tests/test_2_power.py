# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The power goes at each step of a change of containerd's configuration; the next run leaves what was asked for.

A program on the machine watches for the step and cuts the power at once, by the call that does not wait for anything.
"""

from __future__ import annotations

import json
import shlex

import pytest

FILE = "/etc/containerd/config.toml"
STEPS = {
    "backup": f"ls {FILE}.*~ 2>/dev/null | wc -l | grep -qvx $COPIES",
    "replace": f"! cmp -s {FILE} /run/before.toml",
    "restart": 'now=$(systemctl show --value --property InvocationID containerd); test "${now:-$ID}" != "$ID"',
}


@pytest.mark.parametrize(
    ("number", "step", "node"), [(0, "backup", "gpu1"), (1, "replace", "cpu1"), (2, "restart", "gpu1")]
)
def test_next_run_leaves_a_working_node(playbooks, machines, number: int, step: str, node: str) -> None:
    settings = json.dumps({"containerd_image_settings": {"max_concurrent_downloads": 6 + number}})
    boot = machines.boot_id(node)
    watch = (
        f"cp {FILE} /run/before.toml; systemd-run --quiet --setenv=COPIES=$(ls {FILE}.*~ 2>/dev/null | wc -l) "
        "--setenv=ID=$(systemctl show --value --property InvocationID containerd) "
        f"sh -c {shlex.quote(f'until {STEPS[step]}; do :; done; systemctl reboot -ff')}"
    )
    machines.run(node, watch)
    cut = playbooks.run("registry", "-e", settings)
    assert cut.status != 0
    machines.wait_for_boot(node, boot)
    again = playbooks.run("registry", "-e", settings)
    assert again.status == 0
    assert f"max_concurrent_downloads = {6 + number}" in machines.run(node, "containerd config dump")
    assert playbooks.run("registry", "-e", settings).changed == {}
