#!/bin/sh
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ADDRESS (with prefix length) and GATEWAY come from /etc/lab/network.env; INTERFACE may.
set -e
if [ -z "$INTERFACE" ]; then
    for candidate in eth0 host0; do
        [ -e "/sys/class/net/$candidate" ] && INTERFACE=$candidate && break
    done
fi
ip link set "$INTERFACE" up
ip address replace "$ADDRESS" dev "$INTERFACE"
ip route replace default via "$GATEWAY"
echo "nameserver $GATEWAY" > /etc/resolv.conf
