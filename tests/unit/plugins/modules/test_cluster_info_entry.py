# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import yaml

from ansible_collections.gshare.cluster.plugins.modules import cluster_info_entry


def test_the_documentation_is_whole() -> None:
    assert set(yaml.safe_load(cluster_info_entry.DOCUMENTATION)["options"]) == {"path", "machines", "state"}
