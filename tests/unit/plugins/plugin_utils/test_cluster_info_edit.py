# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.plugin_utils import _cluster_info_edit as edit
from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info import parse

MASTER = "MASTER_NODE=ubuntu@10.0.0.10\n"
NEW = "ubuntu@10.0.0.20:fractional"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("WORKER_NODES=u@10.0.0.21\n", f"WORKER_NODES=u@10.0.0.21,{NEW}\n"),
        ("WORKER_NODES='u@10.0.0.21' # rack 7\n", f"WORKER_NODES='u@10.0.0.21,{NEW}' # rack 7\n"),
        ('WORKER_NODES="u@10.0.0.21, u@10.0.0.22"\n', f'WORKER_NODES="u@10.0.0.21, u@10.0.0.22,{NEW}"\n'),
        ("WORKER_NODES=u@10.0.0.21,\\\n  u@10.0.0.22\n", f"WORKER_NODES=u@10.0.0.21,\\\n  u@10.0.0.22,{NEW}\n"),
        ("WORKER_NODES=u@10.0.0.21,\nK8S_MINOR=1.36\n", f"WORKER_NODES=u@10.0.0.21,{NEW},\nK8S_MINOR=1.36\n"),
        ("export WORKER_NODES = u@10.0.0.21\n", f"export WORKER_NODES = u@10.0.0.21,{NEW}\n"),
        ("WORKER_NODES=\n", f"WORKER_NODES={NEW}\n"),
        ('WORKER_NODES=""\n', f'WORKER_NODES="{NEW}"\n'),
        ("# WORKER_NODES=u@10.0.0.21\n", f"# WORKER_NODES=u@10.0.0.21\nWORKER_NODES={NEW}\n"),
        ("# the end", f"# the end\nWORKER_NODES={NEW}\n"),
    ],
)
def test_add(before: str, after: str) -> None:
    assert edit.add(MASTER + before, NEW) == MASTER + after
    assert edit.add(MASTER + after, NEW) == MASTER + after


def test_windows_line_ends_and_a_byte_order_mark() -> None:
    before = "\ufeffMASTER_NODE=u@10.0.0.10\r\n"
    assert edit.add(before, NEW) == f"{before}WORKER_NODES={NEW}\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("CPU_WORKERS=u@10.0.0.30\n", "CPU_WORKERS=\n"),
        ("CPU_WORKERS='u@10.0.0.30' # one\n", "CPU_WORKERS='' # one\n"),
        ("CPU_WORKERS=u@10.0.0.30,u@10.0.0.31\n", "CPU_WORKERS=u@10.0.0.31\n"),
        ("CPU_WORKERS=u@10.0.0.31,u@10.0.0.30\n", "CPU_WORKERS=u@10.0.0.31\n"),
        ("CPU_WORKERS='u@10.0.0.31, u@10.0.0.30, u@10.0.0.32'\n", "CPU_WORKERS='u@10.0.0.31, u@10.0.0.32'\n"),
        ("CPU_WORKERS=u@10.0.0.31,\\\n  u@10.0.0.30\n", "CPU_WORKERS=u@10.0.0.31\n"),
        ("# nothing\n", "# nothing\n"),
    ],
)
def test_remove(before: str, after: str) -> None:
    assert edit.remove(MASTER + before, "10.0.0.30") == MASTER + after


def test_a_cpu_worker_is_listed_without_its_mode() -> None:
    assert edit.add(MASTER, "u@10.0.0.30:cpu") == f"{MASTER}CPU_WORKERS=u@10.0.0.30\n"


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        ("u@10.0.0.21:exclusive", "10.0.0.21 is listed in line 2 as 'u@10.0.0.21' (WORKER_NODES), and not as"),
        ("u@10.0.0.21:cpu", "10.0.0.21 is listed in line 2"),
        ("u@10.0.0.10:cpu", "10.0.0.10 is listed in line 1 as 'ubuntu@10.0.0.10' (MASTER_NODE)"),
        ("u@10.0.0.22:half", "machine 'u@10.0.0.22:half': "),
        ("u@10.244.0.7:cpu", "The entry does not fit into the file:"),
    ],
)
def test_refused(machine: str, said: str) -> None:
    with pytest.raises(edit.EditError) as caught:
        edit.add(f"{MASTER}WORKER_NODES=u@10.0.0.21\n", machine)
    assert said in str(caught.value)


def test_the_control_plane_stays() -> None:
    with pytest.raises(edit.EditError, match="10.0.0.10 is the control plane"):
        edit.remove(MASTER, "10.0.0.10")


_NUMBERS = st.lists(st.integers(20, 99), unique=True, min_size=1, max_size=5)


@given(
    _NUMBERS, st.sampled_from(["{}", "'{}'", '"{}"', "{} # note"]), st.sampled_from([",", ", ", ",\\\n "]), st.data()
)
def test_add_and_remove_cancel_out(numbers: list[int], form: str, separator: str, data: st.DataObject) -> None:
    if form.startswith("{") and separator == ", ":
        separator = ","
    if form.startswith("'"):
        separator = separator.replace("\\", "")
    value = separator.join(f"u@10.0.0.{number}:exclusive" for number in numbers)
    text = f"# head\n{MASTER}WORKER_NODES={form.format(value)}\nK8S_MINOR=1.36\n"
    added = edit.add(text, "u@10.0.0.200:exclusive")
    assert len(parse(added).nodes) == len(numbers) + 2
    assert edit.remove(added, "10.0.0.200") == text
    gone = f"10.0.0.{data.draw(st.sampled_from(numbers))}"
    left = [node.address for node in parse(edit.remove(text, gone)).nodes]
    assert left == [node.address for node in parse(text).nodes if node.address != gone]
