# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks that users add to verify: JMESPath over API objects.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import difflib
import json
import typing as t

try:
    import jmespath
    from jmespath.exceptions import JMESPathError
    from jmespath.functions import Functions
except ImportError:  # requirements.txt names it; `problems` says so when a check needs it
    jmespath = Functions = None  # type: ignore[assignment,misc] # see the line above
    JMESPathError = ValueError  # type: ignore[assignment,misc] # see the line above

Json = dict[str, t.Any]

_NEEDED = ("name", "kind", "query", "expect", "remedy")
_POSSIBLE = (*_NEEDED, "api_version", "namespace")
_TEXTS = tuple(key for key in _POSSIBLE if key != "expect")


def problems(entries: t.Any) -> list[str]:
    """Everything that is wrong with the list of checks, a sentence each."""
    if not isinstance(entries, list):
        return [f"gshare_checks is a list of checks, not {_kind(entries)}."]
    found: list[str] = []
    if entries and jmespath is None:
        found.append("gshare_checks needs the Python package jmespath beside ansible-core: pip install jmespath.")
    names: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            found.append(
                f"gshare_checks, entry {number}: a check is a dictionary with {', '.join(_NEEDED)}, not {_kind(entry)}."
            )
            continue
        where = f"gshare_checks, entry {number}" + (f" ({entry['name']})" if isinstance(entry.get("name"), str) else "")
        found.extend(f"{where}: {text}" for text in _entry_problems(entry))
        name = entry.get("name")
        if isinstance(name, str):
            if name in names:
                found.append(f"{where}: entry {names[name]} has the same name, give each its own.")
            names.setdefault(name, number)
    return found


def _entry_problems(entry: Json) -> t.Iterator[str]:
    for key in entry:
        if key not in _POSSIBLE:
            near = difflib.get_close_matches(str(key), _POSSIBLE, 1)
            yield f"there is no key {key}" + (
                f", {near[0]} is meant?" if near else f" (there are {', '.join(_POSSIBLE)})."
            )
    missing = [key for key in _NEEDED if key not in entry]
    if missing:
        yield f"missing: {', '.join(missing)}."
    for key in _TEXTS:
        if key in entry and (not isinstance(entry[key], str) or not entry[key].strip()):
            yield f"{key} is a text that is not empty, not {_kind(entry[key])}."
    if isinstance(entry.get("query"), str) and jmespath is not None:
        yield from _query_problems(entry["query"])


def _query_problems(query: str) -> t.Iterator[str]:
    try:
        parsed = jmespath.compile(query).parsed
    except JMESPathError as exc:
        yield f"query is not JMESPath: {' '.join(str(exc).split())}"
        return
    for name in sorted(set(_functions(parsed)) - set(Functions.FUNCTION_TABLE)):
        near = difflib.get_close_matches(name, Functions.FUNCTION_TABLE, 1)
        yield f"query: JMESPath has no function {name}" + (f", {near[0]} is meant?" if near else ".")


def _functions(node: Json) -> t.Iterator[str]:
    """The functions that a query calls; without this, an unknown one is an error only where it is reached."""
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _functions(child)


def _kind(value: t.Any) -> str:
    words = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a dictionary",
    }
    return words.get(type(value), "nothing" if value is None else type(value).__name__)


def evaluate(entries: list[Json], objects: list[Json]) -> list[Json]:
    """One verdict a check. Each entry of C(objects) is {items} or {error} for the check at the same place."""
    return [_evaluate(entry, found) for entry, found in zip(entries, objects)]


def _evaluate(entry: Json, found: Json) -> Json:
    def verdict(status: str, detail: str) -> Json:
        failed = status == "failed"
        return {
            "name": entry["name"],
            "status": status,
            "detail": detail,
            "remedy": entry["remedy"] if failed else "",
            "problems": [detail] if failed else [],
        }

    if found.get("error"):
        return verdict("failed", found["error"])
    try:
        result = jmespath.search(entry["query"], {"items": found["items"]})
    except JMESPathError as exc:
        return verdict("failed", f"the query does not fit the objects: {' '.join(str(exc).split())}")
    if _same(result, entry["expect"]):
        return verdict("ok", f"{entry['query']} is {_show(result)}")
    return verdict("failed", f"{entry['query']} is {_show(result)}, expected is {_show(entry['expect'])}")


def _same(one: t.Any, other: t.Any) -> bool:
    """Equality as JSON has it: true is not 1."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)


def _show(value: t.Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 200 else text[:197] + "..."
