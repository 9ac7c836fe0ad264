# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The check of what a pod gets that asks for a GPU.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils import _verify_gpu_nodes as gpus
from ansible_collections.gshare.cluster.plugins.module_utils._hami import SCHEDULER
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_causes import UP, explain, explain_exit
from ansible_collections.gshare.cluster.plugins.module_utils._verify_gpu_probes import SLICE_MIB, TOO_LITTLE
from ansible_collections.gshare.cluster.plugins.module_utils._verify_types import (
    Check,
    Expectation,
    Json,
    Problem,
    Snapshot,
    listed,
    node_name,
    shorten,
    skipped,
    verdict,
)


def check_gpu_slice(snapshot: Snapshot, expectation: Expectation) -> Check:
    """A pod on every GPU worker gets the part of a card that it asks for, and too much is refused."""
    hami = expectation.gpu_sharing == "hami"
    problems = list(_webhook(gpus.probed(snapshot, "scheduler"))) if hami else []
    served, tried = [], 0
    for _host, node in gpus.workers(snapshot, expectation):
        name = node_name(node)
        result = gpus.probed(snapshot, "slice").get(name)
        if result is None:
            continue
        tried += 1
        found = list(_slice(name, result, hami))
        problems += found
        if not found:
            served.append(name)
    note = ""
    if hami:
        found, note = _too_big(gpus.probed(snapshot, "too_big"))
        problems += found
    if not tried and not problems:
        return skipped("gpu_slice", "no GPU worker offers a card, see gpu_capacity")
    what = f"a pod gets {SLICE_MIB} MiB of a card" if hami else "a pod gets one card"
    return verdict("gpu_slice", problems, f"{what} on {listed(served)}{note}")


def _webhook(answer: Json) -> t.Iterator[Problem]:
    see = (
        "See kubectl get mutatingwebhookconfigurations and kubectl -n kube-system get pods,endpoints: "
        "the API server has to reach the service hami-scheduler."
    )
    if answer.get("problem"):
        yield Problem(f"the API server takes no pod that asks for a GPU: {shorten(answer['problem'], 200)}", see)
    elif answer and answer.get("name") != SCHEDULER:
        yield Problem(
            f"a pod that asks for a GPU is given to {answer.get('name')}, not to {SCHEDULER}: HAMi's webhook is not "
            "called, and such pods stay Pending or get a card without limits",
            see,
        )


def _slice(name: str, result: Json, hami: bool) -> t.Iterator[Problem]:
    if result.get("busy"):
        text = f"{name} was not tried, its cards are in use: {listed(result['busy'], 3)}"
        yield Problem(text, "Run verify again when a card has room.", True)
        return
    if result.get("problem"):
        cause, remedy = explain(result["problem"], result.get("remedy", ""))
        yield Problem(f"a pod that asks for a GPU does not run on {name}: {cause}", remedy)
        return
    limit = result.get("limit", "")
    if hami and limit != f"{SLICE_MIB}m":
        said = f"its limit is {limit}" if limit else "it has no limit (no CUDA_DEVICE_MEMORY_LIMIT_0)"
        yield Problem(
            f"a pod on {name} asked for {SLICE_MIB} MiB of a card, and {said}",
            f"HAMi's plugin did not hand out that card: is there another device plugin? Then {UP}.",
        )
    if result["exit"]:
        cause, remedy = explain_exit(result["exit"], result["text"])
        # With HAMi the limit has proved that the card came; its library is in front of nvidia-smi there.
        yield Problem(f"nvidia-smi in a pod with a card on {name}: {cause}", remedy, hami)
    elif result["cards"] != 1:
        yield Problem(
            f"a pod on {name} asked for one card and sees {result['cards']}",
            "Is nvidia containerd's default runtime there? It must not be: see containerd config dump.",
        )


def _too_big(answer: Json) -> tuple[list[Problem], str]:
    """A pod that asks for more than there is, and what the schedulers said."""
    if not answer:
        return [], ""
    what = f"a pod that asks for {answer.get('asked', '?')} MiB, more than any card has,"
    see = "See kubectl -n kube-system logs deployment/hami-scheduler --all-containers."
    if answer.get("problem"):
        return [Problem(f"{what} could not be made: {shorten(answer['problem'], 200)}", see)], ""
    if answer.get("placed"):
        text = f"{what} was placed on {answer['placed']}: memory is not counted"
        return [Problem(text, f"{see[:-1]}; are limits scaled (device memory scaling)?")], ""
    said: list[str] = answer.get("reasons") or []
    if not said:
        return [Problem(f"{what} stays Pending and no scheduler says why", see)], ""
    told = next((text for text in said if TOO_LITTLE in text), "")
    if not told:
        return [Problem(f"{what} stays Pending for another reason: {said[0]}", see, True)], ""
    return [], f"; {answer['asked']} MiB stay Pending: {told}"
