# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.gshare.cluster.plugins.plugin_utils._support_text import collected, readme, sentence

GATHERED = {
    "10.0.0.10": {
        "files": {"system/uptime": "up 3 days\n", "etc/fstab": "none\n"},
        "problems": {"containerd/version": "there is no containerd", "api/nodes": "kubectl did not end in 30 s"},
    },
    "10.0.0.20": {"files": {"etc/fstab": "none\n"}},
    "team/gpu1": {"unreachable": True, "msg": "no route, password=hunter2"},
    "10.0.0.40": None,
}
SILENT = {"team/gpu1": "no route, password=REDACTED", "10.0.0.40": "it was not asked"}


def test_files_are_in_the_folder_of_their_machine() -> None:
    files, silent = collected({**GATHERED, "a/b": {"files": {"etc/hosts": ""}}})
    assert set(files) == {"10.0.0.10/system/uptime", "10.0.0.10/etc/fstab", "10.0.0.20/etc/fstab", "a_b/etc/hosts"}
    assert silent == SILENT


def test_the_readme_tells_what_is_missing() -> None:
    assert readme(GATHERED, SILENT, "2026-12-01 10:00:00 +0000") == (
        "Gathered 2026-12-01 10:00:00 +0000 by gshare.cluster.support.\n"
        "What looked like a password, a key or a token says REDACTED. Look through it before you give it away.\n"
        "\n"
        "10.0.0.10: see its folder\n"
        "  api/nodes: kubectl did not end in 30 s\n"
        "  containerd/version: there is no containerd\n"
        "10.0.0.20: see its folder\n"
        "team/gpu1: nothing, no route, password=REDACTED\n"
        "10.0.0.40: nothing, it was not asked\n"
    )


def test_the_last_words() -> None:
    text = sentence("/tmp/x.tar.gz", 1025, 9, 4, SILENT)
    assert text.startswith("\n/tmp/x.tar.gz: 2 KiB, 9 files of 2 of 4 machines and of this one: versions, ")
    assert "\n10.0.0.40 told nothing: it was not asked\nPasswords, keys and tokens were taken out; look through" in text
