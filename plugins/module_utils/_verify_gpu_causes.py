# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the messages around a GPU mean: patterns in, cause and remedy out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import shorten

UP = "ansible-playbook gshare.cluster.up"
_CAUSES = (
    (
        r'RuntimeClass \\?"?nvidia\\?"? not found|runtimeclass\S* \\?"?nvidia\\?"? not found',
        "there is no RuntimeClass nvidia",
        f"Make it: {UP}.",
    ),
    (
        r'no runtime for \\?"nvidia\\?"|RuntimeHandler \\?"nvidia\\?" not supported|unknown runtime handler',
        "containerd has no runtime nvidia",
        f"Set it up: {UP}; on the node: containerd config dump has to show runtimes.nvidia.",
    ),
    (
        r"nvidia-container-runtime\S*: (?:no such file|executable file not found)",
        "the container toolkit is not installed",
        f"Install it: {UP}.",
    ),
    (
        r"Driver/library version mismatch|ERROR_LIB_RM_VERSION_MISMATCH",
        "the loaded kernel module and the driver's library have different versions, the node needs a reboot",
        f"Reboot the node: {UP} does it if no GPU work runs there (else with -e gshare_disrupt=HOST).",
    ),
    (
        r"fallen off the bus|GPU is lost|ERROR_GPU_IS_LOST|Unable to determine the device handle",
        "a card does not answer any more",
        "On the node: dmesg | grep -i xid; reboot it, and if that does not help look at the card and its power.",
    ),
    (
        r"couldn't communicate with the NVIDIA driver|[Dd]river [Nn]ot [Ll]oaded|ERROR_DRIVER_NOT_LOADED",
        "the kernel module nvidia is not loaded",
        f"On the node: modprobe nvidia, dmesg | grep -i nvidia; {UP} finds out what is missing.",
    ),
    (
        r"invalid MIG capability request",
        "it sets NVIDIA_MIG_* variables and is not privileged, so the runtime refuses it",
        "Give the device plugin's container securityContext.privileged: true, or take these variables from it.",
    ),
    (
        r"unresolvable CDI devices|CDI device injection failed",
        "the CDI specification does not know the cards",
        "On the node: nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml.",
    ),
    (
        r"libnvidia-ml\.so\S* cannot open|ERROR_LIBRARY_NOT_FOUND|Incompatible strategy detected",
        "no NVIDIA library is in its container: it does not run under the runtime nvidia, or the driver is missing",
        f"Run {UP}: it sets runtimeClassName nvidia for the device plugin, and the runtime up on the node.",
    ),
    (
        r"No devices were found",
        "the driver runs and finds no card",
        "On the node: dmesg | grep -i nvrm tells why the driver refuses the card.",
    ),
)
_EXITS = {
    6: "the driver runs and finds no card",
    9: "the kernel module nvidia is not loaded",
    12: "the driver's library was not found",
    15: "a card does not answer any more",
    18: "the loaded kernel module and the driver's library have different versions, the node needs a reboot",
}


def explain(text: str, fallback: str = "") -> tuple[str, str]:
    """Cause and remedy that a message stands for; the message itself where nobody knows better."""
    for pattern, cause, remedy in _CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            return f"{cause} ({shorten(text, 160)})", remedy
    return shorten(text) or "no message", fallback


def known(text: str) -> bool:
    """Whether a message stands for something that does not pass by waiting."""
    return any(re.search(pattern, text, re.IGNORECASE) for pattern, _cause, _remedy in _CAUSES)


def explain_exit(code: int, text: str) -> tuple[str, str]:
    """What an exit status of nvidia-smi in a pod and its message mean."""
    said = shorten(text, 160)
    if code in (124, 137):
        return (
            "nvidia-smi did not answer in time",
            "On the node: does nvidia-smi hang there too? dmesg | grep -i xid; nvidia-persistenced makes it quick.",
        )
    if code in (126, 127):
        return (
            "the runtime gave the pod no nvidia-smi",
            f"On the node: is nvidia-smi installed, does nvidia-ctk cdi list name the cards? Then: {UP}.",
        )
    cause, remedy = explain(text, f"On the node: nvidia-smi; {UP} finds out what is missing.")
    cause = cause if known(text) else f"{_EXITS.get(code, 'nvidia-smi failed')} ({said})"
    return f"{cause}, exit status {code}", remedy
