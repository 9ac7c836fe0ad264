# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The house rules of roles and playbooks, as test_layout.py has the others."""

from __future__ import annotations

import pathlib
import re
import typing as t

import pytest

from ansible_collections.gshare.cluster.tests.unit.tree import (
    ROOT,
    data,
    defaults,
    files,
    name,
    options,
    roles,
    text,
    under,
    variables,
)

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
