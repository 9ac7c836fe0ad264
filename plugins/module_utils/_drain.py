# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs on a node, and what has to be said before it is sent away. Objects of the API in, sentences out.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.gshare.cluster.plugins.module_utils._gpu_pods import gpu_pods

Json = dict[str, t.Any]
CORDONED_BY = "gshare.io/cordoned-by"
_MIRROR = "kubernetes.io/config.mirror"
_HOSTNAME = "kubernetes.io/hostname"


@dataclasses.dataclass
class Work:
    """What a node has: pods that have to go, those of them with a GPU, and claims whose data is nowhere else."""

    pods: list[Json]
    gpu_pods: list[str]
    # {claim, volume, size, pods}
    claims: list[Json]


def full_name(item: Json) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def work(pods: t.Iterable[Json], volumes: t.Iterable[Json], node: Json) -> Work:
    """C(pods) are those of the node."""
    going = [pod for pod in pods if not _stays(pod)]
    cards = [f"{pod['namespace']}/{pod['name']}" for pod in gpu_pods(going)]
    return Work(going, cards, [_claim(volume, going) for volume in volumes if pinned(volume, node)])


def _stays(pod: Json) -> bool:
    """Pods that come and go with the node."""
    owners = pod["metadata"].get("ownerReferences") or []
    mirror = _MIRROR in (pod["metadata"].get("annotations") or {})
    return mirror or any(owner.get("controller") and owner.get("kind") == "DaemonSet" for owner in owners)


def finished(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def pinned(volume: Json, node: Json) -> bool:
    """Whether a volume that somebody uses can be reached from this node alone."""
    spec = volume.get("spec") or {}
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    names = {node["metadata"]["name"], (node["metadata"].get("labels") or {}).get(_HOSTNAME)}
    return bool(spec.get("claimRef") and terms) and all(_only(term, names) for term in terms)


def _only(term: Json, names: t.Container[str | None]) -> bool:
    rules = [*(term.get("matchExpressions") or []), *(term.get("matchFields") or [])]
    return any(
        rule.get("key") in (_HOSTNAME, "metadata.name")
        and rule.get("operator") == "In"
        and all(value in names for value in rule.get("values") or [])
        for rule in rules
    )


def _claim(volume: Json, pods: t.Iterable[Json]) -> Json:
    ref, spec = volume["spec"]["claimRef"], volume["spec"]
    users = [
        full_name(pod)
        for pod in pods
        if pod["metadata"]["namespace"] == ref["namespace"] and ref["name"] in _claims(pod)
    ]
    return {
        "claim": f"{ref['namespace']}/{ref['name']}",
        "volume": volume["metadata"]["name"],
        "size": (spec.get("capacity") or {}).get("storage", ""),
        "pods": users,
    }


def _claims(pod: Json) -> list[str]:
    volumes = pod["spec"].get("volumes") or []
    return [volume["persistentVolumeClaim"]["claimName"] for volume in volumes if volume.get("persistentVolumeClaim")]


def objections(found: Work, *, force: bool, delete_local_data: bool) -> list[str]:
    """What would be lost, a sentence each; nothing where the user has said that it may be."""
    told = []
    bare = [full_name(pod) for pod in found.pods if not _owned(pod) and not finished(pod)]
    if bare and not force:
        told.append(
            f"{_listed(bare)} would be gone for good, since nothing makes it anew: end it, or add -e force=true."
        )
    if found.claims and not delete_local_data:
        names = [_described(claim) for claim in found.claims]
        told.append(
            f"The data of {_listed(names)} is on this machine alone: copy it and delete the claim, or give it up with "
            "-e delete_local_data=true."
        )
    return told


def _owned(pod: Json) -> bool:
    return any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences") or [])


def _described(claim: Json) -> str:
    users = f", used by {_listed(claim['pods'])}" if claim["pods"] else ""
    return f"claim {claim['claim']} ({claim['size']}{users})"


def _listed(names: t.Sequence[str], limit: int = 6) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def summary(node: Json, found: Work) -> list[str]:
    """What runs there, a line a kind."""
    name = node["metadata"]["name"]
    lines = [f"{name}: {len(found.pods)} pods have to go" if found.pods else f"{name}: no pod has to go"]
    lines += [f"with a GPU: {_listed(found.gpu_pods)}"] if found.gpu_pods else []
    return lines + ([f"data here alone: {_listed([_described(one) for one in found.claims])}"] if found.claims else [])


def budget(pod: Json, answer: Json, budgets: t.Iterable[Json]) -> str:
    """Which budget refused an eviction, with its numbers; C(answer) is what the API said."""
    causes = [cause.get("message", "") for cause in (answer.get("details") or {}).get("causes") or []]
    mine = [item for item in budgets if _covers(item, pod)]
    names = [f"{full_name(item)} ({_numbers(item)})" for item in mine]
    told = f": {causes[0].rstrip('.')}" if causes and causes[0] else ""
    return f"disruption budget {_listed(names)}{told}" if names else f"{answer.get('message', 'a budget')}{told}"


def _numbers(item: Json) -> str:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    wish = [f"{key} {spec[key]}" for key in ("minAvailable", "maxUnavailable") if spec.get(key) is not None]
    return ", ".join([*wish, f"{status.get('disruptionsAllowed', 0)} may go now"])


def _covers(item: Json, pod: Json) -> bool:
    """Whether a budget speaks of a pod. One without a selector covers none in policy/v1 with null, all with {}."""
    selector = (item.get("spec") or {}).get("selector")
    if selector is None or item["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    have = pod["metadata"].get("labels") or {}
    labels = selector.get("matchLabels") or {}
    return all(have.get(key) == value for key, value in labels.items()) and all(
        _fits(rule, have) for rule in selector.get("matchExpressions") or []
    )


def _fits(rule: Json, have: Json) -> bool:
    value, values = have.get(rule["key"]), rule.get("values") or []
    answers = {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }
    return answers.get(rule.get("operator", ""), False)


def ending(pod: Json) -> str:
    """Why a pod that is to end is still there."""
    meta = pod["metadata"]
    if meta.get("finalizers"):
        return f"its finalizer {', '.join(meta['finalizers'])} holds it"
    grace = meta.get("deletionGracePeriodSeconds") or pod["spec"].get("terminationGracePeriodSeconds")
    return f"it has been told to end and has {grace} s for it" if grace else "it has been told to end"


def cordon(by: str) -> Json:
    """The patch that takes a node out of service. The annotation tells a later run who did it."""
    return {"metadata": {"annotations": {CORDONED_BY: by}}, "spec": {"unschedulable": True}}


def uncordon() -> Json:
    return {"metadata": {"annotations": {CORDONED_BY: None}}, "spec": {"unschedulable": None}}


def cordoned(node: Json) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def cordoned_by(node: Json) -> str:
    return str((node["metadata"].get("annotations") or {}).get(CORDONED_BY, ""))
