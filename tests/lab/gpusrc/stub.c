/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library that is there and does nothing: libcuda.so.1 and others that a CDI specification mounts. It runs no CUDA:
 * cuInit answers CUDA_ERROR_NO_DEVICE. */
int cuInit(unsigned flags) { (void)flags; return 100; }
int cuDriverGetVersion(int *version) { *version = CUDA; return 0; }
