# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.doc_fragments.constructed import ModuleDocFragment
from ansible.plugins.loader import inventory_loader
from ansible.template import is_trusted_as_template

import ansible_collections
from ansible_collections.gshare.cluster.plugins.inventory import cluster_info
from ansible_collections.gshare.cluster.plugins.inventory.cluster_info import InventoryModule

EXAMPLE = Path(__file__).parents[4] / "inventory.example"
FULL = """\
MASTER_NODE=ubuntu@192.0.2.10
WORKER_NODES=ubuntu@192.0.2.11:exclusive,op@192.0.2.12
CPU_WORKERS=192.0.2.13
STORAGE_NODE=ubuntu@192.0.2.20:/dev/disk/by-path/pci-0000:3b:00.0-nvme-1
K8S_MINOR=1.36.3
INIT_FORCE_RESET=1
REBOOT_WAIT_TRIES=240
SSH_OPTS="-p 2222 -J gate"
"""
GROUPS = {
    "kube_control_plane": ["192.0.2.10"],
    "gpu_exclusive": ["192.0.2.11"],
    "gpu_fractional": ["192.0.2.12"],
    "gpu_node": ["192.0.2.11", "192.0.2.12"],
    "cpu_node": ["192.0.2.13"],
    "storage_node": ["192.0.2.20"],
    "kube_worker": ["192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.20"],
    "kube_cluster": ["192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.20"],
}


@pytest.fixture(autouse=True, scope="module")
def _options() -> None:
    """Make the options known, as the loader does from the documentation."""
    options: dict[str, t.Any] = {}
    for documentation in (ModuleDocFragment.DOCUMENTATION, cluster_info.DOCUMENTATION):
        options |= yaml.safe_load(documentation)["options"]
    constants.config.initialize_plugin_configuration_definitions("inventory", InventoryModule.NAME, options)


def ours() -> InventoryModule:
    """Give the plugin as the loader does."""
    plugin = InventoryModule()
    plugin._load_name = plugin._original_path = plugin.NAME
    plugin._redirected_names = [plugin.NAME]
    return plugin


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., InventoryManager]:
    """Load sources with the real manager: this plugin first, and the usual ones behind it."""

    def run(*sources: Path) -> InventoryManager:
        def plugins(_self: InventoryManager) -> list[t.Any]:
            return [ours(), *(inventory_loader.get(name) for name in ("host_list", "script", "yaml", "ini"))]

        monkeypatch.setattr(InventoryManager, "_fetch_inventory_plugins", plugins)
        return InventoryManager(loader=DataLoader(), sources=[str(source) for source in sources])

    return run


def write(folder: Path, text: str, name: str = "cluster-info") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def hosts_of(inventory: InventoryManager) -> dict[str, list[str]]:
    return {name: sorted(host.name for host in group.get_hosts()) for name, group in inventory.groups.items()}


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("cluster-info", True),
        ("cluster-info.example", True),
        ("cluster-info.site-b", True),
        ("lab.cluster-info", True),
        ("cluster_info.yml", True),
        ("site.cluster_info.yaml", True),
        ("cluster-info.yml", True),
        ("my-cluster-info", False),
        ("cluster-info.json", False),
        ("cluster-info.sh", False),
        ("cluster-info.ini", False),
        ("cluster_info", False),
        ("hosts.yml", False),
        ("hosts", False),
    ],
)
def test_names_of_files(tmp_path: Path, name: str, taken: bool) -> None:
    assert ours().verify_file(str(write(tmp_path, "", name))) is taken


def test_a_file_that_is_not_there_is_not_taken(tmp_path: Path) -> None:
    assert not ours().verify_file(str(tmp_path / "cluster-info"))


def test_groups_and_variables(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    inventory = load(write(tmp_path, FULL))
    found = hosts_of(inventory)
    assert {name: found[name] for name in GROUPS} == GROUPS
    assert found["ungrouped"] == []
    of_hosts = {
        name: {key: value for key, value in host.vars.items() if not key.startswith("inventory_")}
        for name, host in inventory.hosts.items()
    }
    assert of_hosts == {
        "192.0.2.10": {"ansible_user": "ubuntu"},
        "192.0.2.11": {"ansible_user": "ubuntu"},
        "192.0.2.12": {"ansible_user": "op"},
        "192.0.2.13": {},
        "192.0.2.20": {
            "ansible_user": "ubuntu",
            "gshare_storage_device": "/dev/disk/by-path/pci-0000:3b:00.0-nvme-1",
        },
    }
    assert inventory.groups["all"].vars == {
        "gshare_kubernetes_version": "1.36.3",
        "gshare_init_force_reset": True,
        "gshare_reboot_wait_tries": 240,
    }
    assert inventory.groups["kube_cluster"].vars == {
        "ansible_port": 2222,
        "ansible_ssh_common_args": "-o ProxyJump=gate",
    }
    assert inventory.groups["gpu_exclusive"].vars == {"gshare_gpu_mode": "exclusive"}
    assert inventory.groups["gpu_fractional"].vars == {"gshare_gpu_mode": "fractional"}


def test_all_groups_are_there_when_they_are_empty(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    found = hosts_of(load(write(tmp_path, "MASTER_NODE=192.0.2.10\n")))
    assert {name: found[name] for name in GROUPS} == {
        name: ["192.0.2.10"] if name in ("kube_control_plane", "kube_cluster") else [] for name in GROUPS
    }


def test_values_are_not_templates(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    inventory = load(write(tmp_path, "MASTER_NODE=m\nSSH_OPTS='-o \"SetEnv=X={{ lookup(1) }}{% x %}\"'\n"))
    value = inventory.groups["kube_cluster"].vars["ansible_ssh_common_args"]
    assert "{{ lookup(1) }}" in value
    assert not is_trusted_as_template(value)


def test_what_many_machines_cost(tmp_path: Path) -> None:
    """One call to add a host and one for its one variable, and nothing that grows beyond that."""
    entries = ",".join(f"u@10.1.{number // 250}.{number % 250 + 1}" for number in range(500))
    calls: list[str] = []

    class Counted(InventoryData):
        def add_host(self, *args: t.Any, **kwargs: t.Any) -> str:
            calls.append("add_host")
            return super().add_host(*args, **kwargs)

        def add_child(self, *args: t.Any, **kwargs: t.Any) -> bool:
            calls.append("add_child")
            return super().add_child(*args, **kwargs)

        def set_variable(self, entity: str, varname: str, value: t.Any) -> None:
            calls.append(f"set {varname}")
            super().set_variable(entity, varname, value)

    path = write(tmp_path, f"MASTER_NODE=m\nWORKER_NODES={entries}\nPOD_CIDR=10.128.0.0/9\n")
    ours().parse(Counted(), DataLoader(), str(path))
    assert calls.count("add_host") == 501
    assert calls.count("set ansible_user") == 500
    assert len([call for call in calls if "inventory_" not in call]) < 1020


BROKEN = "MASTER_NODE=u@192.0.2.10:22\nWORKER_NODES=u@192.0.2.11,u@192.0.2.11\nHAMY_REPO=$x\n"


def test_mistakes_end_the_run(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    """The plugins behind this one would take the lines for hosts."""
    path = write(tmp_path, BROKEN)
    with pytest.raises(AnsibleParserError) as caught:
        load(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"4 mistakes in {path}:",
        f"{path}:1",
        f"{path}:2",
        f"{path}:3",
        f"{path}:3",
    ]


def test_mistakes_add_nothing(tmp_path: Path) -> None:
    inventory = InventoryData()
    with pytest.raises(AnsibleError):
        ours().parse(inventory, DataLoader(), str(write(tmp_path, BROKEN)))
    assert inventory.hosts == {}
    assert set(inventory.groups) == {"all", "ungrouped"}


def test_a_path_below_the_working_folder_is_shown_short(
    tmp_path: Path, load: t.Callable[..., InventoryManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("site").mkdir()
    with pytest.raises(AnsibleParserError, match="^site/cluster-info: MASTER_NODE: the control plane is missing; "):
        load(write(tmp_path / "site", ""))


def test_two_control_planes_are_a_mistake(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    write(tmp_path, "MASTER_NODE=192.0.2.10\n")
    write(tmp_path, "MASTER_NODE=192.0.2.99\n", "cluster-info.example")
    with pytest.raises(AnsibleParserError, match=r"the control plane is 192\.0\.2\.99, but 192\.0\.2\.10 in another"):
        load(tmp_path)


def test_a_key_that_is_not_there_is_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, f"MASTER_NODE=m\nSSH_OPTS='-i {tmp_path}/no_such_key'\n")
    ours().parse(InventoryData(), DataLoader(), str(path))
    assert f"the key '{tmp_path}/no_such_key' is not there" in " ".join(capfd.readouterr().err.split())


YAML = """\
plugin: gshare.cluster.cluster_info
file: there/cluster-info
strict: {strict}
compose:
  site: "'site-' ~ inventory_hostname | replace('.', '-')"
  {more}
groups:
  late: inventory_hostname is search('[.]1[23]$')
  versioned: gshare_kubernetes_version is match('1.36')
keyed_groups:
  - key: gshare_gpu_mode | default('none')
    prefix: mode
"""


def test_yaml_source(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    tmp_path.joinpath("there").mkdir()
    write(tmp_path / "there", FULL)
    inventory = load(
        write(tmp_path, YAML.format(strict="true", more="tries: gshare_reboot_wait_tries + 1"), "a.cluster_info.yml")
    )
    found = hosts_of(inventory)
    assert {name: found[name] for name in GROUPS} == GROUPS
    assert found["late"] == ["192.0.2.12", "192.0.2.13"]
    assert found["versioned"] == GROUPS["kube_cluster"]
    assert (found["mode_exclusive"], found["mode_fractional"]) == (["192.0.2.11"], ["192.0.2.12"])
    assert inventory.hosts["192.0.2.20"].vars["site"] == "site-192-0-2-20"
    assert inventory.hosts["192.0.2.20"].vars["tries"] == 241


def test_the_documented_example_works(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    lines = [line[4:] for line in cluster_info.EXAMPLES.splitlines() if line.startswith("#   ")]
    write(tmp_path, "\n".join(line for line in lines if not line.startswith("SSH_OPTS")))
    inventory = load(write(tmp_path, cluster_info.EXAMPLES, "site.cluster_info.yml"))
    assert inventory.hosts["10.0.0.21"].vars["ansible_host"] == "node-21"
    found = hosts_of(inventory)
    assert found["rack_two"] == ["10.0.0.20", "10.0.0.21"]
    assert found["mode_exclusive"] == ["10.0.0.20"]


def test_yaml_source_that_is_not_strict(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    tmp_path.joinpath("there").mkdir()
    write(tmp_path / "there", FULL)
    inventory = load(write(tmp_path, YAML.format(strict="false", more="wrong: no_such_thing + 1"), "cluster_info.yml"))
    assert inventory.hosts["192.0.2.20"].vars["site"] == "site-192-0-2-20"
    assert "wrong" not in inventory.hosts["192.0.2.20"].vars


def test_yaml_source_that_is_strict(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    tmp_path.joinpath("there").mkdir()
    write(tmp_path / "there", FULL)
    with pytest.raises(AnsibleError, match="cluster_info.yml: Could not set wrong for host 192.0.2.10"):
        load(write(tmp_path, YAML.format(strict="true", more="wrong: no_such_thing + 1"), "cluster_info.yml"))


def test_yaml_source_without_its_file(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    with pytest.raises(AnsibleParserError, match="there/cluster-info: the file cannot be read: No such file"):
        load(write(tmp_path, YAML.format(strict="true", more=""), "cluster_info.yml"))


def test_yaml_source_of_another_plugin_is_left_to_it(tmp_path: Path, load: t.Callable[..., InventoryManager]) -> None:
    inventory = load(write(tmp_path, "all:\n  hosts:\n    somebody:\n", "other_cluster_info.yml"))
    assert list(inventory.hosts) == ["somebody"]


# The commands, as a user calls them.


def command(
    name: str, *words: str, cwd: Path, plugins: str = "gshare.cluster.cluster_info,script,auto,yaml,ini"
) -> t.Any:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    environment |= {
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(str(Path(path).parent) for path in ansible_collections.__path__),
        "ANSIBLE_INVENTORY_ENABLED": plugins,
        "ANSIBLE_CONFIG": str(write(cwd, "[defaults]\n", "ansible.cfg")),
        "ANSIBLE_NOCOLOR": "1",
    }
    call = [sys.executable, "-m", "ansible", name, *words]
    return subprocess.run(call, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300)


def listed(path: Path, cwd: Path) -> dict[str, t.Any]:
    run = command("inventory", "-i", str(path), "--list", cwd=cwd)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_example_files_are_one_cluster(tmp_path: Path) -> None:
    """The same hosts, groups and variables, to the letter, from the file and from the ordinary inventory."""
    first, second = (listed(EXAMPLE / name, tmp_path) for name in ("cluster-info", "hosts.yml"))
    assert first == second
    assert first["kube_control_plane"] == {"hosts": ["10.0.0.10"]}
    assert first["_meta"]["hostvars"]["10.10.0.196"]["gshare_gpu_mode"] == "exclusive"


def test_folder_with_both_example_files(load: t.Callable[..., InventoryManager]) -> None:
    assert hosts_of(load(EXAMPLE)) == hosts_of(load(EXAMPLE / "hosts.yml"))


def test_group_vars_beside_the_file_win(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    tmp_path.joinpath("group_vars").mkdir()
    write(tmp_path / "group_vars", "gshare_reboot_wait_tries: 7\nansible_port: 22\n", "all.yml")
    of_hosts = listed(path, tmp_path)["_meta"]["hostvars"]
    assert {(found["gshare_reboot_wait_tries"], found["ansible_port"]) for found in of_hosts.values()} == {(7, 22)}


def test_broken_file_touches_no_host(tmp_path: Path) -> None:
    """Nothing is run, and only the mistakes are shown, though ini is enabled and would go on."""
    path = write(tmp_path, BROKEN)
    path.chmod(0o755)
    play = (
        f"- hosts: all\n  connection: local\n  gather_facts: false\n  tasks:\n    - command: touch {tmp_path}/touched\n"
    )
    run = command("playbook", "-i", path.name, str(write(tmp_path, play, "play.yml")), cwd=tmp_path)
    assert run.returncode == 4
    assert run.stdout == ""
    assert run.stderr.strip().splitlines()[0] == "[ERROR]: 4 mistakes in cluster-info:"
    assert [line.split(": ")[0] for line in run.stderr.strip().splitlines()[1:]] == [
        f"cluster-info:{line}" for line in (1, 2, 3, 3)
    ]
    assert not tmp_path.joinpath("touched").exists()


def test_yaml_source_works_through_auto(tmp_path: Path) -> None:
    """Where the plugin is not enabled, the plugin auto finds it by the name in the YAML file."""
    write(tmp_path, FULL)
    path = write(tmp_path, "plugin: gshare.cluster.cluster_info\n", "cluster_info.yml")
    run = command("inventory", "-i", path.name, "--list", cwd=tmp_path, plugins="auto")
    assert json.loads(run.stdout)["cpu_node"] == {"hosts": ["192.0.2.13"]}
    write(tmp_path, BROKEN)
    run = command("inventory", "-i", path.name, "--list", cwd=tmp_path, plugins="auto,yaml,ini")
    assert run.returncode == 4
    assert run.stderr.startswith("[ERROR]: 4 mistakes in cluster-info:\ncluster-info:1: ")


def test_documentation(tmp_path: Path) -> None:
    run = command("doc", "-t", "inventory", "--json", "gshare.cluster.cluster_info", cwd=tmp_path)
    doc = json.loads(run.stdout)["gshare.cluster.cluster_info"]["doc"]
    assert {"plugin", "file", "strict", "compose", "groups", "keyed_groups"} <= set(doc["options"])
