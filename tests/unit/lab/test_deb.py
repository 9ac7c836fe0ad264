# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian packages and indices as the lab writes them, read back by Debian's own tools where they are."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from nodelab.deb import Content, Package, index_entry, release_text, render_fields, write_package

TOOL = Package(
    name="tool",
    version="1:2.0-1",
    description="a tool\nMore about it.\n\nAnd more.",
    contents=[
        Content("/usr/bin/tool", b"#!/bin/sh\n", 0o755),
        Content("/etc/tool.conf", b"odd"),
    ],
    control={"Depends": "mount, util-linux"},
    scripts={"postinst": "#!/bin/sh\nexit 0\n"},
    conffiles=["/etc/tool.conf"],
)
has_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not on this machine")


def test_a_control_paragraph() -> None:
    assert render_fields(TOOL.fields()) == (
        "Package: tool\n"
        "Version: 1:2.0-1\n"
        "Architecture: amd64\n"
        "Maintainer: Kubernetes Authors <dev@kubernetes.io>\n"
        "Installed-Size: 2\n"
        "Depends: mount, util-linux\n"
        "Description: a tool\n"
        " More about it.\n"
        " .\n"
        " And more.\n"
    )


def test_the_file_name_has_no_epoch() -> None:
    assert TOOL.file_name == "tool_2.0-1_amd64.deb"


def test_the_same_package_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_package(TOOL, tmp_path).read_bytes()
    assert write_package(TOOL, tmp_path).read_bytes() == first
    assert first.startswith(b"!<arch>\ndebian-binary   ")


@has_dpkg
def test_dpkg_reads_it(tmp_path: Path) -> None:
    file = write_package(TOOL, tmp_path)
    fields = subprocess.run(["dpkg-deb", "--field", file], capture_output=True, text=True, check=True).stdout
    assert fields == render_fields(TOOL.fields())
    listing = subprocess.run(["dpkg-deb", "--contents", file], capture_output=True, text=True, check=True).stdout
    found = {line.split()[-1]: line.split()[:2] for line in listing.splitlines()}
    assert found["./usr/bin/tool"] == ["-rwxr-xr-x", "root/root"]
    assert found["./etc/"][0] == "drwxr-xr-x"
    subprocess.run(["dpkg-deb", "--raw-extract", file, tmp_path / "out"], check=True)
    assert (tmp_path / "out/DEBIAN/conffiles").read_text(encoding="utf-8") == "/etc/tool.conf\n"
    assert (tmp_path / "out/DEBIAN/postinst").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/etc/tool.conf").read_bytes() == b"odd"


def test_an_index_entry_has_size_and_checksum(tmp_path: Path) -> None:
    file = write_package(TOOL, tmp_path)
    lines = index_entry(TOOL, file, "amd64/tool.deb").splitlines()
    assert "Filename: amd64/tool.deb" in lines
    assert f"Size: {file.stat().st_size}" in lines
    assert f"SHA256: {hashlib.sha256(file.read_bytes()).hexdigest()}" in lines
    assert lines[-4:] == ["Description: a tool", " More about it.", " .", " And more."]


def test_a_release_file_lists_its_indices() -> None:
    text = release_text({"Origin": "lab", "Architectures": "amd64"}, {"Packages": b"abc", "Packages.gz": b""})
    assert text.splitlines() == [
        "Origin: lab",
        "Architectures: amd64",
        "Date: Thu, 01 Jan 2026 00:00:00 GMT",
        "SHA256:",
        " ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 Packages",
        " e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 Packages.gz",
    ]
