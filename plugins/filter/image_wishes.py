# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: image_wishes
version_added: 0.1.0
author: gshare.cluster contributors (@gshare)
short_description: Lists of images to push and to pull, with all mistakes in them
description:
  - Takes lists as users write them on a command line, and says what the modules
    M(gshare.cluster.image_copy) and M(gshare.cluster.cri_images) are to do.
positional: prepull, registry
options:
  _input:
    description: >-
      Images to push; names, files, or dictionaries with C(source) and C(name). A list, or names with commas between
      them.
    type: raw
    required: true
  prepull:
    description: Names of images to pull; a list, or names with commas between them.
    type: raw
    default: []
  registry:
    description: The registry on the LAN, as C(HOST:PORT).
    type: string
    default: ""
"""

EXAMPLES = r"""
- name: Show what would be pushed
  ansible.builtin.debug:
    msg: "{{ 'docker.io/library/busybox:1.37,train.tar' | gshare.cluster.image_wishes([], '192.0.2.40:5000') }}"
"""

RETURN = r"""
_value:
  description: >-
    C(push) has a dictionary with C(source) and C(name) for each image, C(pull) the names, C(mistakes) a sentence for
    each mistake.
  type: dict
"""

import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._image_wishes import wishes


def image_wishes(images: t.Any, prepull: t.Any = (), registry: t.Any = "") -> dict[str, t.Any]:
    return wishes(images, prepull, registry)._asdict()


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"image_wishes": image_wishes}
