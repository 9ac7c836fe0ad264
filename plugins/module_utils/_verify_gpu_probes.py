# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pods by which verify tries GPUs: their manifests, what they run, how their last words are read.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._verify_probes import pod
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import Json, shorten

RESOURCE = "nvidia.com/gpu"
MEMORY = "nvidia.com/gpumem"
# What HAMi calls a card without enough memory.
TOO_LITTLE = "CardInsufficientMemory"
# MiB: little enough to be left on a card that is in use.
SLICE_MIB = 1024
# A first call on a machine with many cards takes half a minute without the persistence daemon.
_SMI_SECONDS = 90
_FIELDS = ("index", "uuid", "name", "driver_version")
_QUERY = f"nvidia-smi --query-gpu={','.join(_FIELDS)} --format=csv,noheader,nounits"
_LAST_WORDS = "/dev/termination-log"


def driver_pod(image: str, node: str, index: int) -> Json:
    """A pod that asks the driver for all cards of a node, and takes no share of any.

    It is put on its node without a scheduler, so that it says something about the node alone.
    """
    run = f"timeout -k 5 {_SMI_SECONDS} {_QUERY} > /tmp/out 2>&1; code=$?"
    body = pod(f"gpu-driver-{index}", "gpu-driver", image, f"{run}; {_tell()}", nodeName=node)
    # HAMi's webhook may hide the cards from pods that ask for none.
    body["metadata"]["labels"]["hami.io/webhook"] = "ignore"
    body["spec"]["runtimeClassName"] = "nvidia"
    _environment(body, NVIDIA_VISIBLE_DEVICES="all", NVIDIA_DRIVER_CAPABILITIES="utility")
    return body


def slice_pod(image: str, node: str, index: int, resource: str, hami: bool) -> Json:
    """A pod that asks for one card, with HAMi for a part of its memory, on one node."""
    run = f"env > /tmp/env; timeout -k 5 {_SMI_SECONDS} nvidia-smi -L > /tmp/out 2>&1; code=$?"
    limit = "grep -E '^(CUDA_DEVICE_MEMORY_LIMIT|NVIDIA_VISIBLE_DEVICES)' /tmp/env"
    body = pod(f"gpu-slice-{index}", "gpu-slice", image, f"{run}; {_tell(limit)}")
    body["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": _only(node)}}
    _environment(body, NVIDIA_DRIVER_CAPABILITIES="compute,utility")
    if hami:
        _ask(body, **{RESOURCE: 1, MEMORY: SLICE_MIB})
    else:
        body["spec"]["runtimeClassName"] = "nvidia"
        _ask(body, **{resource: 1})
    return body


def too_big_pod(image: str, memory_mib: int) -> Json:
    """A pod that asks for more memory than any card has."""
    body = pod("gpu-too-big", "gpu-too-big", image, "true")
    _ask(body, **{RESOURCE: 1, MEMORY: memory_mib})
    return body


def _only(node: str) -> Json:
    return {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}],
    }


def _environment(body: Json, **values: str) -> None:
    body["spec"]["containers"][0]["env"] += [{"name": name, "value": value} for name, value in values.items()]


def _ask(body: Json, **resources: int) -> None:
    body["spec"]["containers"][0]["resources"]["limits"] = {name: str(value) for name, value in resources.items()}


def _tell(more: str = "") -> str:
    """The last words of a pod: they are read from its status, without the kubelet's port."""
    first = f"{more}; " if more else ""
    return f'{{ {first}echo "@exit $code"; head -c 3000 /tmp/out; }} > {_LAST_WORDS}'


def last_words(item: Json) -> Json:
    """What a pod that has ended said: {exit, text, environment}, or {problem} if its container never ran."""
    for status in item.get("status", {}).get("containerStatuses") or []:
        ended = (status.get("state") or {}).get("terminated") or {}
        message = ended.get("message", "")
        hit = re.search(r"^@exit (\d+)\n?(.*)\Z", message, re.MULTILINE | re.DOTALL)
        if hit:
            environment = dict(re.findall(r"^(\w+)=(.*)$", message[: hit.start()], re.MULTILINE))
            return {"exit": int(hit.group(1)), "text": hit.group(2).strip(), "environment": environment}
        if ended:
            return {"problem": message or f"{ended.get('reason', 'ended')}, exit code {ended.get('exitCode', '?')}"}
    return {"problem": item.get("status", {}).get("message", "") or "the pod ended without a word"}


def read_cards(text: str) -> list[Json]:
    """The cards in nvidia-smi's CSV, where a name may hold commas; other lines, such as its warnings, are left out."""
    cards = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) >= len(_FIELDS) and parts[0].isdigit():
            name = ",".join(parts[2:-1])
            cards.append({"index": int(parts[0]), "uuid": parts[1], "name": name, "driver": parts[-1]})
    return cards


def count_listed(text: str) -> int:
    """Cards in the output of nvidia-smi -L; MIG parts are listed below theirs and do not count."""
    return len(re.findall(r"^GPU \d+:", text, re.MULTILINE))


def devices_in_use(pods: t.Iterable[Json], resource: str) -> list[tuple[str, int, list[tuple[str, int, int]]]]:
    """Users' pods with GPUs: name, number of shares, and HAMi's (card, MiB, cores) of each."""
    found = []
    for item in pods:
        if item.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            continue
        shares = sum(_asked(container, resource) for container in item["spec"].get("containers") or [])
        if shares:
            meta = item["metadata"]
            allocated = (meta.get("annotations") or {}).get("hami.io/vgpu-devices-allocated", "")
            parts = re.findall(r"([^,;:]+),[^,;:]+,(\d+),(\d+)", allocated)
            devices = [(card, int(memory), int(cores)) for card, memory, cores in parts]
            found.append((f"{meta['namespace']}/{meta['name']}", shares, devices))
    return found


def _asked(container: Json, resource: str) -> int:
    resources = container.get("resources") or {}
    value = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}.get(resource, "0")
    return int(value) if str(value).isdigit() else 0


def reasons(events: t.Iterable[Json]) -> list[str]:
    """What schedulers said about a pod that they did not place, the filter's own words first."""
    ranked = {"FilteringFailed": 0, "FailedScheduling": 1}
    found = [event for event in events if event.get("reason") in ranked]
    found.sort(key=lambda event: ranked[event["reason"]])
    return list(dict.fromkeys(shorten(event.get("message", ""), 200) for event in found))
