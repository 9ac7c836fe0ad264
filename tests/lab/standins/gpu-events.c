/* Copyright (c) 2026 gshare.cluster contributors
 * GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints "UUID XID" for each critical error that NVML tells. It stands in for the part of HAMi's device plugin that
 * watches the health of cards; the rest of that stand-in asks nvidia-smi. It does not: know events of MIG instances. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define XID_CRITICAL_ERROR 8ull
#define TIMED_OUT 10

struct event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = (result (*)(__VA_ARGS__))dlsym(library, #name)

int main(void) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW), *set = NULL, *device = NULL;
    unsigned count = 0, registered = 0;
    if (!library) return 12;
    FUNCTION(int, nvmlInit_v2, void);
    FUNCTION(int, nvmlDeviceGetCount_v2, unsigned *);
    FUNCTION(int, nvmlDeviceGetHandleByIndex_v2, unsigned, void **);
    FUNCTION(int, nvmlDeviceGetUUID, void *, char *, unsigned);
    FUNCTION(int, nvmlDeviceRegisterEvents, void *, unsigned long long, void *);
    FUNCTION(int, nvmlEventSetCreate, void **);
    FUNCTION(int, nvmlEventSetWait_v2, void *, struct event *, unsigned);
    if (!nvmlInit_v2 || !nvmlDeviceGetCount_v2 || !nvmlDeviceGetHandleByIndex_v2 || !nvmlDeviceGetUUID ||
        !nvmlDeviceRegisterEvents || !nvmlEventSetCreate || !nvmlEventSetWait_v2)
        return 13;
    int error = nvmlInit_v2();
    if (!error) error = nvmlEventSetCreate(&set);
    if (!error) error = nvmlDeviceGetCount_v2(&count);
    if (error) return error;
    for (unsigned i = 0; i < count; i++)
        if (!nvmlDeviceGetHandleByIndex_v2(i, &device) && !nvmlDeviceRegisterEvents(device, XID_CRITICAL_ERROR, set))
            registered++;
    if (!registered) return 6;
    for (;;) {
        struct event event;
        char uuid[96] = "";
        error = nvmlEventSetWait_v2(set, &event, 5000);
        if (error == TIMED_OUT) continue;
        if (error) return error;
        if (event.type != XID_CRITICAL_ERROR || nvmlDeviceGetUUID(event.device, uuid, sizeof uuid)) continue;
        printf("%s %llu\n", uuid, event.data);
        fflush(stdout);
    }
}
