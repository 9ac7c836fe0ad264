# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The house rules that no tool knows. Each test lists all offenders; CONTRIBUTING.md says why the rules are there."""

from __future__ import annotations

import ast
import functools
import json
import pathlib
import re
import subprocess
import typing as t

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENCE = [
    "# Copyright (c) 2026 gshare.cluster contributors",
    "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
    "# SPDX-License-Identifier: GPL-3.0-or-later",
]


class _Loader(yaml.SafeLoader):
    """YAML as Ansible writes it: its tags (!unsafe, !vault) are plain values here."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: loader.construct_scalar(node))


@functools.cache
def tracked() -> tuple[pathlib.Path, ...]:
    """What git tracks or would, as paths relative to the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return tuple(sorted(path for name in names if name and ((path := ROOT / name).exists() or path.is_symlink())))


def files(*patterns: str) -> list[pathlib.Path]:
    return [path for path in tracked() if any(path.relative_to(ROOT).match(pattern) for pattern in patterns)]


def under(*folders: str, suffixes: tuple[str, ...] = ()) -> list[pathlib.Path]:
    return [
        path
        for path in tracked()
        if any(path.is_relative_to(ROOT / folder) for folder in folders) and (not suffixes or path.suffix in suffixes)
    ]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@functools.cache
def data(path: pathlib.Path) -> t.Any:
    return yaml.load(text(path), Loader=_Loader)  # the loader is a safe one


def roles() -> list[pathlib.Path]:
    return sorted({ROOT.joinpath(*path.relative_to(ROOT).parts[:2]) for path in under("roles")})


def options(role: pathlib.Path) -> dict[str, dict[str, t.Any]]:
    """The options of all entry points of a role."""
    specs = data(role / "meta" / "argument_specs.yml")["argument_specs"]
    return {key: value for entry in specs.values() for key, value in (entry.get("options") or {}).items()}


def defaults(role: pathlib.Path) -> dict[str, t.Any]:
    path = role / "defaults" / "main.yml"
    return (data(path) or {}) if path.exists() else {}


@functools.cache
def variables(role: pathlib.Path) -> frozenset[str]:
    """All variable names that belong to a role: its options, defaults, and the internal ones that it uses."""
    internal = re.compile(rf"\b__{role.name}_\w+")
    used = {found for path in under(name(role)) for found in internal.findall(text(path))}
    return frozenset({*options(role), *defaults(role), *used})


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
    assert [found for path in files("*.yaml") if (found := name(path)) not in allowed] == []


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
        if path != pathlib.Path(__file__) and path.is_file() and (found := pattern.search(text(path)))
    ]
    assert bad == [], "\n" + "\n".join(bad)


# What hides an error needs a reason

HIDES = re.compile(
    r"ignore_errors: true|failed_when: false|ignore_unreachable|\|\| true|\|\| :|"
    # An ignored error of mypy says in brackets which one it is.
    r"# noqa|type: ignore(?!\[)|# nosec|pylint: disable|shellcheck disable"
)


def has_reason(lines: list[str], index: int) -> bool:
    """A comment of some words stands on the line, or on the line above."""
    own = re.sub(r"# (noqa|type: ignore|pylint: disable|shellcheck disable)[=:]? ?[\w\[\]-]*", "#", lines[index])
    above = lines[index - 1].strip() if index else ""
    return bool(re.search(r"#[\s-]+\w+ \w+", own) or re.match(r"# \w+ \w+", above))


def test_what_hides_an_error_has_a_reason() -> None:
    not_ours = {pathlib.Path(__file__)}
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


# Roles


@pytest.mark.parametrize("role", roles(), ids=lambda role: role.name)
class TestRole:
    def test_has_its_fixed_set_of_files(self, role: pathlib.Path) -> None:
        wanted = ["README.md", "meta/main.yml", "meta/argument_specs.yml", "tasks/main.yml"]
        assert [item for item in wanted if not (role / item).is_file()] == []

    def test_defaults_equal_argument_specs(self, role: pathlib.Path) -> None:
        specs = options(role)
        assert {key: value["default"] for key, value in specs.items() if "default" in value} == defaults(role)
        assert [key for key, value in specs.items() if "default" not in value and not value.get("required")] == []

    def test_options_are_named_after_the_role(self, role: pathlib.Path) -> None:
        assert [key for key in options(role) if not key.startswith(f"{role.name}_")] == []

    def test_readme_lists_all_options(self, role: pathlib.Path) -> None:
        listed = re.findall(r"^\| `(\w+)`", text(role / "README.md"), flags=re.MULTILINE)
        assert sorted(listed) == sorted(options(role))

    def test_reads_no_variable_of_another_role(self, role: pathlib.Path) -> None:
        foreign = {item: other.name for other in roles() if other != role for item in variables(other)}
        bad = []
        for path in under(name(role), suffixes=(".yml", ".j2")):
            words = set(re.findall(r"\w+", text(path))) - variables(role)
            bad += [f"{name(path)}: {word} belongs to {foreign[word]}" for word in sorted(words & set(foreign))]
        assert bad == [], "\n" + "\n".join(bad)

    def test_no_distribution_tests_in_tasks(self, role: pathlib.Path) -> None:
        bad = []
        for path in under(f"{name(role)}/tasks"):
            for task in data(path) or []:
                if "ansible.builtin.include_vars" not in task and re.search(
                    r"facts(\.|\[.)(distribution|os_family)", str(task)
                ):
                    bad.append(f"{name(path)}: {task.get('name')}")
        assert bad == [], "\n" + "\n".join(bad)

    def test_downloads_are_checked(self, role: pathlib.Path) -> None:
        own = defaults(role)
        proofs = ("checksum", "sha256", "checksums", "key", "key_url", "fingerprint", "key_fingerprint")
        bad = []
        for key in own:
            stem = key.removesuffix("_url")
            if stem != key and not stem.endswith("_key") and not any(f"{stem}_{proof}" in own for proof in proofs):
                bad.append(key)
        assert bad == [], "\n" + "\n".join(bad)


def test_facts_are_read_from_ansible_facts() -> None:
    magic = (
        "become|check_mode|connection|diff_mode|facts|failed_\\w+|forks|host|inventory_sources|limit|loop\\w*|managed|"
        "ssh_\\w+|search_path|parent_role_\\w+|password|play_\\w+|playbook_python|port|python_interpreter|role_name|"
        "run_tags|skip_tags|user|verbosity|version|config_file|collection_name|collections|private_key_file|index_var|"
        "shell_\\w+|become_\\w+|remote_tmp|timeout|pipelining|builtin|ssh"
    )
    pattern = re.compile(rf"(?<![\w./-])ansible_(?!(?:{magic})\b)[a-z]\w*")
    bad = [
        f"{name(path)}: {found}"
        for path in under("roles", "playbooks", suffixes=(".yml", ".j2"))
        for found in pattern.findall(text(path))
    ]
    assert bad == [], "\n" + "\n".join(bad)


def test_templates_say_who_manages_the_file() -> None:
    assert [
        name(path)
        for path in files("roles/*/templates/*.j2")
        if not re.match(r"\{\{ ansible_managed|\{#|#", text(path))
    ] == []


# Playbooks and settings


def plays() -> list[tuple[pathlib.Path, dict[str, t.Any]]]:
    return [(path, play) for path in files("playbooks/*.yml") for play in data(path) or [] if "hosts" in play]


def test_plays_are_plain() -> None:
    bad = []
    for path, play in plays():
        if "gather_facts" not in play:
            bad.append(f"{name(path)}: {play['name']}: gather_facts is not said")
        bad += [f"{name(path)}: {play['name']}: {key}" for key in ("strategy", "handlers") if key in play]
        if len(tasks := play.get("tasks") or []) > 3:
            bad.append(f"{name(path)}: {play['name']}: {len(tasks)} tasks of its own")
    assert bad == [], "\n" + "\n".join(bad)


def test_flags_of_plays_have_a_reason() -> None:
    flag = re.compile(r"^\s+(any_errors_fatal|serial|max_fail_percentage|ignore_unreachable):", flags=re.MULTILINE)
    bad = []
    for path in files("playbooks/*.yml"):
        # A play, with the comment above its name.
        for play in re.split(r"\n\n(?=#|- )", text(path)):
            bad += [f"{name(path)}: {found}" for found in flag.findall(play) if not re.search(r"# \w+ \w+ \w+", play)]
    assert bad == [], "\n" + "\n".join(bad)


def documented() -> set[str]:
    """The settings of the whole cluster, from the two pages that list them."""
    pages = (ROOT / "docs/cluster-info.md", ROOT / "docs/settings.md")
    return {found for page in pages for found in re.findall(r"^\|.*?`(gshare_\w+)`", text(page), flags=re.MULTILINE)}


def test_cluster_wide_settings_are_documented() -> None:
    used = {
        found
        for path in under("roles", "playbooks", "plugins", suffixes=(".yml", ".j2", ".py"))
        for found in re.findall(r"(?<![\w.])(gshare_\w+)", text(path))
    }
    assert sorted(used - documented()) == []
    assert sorted(documented() - used) == []


def test_example_inventory_has_no_unknown_setting() -> None:
    known = documented().union(*map(options, roles()))
    used = set()
    for path in under("inventory.example/group_vars", "inventory.example/host_vars", suffixes=(".yml",)):
        used |= set(data(path) or {})
        # What is commented out is an example too.
        used |= set(re.findall(r"^# ?(\w+):", text(path), flags=re.MULTILINE))
    assert sorted(used - known) == []
