# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.module_utils._cdi import described, why_stale

SPECIFICATION = """\
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  mounts:
    - hostPath: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05
      containerPath: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05
    - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
"""


def test_the_version_stands_in_the_names_of_the_libraries() -> None:
    assert described(SPECIFICATION) == "580.95.05"
    assert described("kind: nvidia.com/gpu\n  - hostPath: /usr/lib/libcuda.so.1\n") == ""


@pytest.mark.parametrize(
    ("loaded", "text", "reason"),
    [
        ("580.95.05", SPECIFICATION, ""),
        ("", SPECIFICATION, ""),
        ("", "", ""),
        ("580.126.20", SPECIFICATION, "it is of driver 580.95.05, and 580.126.20 is loaded"),
        ("580.126.20", "", "there is no specification, and driver 580.126.20 is loaded"),
        ("580.126.20", "kind: x\n", "it is of driver unknown, and 580.126.20 is loaded"),
    ],
)
def test_when_it_is_made_anew(loaded: str, text: str, reason: str) -> None:
    assert why_stale(loaded, text) == reason
