# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The running kernel's Debian packages, as far as programs look at them: names, markers, a folder for modules.

They hold no kernel and no headers that anything could be compiled with; nodes run on the machine's kernel.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from nodelab import deb
from nodelab.deb import Content, Package

REPOSITORY = PurePosixPath("/usr/share/lab/apt")
SOURCES = f"Types: deb\nURIs: file:{REPOSITORY}\nSuites: ./\nTrusted: yes\n"

_IMAGE_POSTINST = """\
#!/bin/sh
set -e
[ "$1" != configure ] || depmod {kernel}
"""
_HEADERS_POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /etc/kernel/header_postinst.d ]; then
    run-parts --verbose --exit-on-error --arg={kernel} /etc/kernel/header_postinst.d
fi
"""


def image_package(kernel: str) -> Package:
    """Return linux-image-KERNEL. No module is listed as built in: modprobe answers for none of them."""
    folder = f"/lib/modules/{kernel}"
    return Package(
        name=f"linux-image-{kernel.lower()}",
        version="1-1",
        description="Linux kernel of this machine (marker)\nMarker of the lab: the nodes share the machine's kernel.",
        control={"Depends": "kmod", "Section": "kernel", "Priority": "optional"},
        maintainer=_MAINTAINER,
        scripts={"postinst": _IMAGE_POSTINST.format(kernel=kernel)},
        contents=[
            Content(f"/boot/vmlinuz-{kernel}"),
            *(Content(f"{folder}/{name}") for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order")),
        ],
    )


def headers_package(kernel: str) -> Package:
    """Return linux-headers-KERNEL."""
    source = f"/usr/src/linux-headers-{kernel}"
    return Package(
        name=f"linux-headers-{kernel.lower()}",
        version="1-1",
        description="Header files for the kernel of this machine (marker)\nMarker of the lab: nothing can be compiled.",
        control={"Section": "kernel", "Priority": "optional"},
        maintainer=_MAINTAINER,
        scripts={"postinst": _HEADERS_POSTINST.format(kernel=kernel)},
        contents=[
            Content(f"{source}/Makefile", b"# Nothing can be compiled with this.\n"),
            Content(f"/lib/modules/{kernel}/build", link=source),
        ],
    )


def write_repository(folder: Path, kernel: str) -> str:
    """Write both packages and their index into ``folder``; return the file name of the image's."""
    folder.mkdir(parents=True)
    paragraphs, names = [], []
    for package in (image_package(kernel), headers_package(kernel)):
        file = deb.write_package(package, folder)
        paragraphs.append(deb.index_entry(package, file, f"./{file.name}"))
        names.append(file.name)
    (folder / "Packages").write_text("\n".join(paragraphs), encoding="utf-8")
    return names[0]


_MAINTAINER = "The lab <lab@lab.invalid>"
