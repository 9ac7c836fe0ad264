# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian packages and the indices of an apt repository, as bytes and text: no dpkg needed."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import tarfile
import typing as t
from email.utils import formatdate
from pathlib import Path

MTIME = 1767225600
"""Time stamp of every packed file (2026-01-01), so that the same input gives the same bytes."""


@dataclasses.dataclass(frozen=True)
class Content:
    """One file of a package: where it goes, and its bytes or the file that holds them; or a ``link`` to elsewhere."""

    path: str
    source: bytes | Path = b""
    mode: int = 0o644
    link: str = ""


@dataclasses.dataclass(frozen=True)
class Package:
    """What goes into one .deb file.

    ``control`` holds the fields besides Package, Version, Architecture, Maintainer, Installed-Size and Description;
    ``scripts`` maintainer scripts by their name; ``conffiles`` absolute paths among the contents.
    """

    name: str
    version: str
    description: str
    contents: t.Sequence[Content]
    control: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    scripts: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    conffiles: t.Sequence[str] = ()
    architecture: str = "amd64"
    maintainer: str = "Kubernetes Authors <dev@kubernetes.io>"

    @property
    def file_name(self) -> str:
        """Name of the .deb file; an epoch would not be part of it."""
        return f"{self.name}_{self.version.split(':')[-1]}_{self.architecture}.deb"

    def fields(self) -> dict[str, str]:
        """Return the control fields in the usual order; Installed-Size is in KiB."""
        size = sum(-(-_size(item) // 1024) for item in self.contents)
        return {
            "Package": self.name,
            "Version": self.version,
            "Architecture": self.architecture,
            "Maintainer": self.maintainer,
            "Installed-Size": str(size),
            **self.control,
            "Description": self.description,
        }


def render_fields(fields: t.Mapping[str, str]) -> str:
    """Return one control paragraph. Lines after the first of a value are indented, empty ones become " ."."""
    lines = []
    for key, value in fields.items():
        first, *rest = value.split("\n")
        lines.append(f"{key}: {first}".rstrip())
        lines += [f" {line}" if line.strip() else " ." for line in rest]
    return "\n".join(lines) + "\n"


def write_package(package: Package, folder: Path) -> Path:
    """Write the .deb into ``folder`` and return its path. Its data is not compressed: it never leaves this machine."""
    target = folder / package.file_name
    control = gzip.compress(_control_tar(package), compresslevel=6, mtime=MTIME)
    with open(target, "wb") as stream:
        stream.write(b"!<arch>\n")
        _member(stream, "debian-binary", io.BytesIO(b"2.0\n"))
        _member(stream, "control.tar.gz", io.BytesIO(control))
        _data_member(stream, package)
    return target


def index_entry(package: Package, file: Path, file_name: str) -> str:
    """Return the paragraph of a Packages index; ``file_name`` is the .deb's path below the repository's root."""
    fields = package.fields()
    description = fields.pop("Description")
    return render_fields({
        **fields,
        "Filename": file_name,
        "Size": str(file.stat().st_size),
        "SHA256": hash_file(file),
        "Description": description,
    })  # fmt: skip


def release_text(fields: t.Mapping[str, str], indices: t.Mapping[str, bytes]) -> str:
    """Return a Release file: the given fields, the date, and size and checksum of each index."""
    sums = "".join(f"\n{hashlib.sha256(data).hexdigest()} {len(data)} {name}" for name, data in indices.items())
    return render_fields({**fields, "Date": formatdate(MTIME, usegmt=True), "SHA256": sums})


def hash_file(file: Path) -> str:
    """Return a file's SHA-256 in hex."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(item: Content) -> int:
    return len(item.source) if isinstance(item.source, bytes) else item.source.stat().st_size


def _control_tar(package: Package) -> bytes:
    files = {"control": (render_fields(package.fields()), 0o644)}
    files.update({name: (text, 0o755) for name, text in package.scripts.items()})
    if package.conffiles:
        files["conffiles"] = ("".join(f"{path}\n" for path in package.conffiles), 0o644)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, (text, mode) in files.items():
            data = text.encode()
            tar.addfile(_info(f"./{name}", mode, len(data)), io.BytesIO(data))
    return buffer.getvalue()


def _data_member(stream: t.BinaryIO, package: Package) -> None:
    """Append data.tar; its size is written into the member's header once it is known."""
    header_at = stream.tell()
    stream.write(_member_header("data.tar", 0))
    begin = stream.tell()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder in _folders(item.path for item in package.contents):
            info = _info(f".{folder}/", 0o755, 0)
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
        for item in package.contents:
            if item.link:
                info = _info(f".{item.path}", 0o777, 0)
                info.type, info.linkname = tarfile.SYMTYPE, item.link
                tar.addfile(info)
                continue
            with io.BytesIO(item.source) if isinstance(item.source, bytes) else open(item.source, "rb") as source:
                tar.addfile(_info(f".{item.path}", item.mode, _size(item)), source)
    end = stream.tell()
    stream.seek(header_at)
    stream.write(_member_header("data.tar", end - begin))
    stream.seek(end)
    if (end - begin) % 2:
        stream.write(b"\n")


def _member(stream: t.BinaryIO, name: str, data: io.BytesIO) -> None:
    content = data.getvalue()
    stream.write(_member_header(name, len(content)) + content + b"\n" * (len(content) % 2))


def _member_header(name: str, size: int) -> bytes:
    return f"{name:<16}{MTIME:<12}{0:<6}{0:<6}{'100644':<8}{size:<10}`\n".encode()


def _folders(paths: t.Iterable[str]) -> list[str]:
    """Return all folders above the paths, each after its parent; the root is the empty string."""
    found = {""}
    for path in paths:
        parts = path.split("/")[1:-1]
        found.update("/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return sorted(found)


def _info(name: str, mode: int, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode, info.size, info.mtime = mode, size, MTIME
    info.uname = info.gname = "root"
    return info
