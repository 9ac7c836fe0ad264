# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gshare.cluster.plugins.module_utils import _apt_sources
from ansible_collections.gshare.cluster.plugins.module_utils._apt_sources import Source

DEB822 = """\
# comment
Types: deb deb-src
URIs: https://mirror.example.net/debian
 https://other.example.net/debian
Suites: bookworm bookworm-updates
# a comment between fields
Components: main
Signed-By: /usr/share/keyrings/b.gpg, /usr/share/keyrings/a.gpg

Enabled: no
Types: deb
URIs: https://off.example.net/
Suites: x

Types: deb
URIs: https://inline.example.net/
Suites: /
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQ==
 -----END PGP PUBLIC KEY BLOCK-----
"""


def test_deb822_stanzas() -> None:
    keys = "/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg"
    assert _apt_sources.parse("a.sources", DEB822) == [
        Source("a.sources", 3, "https://mirror.example.net/debian", "bookworm", keys),
        Source("a.sources", 3, "https://mirror.example.net/debian", "bookworm-updates", keys),
        Source("a.sources", 3, "https://other.example.net/debian", "bookworm", keys),
        Source("a.sources", 3, "https://other.example.net/debian", "bookworm-updates", keys),
        Source("a.sources", 16, "https://inline.example.net/", "/", _apt_sources.INLINE_KEY),
    ]


def test_crlf_is_the_same() -> None:
    assert _apt_sources.parse("a.sources", DEB822.replace("\n", "\r\n")) == _apt_sources.parse("a.sources", DEB822)


def test_one_line_entries_with_and_without_options() -> None:
    text = (
        "# deb https://apt.kubernetes.io/ kubernetes-xenial main\n"
        "deb [arch=amd64 Signed-By=/etc/apt/keyrings/k.asc] https://a.example.net/deb/ /  # end\n"
        "  deb-src [ trusted=yes ]  https://b.example.net stable main\n"
        "debx https://c.example.net stable\n"
        "deb https://d.example.net\n"
    )
    assert _apt_sources.parse("x.list", text) == [
        Source("x.list", 2, "https://a.example.net/deb/", "/", "/etc/apt/keyrings/k.asc"),
        Source("x.list", 3, "https://b.example.net", "stable", ""),
    ]


def test_case_81_the_three_files() -> None:
    files = {
        "kubernetes.list": "deb https://pkgs.k8s.io/core:/stable:/v1.36/deb/ /\n",
        "old.list": (
            "# deb https://apt.kubernetes.io/ kubernetes-xenial main\n"
            "deb [signed-by=/tmp/Release.key] https://pkgs.k8s.io/ kubernetes-xenial main\n"
        ),
        "k8s.sources": (
            "Types: deb\nURIs: https://pkgs.k8s.io/core:/stable:/v1.36/deb\nSuites: /\n"
            "Signed-By: /etc/apt/keyrings/kubernetes-apt-keyring.gpg\n"
        ),
    }
    assert [entry for name, text in files.items() for entry in _apt_sources.parse(name, text)] == [
        Source("kubernetes.list", 1, "https://pkgs.k8s.io/core:/stable:/v1.36/deb/", "/", ""),
        Source("old.list", 2, "https://pkgs.k8s.io/", "kubernetes-xenial", "/tmp/Release.key"),
        Source(
            "k8s.sources",
            2,
            "https://pkgs.k8s.io/core:/stable:/v1.36/deb",
            "/",
            "/etc/apt/keyrings/kubernetes-apt-keyring.gpg",
        ),
    ]


@given(st.text(), st.sampled_from(["a.list", "a.sources"]))
def test_no_text_is_an_error(text: str, name: str) -> None:
    for entry in _apt_sources.parse(name, text):
        assert entry.uri


@pytest.mark.parametrize(
    ("uri", "suite", "begins"),
    [
        # as apt 2.6 calls them
        ("https://download.docker.com/linux/debian", "bookworm", "download.docker.com_linux_debian_dists_bookworm_"),
        ("https://pkgs.k8s.io/core:/stable:/v1.36/deb/", "/", "pkgs.k8s.io_core:_stable:_v1.36_deb_"),
        ("https://user:secret@apt.example.net/a_b/", "x/", "apt.example.net_a%5fb_x_"),
        ("file:///srv/apt", "./", "_srv_apt_._"),
    ],
)
def test_the_lists_of_a_repository(uri: str, suite: str, begins: str) -> None:
    assert _apt_sources.lists_prefix(uri, suite) == begins
