/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that modinfo and depmod take for a kernel module. It holds no code: nothing can load it; the lab's nodes pretend.
 * NAME, VERSION and LICENSE are given; the package writes the kernel's name over the row of @ when it is "built". */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define INFO(text) static const char JOIN(info, __LINE__)[] __attribute__((section(".modinfo"), used, aligned(1))) = text
INFO("license=" LICENSE);
INFO("version=" VERSION);
INFO("supported=external");
#ifdef MAIN
INFO("firmware=nvidia/" VERSION "/gsp_ga10x.bin");
INFO("firmware=nvidia/" VERSION "/gsp_tu10x.bin");
INFO("alias=pci:v000010DEd*sv*sd*bc06sc80i00*");
INFO("alias=pci:v000010DEd*sv*sd*bc03sc02i00*");
INFO("alias=pci:v000010DEd*sv*sd*bc03sc00i00*");
INFO("depends=");
#else
INFO("depends=nvidia");
#endif
INFO("name=" NAME);
INFO("retpoline=Y");
INFO("vermagic=@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
