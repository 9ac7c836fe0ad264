# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The archive for whoever is to help, of a cluster of which one machine is off."""

from __future__ import annotations

import tarfile

PLANTED = "hunter2correcthorse"


def test_archive_tells_much_and_no_secret(playbooks, machines, lab, addresses, tmp_path) -> None:
    machines.run("cpu1", f"echo REGISTRY_PASSWORD={PLANTED} >> /etc/environment; logger -t kubelet token={PLANTED}")
    token = machines.run("control1", "kubeadm token create --description planted").strip()
    lab("kill", "gpu1")
    path = tmp_path / "support.tar.gz"
    run = playbooks.run("support", "-e", f"support_file={path}")
    assert run.status == 0
    with tarfile.open(path) as archive:
        texts = {member.name.partition("/")[2]: archive.extractfile(member).read().decode() for member in archive}
    assert "cpu1" in texts[f"{addresses['control1']}/api/pods"]
    assert "config_path" in texts[f"{addresses['cpu1']}/containerd/effective"]
    assert f"{addresses['gpu1']}: nothing" in texts["README"]
    assert not [name for name, text in texts.items() if PLANTED in text or token in text or "PRIVATE KEY-----" in text]
    machines.kubectl("-n", "kube-system", "delete", "secret", f"bootstrap-token-{token.partition('.')[0]}")
    lab("start", "gpu1")
