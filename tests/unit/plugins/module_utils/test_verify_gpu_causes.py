# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import explain, explain_exit, known


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('pods "x" is forbidden: pod rejected: RuntimeClass "nvidia" not found', "there is no RuntimeClass nvidia"),
        ('failed to get sandbox runtime: no runtime for "nvidia" is configured', "containerd has no runtime nvidia"),
        ("exec: /usr/bin/nvidia-container-runtime: no such file or directory", "toolkit is not installed"),
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded", "module nvidia is not loaded"),
        ("Failed to initialize NVML: Driver/library version mismatch", "needs a reboot"),
        ("unresolvable CDI devices nvidia.com/gpu=all", "CDI specification does not know"),
        ("libnvidia-ml.so.1: cannot open shared object file", "no NVIDIA library is in its container"),
        ('Incompatible strategy detected auto" - If this is a GPU node, did you configure', "no NVIDIA library"),
        ("failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND", "no NVIDIA library"),
    ],
)
def test_known_messages(text, cause):
    found, remedy = explain(text)
    assert cause in found
    assert remedy
    assert known(text)


def test_other_messages_are_passed_on():
    assert explain("disk full", "Make room.") == ("disk full", "Make room.")
    assert not known("disk full")


def test_the_exit_status_tells_where_the_message_does_not():
    assert explain_exit(18, "")[0].endswith("the node needs a reboot (), exit status 18")
    assert "nvidia-smi failed (odd)" in explain_exit(3, "odd")[0]
