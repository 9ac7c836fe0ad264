#!/bin/sh
# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
for place in /sys/fs/cgroup/* /proc/sys /sys; do
    mountpoint -q "$place" && mount -o remount,bind,rw "$place"
done
awk '$2 ~ /^\/(sys|proc)/ && $4 ~ /^ro/ {print $2}' /proc/mounts | while read -r place; do
    mount -o remount,bind,rw "$place"
done
mount --make-rshared /
exit 0
