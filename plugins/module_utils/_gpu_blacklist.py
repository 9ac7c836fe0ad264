# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file that keeps other drivers from NVIDIA's cards, and the copy of it in the initramfs.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import os
import typing as t

if t.TYPE_CHECKING:
    from ansible_collections.gshare.cluster.plugins.module_utils._host import Host

FILE = "/etc/modprobe.d/gshare-nvidia.conf"
TEXT = """\
# Written by gshare.cluster: these drivers would take the cards before NVIDIA's own can.
blacklist nouveau
blacklist nova_core
blacklist nova_drm
options nouveau modeset=0
"""


def state(host: Host) -> dict[str, t.Any]:
    """Whether the file is as it should be, whether each initramfs is newer than it (C(complete)), and since when."""
    if host.text(FILE) != TEXT:
        return {"complete": False, "file": False, "time": 0.0}
    since = os.stat(host.path(FILE)).st_mtime
    images = [host.path(f"/boot/{name}") for name in host.names("/boot") if name.startswith("initrd.img-")]
    times = [os.stat(image).st_mtime for image in images if image.is_file()]
    return {"complete": all(time >= since for time in times), "file": True, "time": max([since, *times])}
