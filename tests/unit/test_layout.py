# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The house rules that no tool knows. Each test lists all offenders; CONTRIBUTING.md says why the rules are there.

Those of roles and playbooks are in test_layout_roles.py.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re

from packaging.specifiers import SpecifierSet

from ansible_collections.gshare.cluster.tests.unit.tree import (
    ROOT,
    data,
    files,
    name,
    text,
    tracked,
    under,
)

LICENCE = [
    "# Copyright (c) 2026 gshare.cluster contributors",
    "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
    "# SPDX-License-Identifier: GPL-3.0-or-later",
]


# The tree


def test_every_program_names_its_licence() -> None:
    bad = []
    for path in tracked():
        lines = text(path).splitlines()[:4] if path.is_file() else []
        is_script = bool(lines) and lines[0].startswith("#!")
        if (path.suffix == ".py" or is_script) and "fixtures" not in path.parts and lines[is_script:][:3] != LICENCE:
            bad.append(name(path))
    assert bad == [], "\n" + "\n".join(bad)


def test_no_links_and_no_package_files() -> None:
    assert [name(path) for path in tracked() if path.is_symlink() or path.name == "__init__.py"] == []


def test_yaml_files_end_in_yml() -> None:
    allowed = {"changelogs/config.yaml", "changelogs/changelog.yaml"}
    # Helm has fixed names for two files of a chart.
    folders = [name(folder) for folder in (ROOT / "tests/lab/charts").iterdir()]
    charts = {f"{folder}/{file}.yaml" for folder in folders for file in ("Chart", "values")}
    assert [found for path in files("*.yaml") if (found := name(path)) not in allowed | charts] == []


def test_names_are_snake_case() -> None:
    parts = {
        part
        for path in [*under("roles"), *under("playbooks"), *under("plugins"), *under("molecule")]
        for part in path.relative_to(ROOT).with_suffix("").parts
    }
    allowed = re.compile(r"_?[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9.-]+)?|README|molecule")
    assert sorted(part for part in parts if not allowed.fullmatch(part)) == []


def test_files_are_short() -> None:
    limits = {"roles/*/tasks/*.yml": 70, "plugins/action/*.py": 130}
    bad = []
    for path in [*under("plugins", "roles", "playbooks", "tools", "molecule"), *under("tests/lab", suffixes=(".py",))]:
        limit = next((limit for pattern, limit in limits.items() if path.relative_to(ROOT).match(pattern)), 400)
        if path.suffix in (".py", ".yml", ".j2") and (lines := len(text(path).splitlines())) > limit:
            bad.append(f"{name(path)}: {lines} lines, at most {limit}")
    assert bad == [], "\n" + "\n".join(bad)


def test_nothing_depends_on_the_machine_it_was_written_on() -> None:
    pattern = re.compile(r"/root/\.|/work/|\.pyenv/versions/3\.\d+\.\d")
    bad = [
        f"{name(path)}: {found.group()}"
        for path in tracked()
        if path != ROOT / "tests/unit/test_layout.py" and path.is_file() and (found := pattern.search(text(path)))
    ]
    assert bad == [], "\n" + "\n".join(bad)


# What hides an error, or does what a module is for, needs a reason

HIDES = re.compile(
    r"ignore_errors: true|failed_when: false|ignore_unreachable|\|\| true|\|\| :|"
    r"# noqa|type: ignore|# nosec|pylint: disable|shellcheck disable|"
    r"ansible\.builtin\.(command|shell|raw|script):"
)


def has_reason(lines: list[str], index: int) -> bool:
    """A comment of some words stands on the line, or on the line above."""
    own = re.sub(r"# (noqa|type: ignore|pylint: disable|shellcheck disable)[=:]? ?[\w\[\],-]*", "#", lines[index])
    above = lines[index - 1].strip() if index else ""
    return bool(re.search(r"#[\s-]+\w+ \w+", own) or re.match(r"# \w+ \w+", above))


def test_what_hides_an_error_has_a_reason() -> None:
    not_ours = files("tests/unit/test_layout*.py")
    bad = []
    for path in tracked():
        if path in not_ours or "fixtures" in path.parts or path.suffix in (".md", ".sum", ".go"):
            continue
        lines = text(path).splitlines() if path.is_file() else []
        bad += [
            f"{name(path)}:{index + 1}: {line.strip()}"
            for index, line in enumerate(lines)
            if HIDES.search(line) and not has_reason(lines, index)
        ]
    assert bad == [], "\n" + "\n".join(bad)


def test_no_rule_of_ansible_lint_is_skipped() -> None:
    config = data(ROOT / ".ansible-lint")
    assert config["profile"] == "production"
    assert {"skip_list", "warn_list", "kinds", "mock_modules", "mock_roles"} & set(config) == set()


# Dependencies


def test_dependencies_agree() -> None:
    wanted = data(ROOT / "galaxy.yml")["dependencies"]
    listed = {item["name"]: item["version"] for item in data(ROOT / "requirements.yml")["collections"]}
    assert wanted == listed
    assert set(wanted) == {"ansible.posix", "kubernetes.core"}


def test_collections_of_the_checkout_are_in_the_ranges() -> None:
    for collection, versions in data(ROOT / "galaxy.yml")["dependencies"].items():
        manifest = ROOT / ".cache/deps/ansible_collections" / collection.replace(".", "/") / "MANIFEST.json"
        version = json.loads(text(manifest))["collection_info"]["version"]
        assert SpecifierSet(versions).contains(version), f"{collection} {version}"


def test_core_versions_agree() -> None:
    floor = data(ROOT / "meta/runtime.yml")["requires_ansible"].removeprefix(">=").removesuffix(".0")
    assert f"ansible-core>={floor}" in text(ROOT / "requirements.txt")


# Plugins


def imports(path: pathlib.Path) -> list[str]:
    """What a file cannot be loaded without: not what it imports in a function, or tries to."""
    found = []
    for node in ast.parse(text(path)).body:
        if isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def test_who_imports_what() -> None:
    bad = []
    for path in under("plugins", suffixes=(".py",)):
        kind = path.relative_to(ROOT).parts[1]
        on_machine = kind in ("modules", "module_utils")
        forbidden = "plugins.plugin_utils" if on_machine else None
        for found in imports(path):
            if forbidden and forbidden in found:
                bad.append(f"{name(path)}: {found} is for the controller")
            if on_machine and found.split(".")[0] in ("yaml", "tomlkit", "kubernetes", "requests", "jmespath"):
                bad.append(f"{name(path)}: {found} is not in the standard library")
    assert bad == [], "\n" + "\n".join(bad)


def test_utils_are_private() -> None:
    folders = ("plugins/module_utils", "plugins/plugin_utils", "plugins/doc_fragments")
    assert [name(path) for path in under(*folders, suffixes=(".py",)) if not path.name.startswith("_")] == []


def writes(node: ast.Call, line: str) -> bool:
    """The call opens or writes a file in place; temporary files and locks are told by a word on the line."""
    function = ast.unparse(node.func)
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if re.search(r"tmp|temp|lock|os\.open\(", line):
        return False
    if function.endswith((".write_text", ".write_bytes")):
        return True
    modes = [item.value for item in arguments[1:] if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return function in ("open", "io.open") and any(re.fullmatch(r"[rbt]*[wax+][wax+bt]*", mode) for mode in modes)


def test_modules_replace_files_and_never_write_into_them() -> None:
    bad = [
        f"{name(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in under("plugins/modules", "plugins/module_utils", suffixes=(".py",))
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.Call) and writes(node, text(path).splitlines()[node.lineno - 1])
    ]
    assert bad == [], "\n" + "\n".join(bad)


def test_every_plugin_has_a_test() -> None:
    tested = set()
    for path in under("tests/unit/plugins", suffixes=(".py",)):
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.ImportFrom) and node.module:
                tested |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    bad = []
    for kind in ("action", "callback", "filter", "inventory", "module_utils", "modules", "plugin_utils"):
        for path in under(f"plugins/{kind}", suffixes=(".py",)):
            # Parts of a util (_swap_units) may be tested through it (_swap).
            words = path.stem.split("_")
            stems = (
                ["_".join(words[:count]) for count in range(1, len(words) + 1)] if path.stem[0] == "_" else [path.stem]
            )
            if not tested.intersection(f"ansible_collections.gshare.cluster.plugins.{kind}.{stem}" for stem in stems):
                bad.append(name(path))
    assert bad == [], "\n" + "\n".join(bad)
